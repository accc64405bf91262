"""Scores: those of `terrapin eval`, whatever the batch."""

from __future__ import annotations

import json

import pytest
from conftest import shared

from terrapin_osm import Snapshot

SAME = "[out:json];node[amenity=cafe];out;"
OTHER = "[out:json];node[amenity=bar];out;"


def test_records(monaco: Snapshot) -> None:
    right, wrong, broken = monaco.score_batch([(SAME, SAME), (SAME, OTHER), (SAME, "node[amenity=cafe;out;")])
    assert right["ex"] == right["em"] == 1 and right["oqs"] == right["f1"] == 1.0 and right["line"] == 1
    assert wrong["ex"] == 0 and 0 < wrong["chrf"] < 1 and wrong["pred_n"] > 0
    assert broken["error"] == "parse_error" and broken["ex"] == 0 and broken["line"] == 3
    assert "chrf" not in monaco.score(SAME, OTHER, similarity=False)
    assert monaco.score_batch([]) == []
    with pytest.raises(ValueError, match="same length"):
        monaco.score_batch([(SAME, SAME)], bbox=[])
    boxed = monaco.score("node[shop]({{bbox}});out;", "node[shop]({{bbox}});out;", bbox="43.7,7.4,43.8,7.5")
    assert boxed["ex"] == 1


def test_a_pair_that_takes_for_ever_has_a_record(monaco: Snapshot) -> None:
    forever = "[out:json];node(-90,-180,90,180);foreach(node(around:100000);out count;);"
    records = monaco.score_batch([(SAME, SAME), (SAME, forever), (SAME, OTHER)], timeout=1)
    assert [record["ex"] for record in records] == [1, 0, 0]
    assert "timeout" in records[1]["error"]


def test_sparql(triples: Snapshot, monaco: Snapshot) -> None:
    query = "SELECT ?n { ?p <http://example.org/name> ?n }"
    record = triples.score(query, query.replace("?n", "?name"), lang="sparql")
    assert record["strict"]["multiset"] == 1
    with pytest.raises(Exception, match="no triples"):
        monaco.score(query, query, lang="sparql")


def test_the_benchmarks_numbers(malta: Snapshot) -> None:
    """The pairs of the recorded evaluation, with the published code's numbers."""
    folder = "conformance/malta-benchmark/"
    gold = shared(folder + "gold.query").read_text().splitlines()
    pred = shared(folder + "pred.query").read_text().splitlines()
    expected = [json.loads(line) for line in shared(folder + "ex.jsonl").read_text().splitlines()]
    pairs = list(zip(gold, pred))
    lines = malta.score_lines(pairs)
    for record, published in zip(map(json.loads, lines), expected):
        for name in ("ex", "ex_soft"):
            if name in published:
                assert record[name] == pytest.approx(published[name], abs=1e-9), record["line"]
    # The same pair gives the same bytes: one at a time, in another order, on one thread.
    for number in range(0, len(pairs), max(1, len(pairs) // 40)):
        alone = json.loads(malta.score_lines([pairs[number]])[0])
        assert {**alone, "line": number + 1} == json.loads(lines[number])
    backwards = malta.score_lines(pairs[::-1], threads=1)[::-1]
    without_line = [json.loads(line) | {"line": 0} for line in backwards]
    assert without_line == [json.loads(line) | {"line": 0} for line in lines]


def test_a_summary_tells_what_is_wrong(monaco: Snapshot) -> None:
    broken, wrong, right = monaco.score_batch(
        [(SAME, "node[amenity=cafe;out;"), (SAME, "node[amenty=cafe];out;"), (SAME, SAME)], summary=True, similarity=False
    )
    problem = broken["summary"]["problem"]
    assert (problem["line"], problem["column"], broken["summary"]["error"]) == (1, 18, "parse_error")
    assert wrong["summary"]["warnings"][0]["nearest"] and wrong["summary"]["pred_n"] == 0
    assert right["summary"]["problem"] is None and right["summary"]["warnings"] == []
    assert "summary" not in monaco.score(SAME, SAME)


def test_any_number_of_pairs(monaco: Snapshot) -> None:
    pairs = [(SAME, SAME), (SAME, OTHER), (SAME, "no query"), (OTHER, SAME)] * 6
    lines = monaco.score_lines(pairs)
    assert list(monaco.score_stream(iter(pairs), batch=7)) == lines
    assert json.loads(monaco.score_lines(pairs[:1], first=9)[0])["line"] == 9
    with pytest.raises(TypeError, match="bbox"):
        list(monaco.score_stream(pairs, bbox=["1,2,3,4"]))


def test_tags_and_places(monaco: Snapshot) -> None:
    found = monaco.search_tags("cafe", limit=3)
    assert len(found["tags"]) <= 3 and {"key": "amenity", "value": "cafe"}.items() <= found["tags"][0].items()
    assert found["tags"][0]["count"] == len(monaco.overpass("[out:json];nwr[amenity=cafe];out ids;"))
    assert monaco.search_tags("qqqqq")["tags"] == []
    rarest = monaco.search_tags("shop", limit=2, rerank=lambda text, tags: [-tag["count"] for tag in tags])["tags"]
    several = monaco.search_tags("shop", limit=8)["tags"]
    assert rarest == sorted(several, key=lambda tag: tag["count"])[:2] and len(several) > 2
    with pytest.raises(ValueError, match="rerank gave 0 numbers"):
        monaco.search_tags("shop", rerank=lambda text, tags: [])
    place = monaco.geocode("Monaco")
    assert place is not None and place["osm_type"] == "relation" and place["area_id"] == 3_600_000_000 + place["osm_id"]
    south, west, north, east = place["bbox"]
    assert south < place["center"][0] < north and west < place["center"][1] < east
    assert monaco.geocode("Nowhere at all") is None
