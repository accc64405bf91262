"""Answers to SPARQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from terrapin_osm import QuerySyntaxError, Snapshot, SnapshotError, Term

PREFIX = "PREFIX e: <http://example.org/> "


def test_rows(triples: Snapshot) -> None:
    people = triples.sparql(PREFIX + "SELECT ?p ?n ?a { ?p e:name ?n OPTIONAL { ?p e:age ?a } } ORDER BY ?n")
    assert people.variables == ["p", "n", "a"] and people.form == "select" and len(people) == 2
    anna, ben = people.rows
    assert anna["n"] == Term("literal", "Anna", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "en")
    assert anna["a"].python == 42 and str(anna["p"]) == "http://example.org/a"
    assert "a" not in ben
    assert people.json()["results"]["bindings"][0]["n"]["value"] == "Anna"
    assert people.bytes("csv").decode().splitlines()[0] == "p,n,a"
    rows = people.to_arrow().to_pyarrow().to_pylist()
    assert rows[0] == {"p": "http://example.org/a", "n": "Anna", "a": "42"} and rows[1]["a"] is None
    terms = people.to_arrow(terms=True).to_pyarrow().to_pylist()
    assert terms[0]["n"]["lang"] == "en" and terms[1]["a"] is None
    assert "<td>Anna</td>" in people._repr_html_()


def test_ask_and_graphs(triples: Snapshot) -> None:
    assert triples.sparql(PREFIX + "ASK { e:b e:knows e:a }")
    assert not triples.sparql(PREFIX + "ASK { e:a e:knows e:b }")
    graph = triples.sparql(PREFIX + "CONSTRUCT { ?a e:knownBy ?b } WHERE { ?b e:knows ?a }")
    assert graph.variables == ["subject", "predicate", "object"] and len(graph) == 1
    expected = "<http://example.org/a> <http://example.org/knownBy> <http://example.org/b> .\n"
    assert graph.bytes("nt").decode() == expected
    uri = {name: {"type": "uri", "value": f"http://example.org/{local}"} for name, local in
           (("subject", "a"), ("predicate", "knownBy"), ("object", "b"))}  # fmt: skip
    assert graph.json() == {"head": {"vars": ["subject", "predicate", "object"]}, "results": {"bindings": [uri]}}
    names = triples.sparql(PREFIX + "CONSTRUCT { ?p e:called ?n } WHERE { ?p e:name ?n }").json()["results"]["bindings"]
    assert {"type": "literal", "value": "Anna", "xml:lang": "en"} in [row["object"] for row in names]
    assert triples.sparql("SELECT * {}").to_arrow().to_pyarrow().num_columns == 0


def test_one_file_is_a_path(folder: Path) -> None:
    source = folder / "one.nt"
    source.write_text("<http://example.org/a> <http://example.org/b> \"c\" .\n")
    for number, given in enumerate((source, str(source), [source])):
        loaded = Snapshot.load(rdf=given, out=folder / f"one{number}.terrapin")
        assert len(loaded.sparql("SELECT * { ?s ?p ?o }")) == 1


def test_entities(triples: Snapshot, monaco: Snapshot) -> None:
    [berlin] = triples.search_entities("berl")
    assert (berlin["id"], berlin["label"], berlin["description"]) == ("Q64", "Berlin", "capital of Germany")
    assert triples.search_entities("Berl\u00edn", language="es")[0]["label"] == "Berl\u00edn"
    assert triples.search_entities("berlin", kind="property") == [] == triples.search_entities("qqq")
    with pytest.raises(SnapshotError, match="no triples"):
        monaco.search_entities("berlin")


def test_errors(triples: Snapshot, monaco: Snapshot) -> None:
    with pytest.raises(QuerySyntaxError) as raised:
        triples.sparql("SELECT * {\n ?s e:name ?o }")
    assert (raised.value.code, raised.value.line, raised.value.column) == ("unknown-prefix", 2, 5)
    with pytest.raises(SnapshotError, match="no triples"):
        monaco.sparql("SELECT * { ?s ?p ?o }")
    assert triples.feedback("SELECT * { ?s ?p }")["errors"]
