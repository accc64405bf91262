"""Shared fixtures: snapshots made once from the shared extracts. Tests without them are skipped with a message."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from terrapin_osm import Snapshot

SHARED = Path(os.environ.get("TERRAPIN_SHARED", Path(__file__).parents[4] / "shared"))


def shared(name: str) -> Path:
    """Returns a file of the shared data."""
    path = SHARED / name
    if not path.exists():
        if "shared" in os.environ.get("TERRAPIN_REQUIRE", "").split(","):
            pytest.fail(f"{path} is missing")
        pytest.skip(f"skipped for want of shared data: {path}")
    return path


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("snapshots")


@pytest.fixture(scope="session")
def monaco(folder: Path) -> Snapshot:
    return Snapshot.load(osm=shared("data/osm/monaco.osm.pbf"), out=folder / "monaco.terrapin")


@pytest.fixture(scope="session")
def malta(folder: Path) -> Snapshot:
    """The benchmark's snapshot: that of TERRAPIN_MALTA, or one made from the extract."""
    made = os.environ.get("TERRAPIN_MALTA")
    if made:
        return Snapshot.open(made)
    return Snapshot.load(osm=shared("data/osm/malta-2016.osm.pbf"), out=folder / "malta.terrapin")


TRIPLES = """\
<http://example.org/a> <http://example.org/name> "Anna"@en .
<http://example.org/a> <http://example.org/age> "42"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://example.org/b> <http://example.org/name> "Ben" .
<http://example.org/b> <http://example.org/knows> <http://example.org/a> .
<http://www.wikidata.org/entity/Q64> <http://www.w3.org/2000/01/rdf-schema#label> "Berlin"@en .
<http://www.wikidata.org/entity/Q64> <http://www.w3.org/2000/01/rdf-schema#label> "Berl\u00edn"@es .
<http://www.wikidata.org/entity/Q64> <http://schema.org/description> "capital of Germany"@en .
"""


@pytest.fixture(scope="session")
def triples(folder: Path) -> Iterator[Snapshot]:
    source = folder / "people.nt"
    source.write_text(TRIPLES)
    yield Snapshot.load(rdf=[source], out=folder / "people.terrapin")
