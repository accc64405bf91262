"""What a model may ask while it writes a query. A query that is wrong is an error with its place and a hint."""

from __future__ import annotations

import json
from typing import Any

from terrapin_osm import Snapshot

TOOLS = {
    "search_tags": "Find the OpenStreetMap tags that a thing has in this data, from words in English.",
    "geocode": "Find the area that a name stands for in this data: its id, its middle, its box.",
    "search_entities": "Find Wikidata's items in this data by name, with their identifiers for SPARQL.",
    "query_overpass": "Run an Overpass query: how many results it has, the first of them, and what finds nothing.",
    "query_sparql": "Run a SPARQL query: how many rows it has, the first of them, and what finds nothing.",
}
"""The tools, each with what it is for."""
_ARGUMENTS = {
    "search_tags": "what is looked for, such as \"vegan fast food\"",
    "geocode": "a name, such as \"Valletta\"",
    "search_entities": "a name, such as \"castle\"",
}
_OF_TRIPLES = ("search_entities", "query_sparql")


class TerrapinTools:
    """The tools over a snapshot; each takes a text and gives one."""

    def __init__(self, snapshot: Snapshot, *, timeout: float = 10, sample: int = 5) -> None:
        self.snapshot = snapshot
        self.timeout = timeout
        self.sample = sample

    @property
    def names(self) -> list[str]:
        """Those that this snapshot has."""
        return [name for name in TOOLS if name not in _OF_TRIPLES or self.snapshot.has_triples]

    def argument(self, name: str) -> str:
        """What a tool's text is."""
        return _ARGUMENTS.get(name, "the query")

    def search_tags(self, text: str) -> str:
        """The best tags, as JSON."""
        return json.dumps(self.snapshot.search_tags(text, timeout=self.timeout))

    def geocode(self, text: str) -> str:
        """The area, as JSON."""
        found = self.snapshot.geocode(text, timeout=self.timeout)
        if found is None:
            raise LookupError(f"no area is called {text!r} here")
        return json.dumps(found)

    def search_entities(self, text: str) -> str:
        """The likeliest entities, as JSON."""
        found = self.snapshot.search_entities(text, timeout=self.timeout)
        if not found:
            raise LookupError(f"no item is called {text!r} here")
        return json.dumps(found)

    def query_overpass(self, text: str) -> str:
        """Results in words."""
        return self._run(text, lang="overpassql")

    def query_sparql(self, text: str) -> str:
        """Results in words."""
        return self._run(text, lang="sparql")

    def _run(self, text: str, **options: Any) -> str:
        said = self.snapshot.feedback(text, sample=self.sample, timeout=self.timeout, **options)
        if said["errors"]:
            raise ValueError(said["text"])
        return str(said["text"])
