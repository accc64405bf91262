"""Tools for a model that writes a query. An invalid query raises an error with its position and a hint."""

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
"""The tools and their descriptions."""
_ARGUMENTS = {
    "search_tags": "what is looked for, such as \"vegan fast food\"",
    "geocode": "a name, such as \"Valletta\"",
    "search_entities": "a name, such as \"castle\"",
}
_OF_TRIPLES = ("search_entities", "query_sparql")


class TerrapinTools:
    """The tools on a snapshot; each takes a text and returns one."""

    def __init__(self, snapshot: Snapshot, *, timeout: float = 10, sample: int = 5) -> None:
        self.snapshot = snapshot
        self.timeout = timeout
        self.sample = sample

    @property
    def names(self) -> list[str]:
        """The names of the tools that this snapshot supports."""
        return [name for name in TOOLS if name not in _OF_TRIPLES or self.snapshot.has_triples]

    def argument(self, name: str) -> str:
        """Returns the description of a tool's argument."""
        return _ARGUMENTS.get(name, "the query")

    def search_tags(self, text: str) -> str:
        """Returns the best tags as JSON."""
        return json.dumps(self.snapshot.search_tags(text, timeout=self.timeout))

    def geocode(self, text: str) -> str:
        """Returns the area as JSON."""
        found = self.snapshot.geocode(text, timeout=self.timeout)
        if found is None:
            raise LookupError(f"no area is called {text!r} here")
        return json.dumps(found)

    def search_entities(self, text: str) -> str:
        """Returns the most likely entities as JSON."""
        found = self.snapshot.search_entities(text, timeout=self.timeout)
        if not found:
            raise LookupError(f"no item is called {text!r} here")
        return json.dumps(found)

    def query_overpass(self, text: str) -> str:
        """Runs an OverpassQL query and returns a summary of its results."""
        return self._run(text, lang="overpassql")

    def query_sparql(self, text: str) -> str:
        """Runs a SPARQL query and returns a summary of its results."""
        return self._run(text, lang="sparql")

    def _run(self, text: str, **options: Any) -> str:
        said = self.snapshot.feedback(text, sample=self.sample, timeout=self.timeout, **options)
        if said["errors"]:
            raise ValueError(said["text"])
        return str(said["text"])
