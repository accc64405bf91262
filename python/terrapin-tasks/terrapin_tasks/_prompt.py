"""The system prompt."""

from __future__ import annotations

_LANGUAGES = {
    "overpassql": "Overpass QL, to be run on OpenStreetMap data by Overpass API",
    "sparql": "SPARQL, to be run by the Wikidata Query Service",
}


def system_prompt(lang: str) -> str:
    """Returns a prompt that requests one query in a language."""
    return (
        f"Translate the user's question into a query in {_LANGUAGES[lang]}. "
        "Answer with the query alone, between ``` fences."
    )
