"""Scores equal those of `terrapin eval`, for any batch."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from conftest import shared

from terrapin_osm import Snapshot, query_of

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


def test_a_suite_refutes_what_is_right_by_chance(monaco: Snapshot, malta: Snapshot) -> None:
    boxed = "[out:json];node[amenity=cafe](43,7,44,8);out;"
    spaced = "[out:json];node [amenity=cafe]; out;"
    chance, same, wrong = monaco.score_batch([(SAME, boxed), (SAME, spaced), (SAME, OTHER)], suite=[malta])
    assert (chance["ex"], chance["suite"]) == (1, 0)
    example = chance["counterexample"]
    assert example["snapshot"] == malta.digest and example["pred_n"] == 0 < example["ref_n"]
    assert len(example["missing"]) == 10 and "extra" not in example
    assert (same["suite"], wrong["suite"]) == (1, 0) and "counterexample" not in wrong
    assert "suite" not in monaco.score_batch([(SAME, SAME)])[0]


def test_a_pair_that_takes_for_ever_has_a_record(monaco: Snapshot) -> None:
    forever = "[out:json];node(-90,-180,90,180)->.n;foreach.n->.a(foreach.n(node(around.a:100000);out count;););"
    records = monaco.score_batch([(SAME, SAME), (SAME, forever), (SAME, OTHER)], timeout=1)
    assert [record["ex"] for record in records] == [1, 0, 0]
    assert "timeout" in records[1]["error"]


def test_replies() -> None:
    """Checks the forms of docs/reference/replies.md, with the cases of the engine's own test."""
    cases = Path(__file__).parents[3] / "crates/reply/cases.jsonl"
    read = [json.loads(line) for line in cases.read_text(encoding="utf-8").splitlines()]
    assert len(read) >= 60
    for case in read:
        assert query_of(case["reply"], case.get("lang")) == case["query"], case["form"]
    with pytest.raises(ValueError, match="expected"):
        query_of("x", "sql")  # type: ignore[arg-type]


def test_replies_are_read_in_batches(monaco: Snapshot) -> None:
    reply = f"<think>{OTHER}</think>Sure:\n```\n{SAME}\n```"
    assert [monaco.score(SAME, reply, extract=extract)["ex"] for extract in (False, True)] == [0, 1]


def test_one_bad_text_costs_one_record(monaco: Snapshot) -> None:
    lone = "node[name=\"\ud800\"];out;"
    before, broken, after = monaco.score_batch([(SAME, SAME), (SAME, lone), (SAME, SAME)], summary=True)
    assert before["ex"] == after["ex"] == 1
    assert (broken["error"], broken["line"], broken["f1"]) == ("parse_error", 2, 0.0)
    assert "surrogate" in broken["error_text"] and broken["summary"]["syntax"] == 0
    gold = monaco.score(lone, SAME)
    assert gold["ref_error"] == "parse_error" and "error" not in gold
    answers = monaco.overpass_many([SAME, lone], errors="return")
    assert len(answers[0]) and "surrogate" in str(answers[1])  # type: ignore[arg-type]


def test_pairs_are_tuples_or_mappings(monaco: Snapshot) -> None:
    mapped = [{"gold": SAME, "pred": OTHER, "id": 7}, {"reference": SAME, "prediction": None}]
    assert monaco.score_lines(mapped) == monaco.score_lines([(SAME, OTHER), (SAME, "")])
    boxed = "node[shop]({{bbox}});out;"
    [record] = monaco.score_batch([{"gold": boxed, "pred": boxed, "bbox": "43.7,7.4,43.8,7.5"}])
    assert record["ex"] == 1
    for wrong, says in (
        ({"gold": SAME, "predicted": SAME}, r"pair 2: no 'pred' \(or 'prediction'\); it has 'gold', 'predicted'"),
        ({"gold": SAME, "pred": SAME, "lang": "sparql"}, "pair 2: its lang is 'sparql'"),
        ((SAME, 7), "pair 2: pred: expected a text, found int"),
        ((SAME,), "pair 2: expected .*, found tuple of 1"),
        ("ab", "pair 2: expected .*, found str"),
        (None, "pair 2: expected .*, found NoneType"),
    ):
        with pytest.raises((TypeError, ValueError), match=says):
            monaco.score_batch([(SAME, SAME), wrong])  # type: ignore[list-item]


def test_a_query_runs_once_in_a_batch(monaco: Snapshot) -> None:
    forever = "[out:json];node(-90,-180,90,180)->.n;foreach.n->.a(foreach.n(node(around.a:100000);out count;););"
    begun = time.monotonic()
    records = monaco.score_batch([(forever, SAME)] * 16, timeout=2, threads=2, similarity=False, summary=True)
    # One after another on two threads they would take 16 seconds.
    assert time.monotonic() - begun < 8
    assert {record["ref_error"] for record in records} == {"runtime_error_timeout"}
    assert {record["summary"]["syntax"] for record in records} == {1}


def test_a_text_is_a_query_or_not_whatever_its_gold_gives(monaco: Snapshot) -> None:
    for gold in (SAME, "nonsense", "{{geocodeArea:Nowhere}}->.a;node(area.a);out;"):
        records = monaco.score_batch([(gold, SAME), (gold, "I do not know")], summary=True)
        assert [record["summary"]["syntax"] for record in records] == [1, 0], gold


def test_sparql(triples: Snapshot, monaco: Snapshot) -> None:
    query = "SELECT ?n { ?p <http://example.org/name> ?n }"
    record = triples.score(query, query.replace("?n", "?name"), lang="sparql")
    assert record["strict"]["multiset"] == 1
    with pytest.raises(Exception, match="no triples"):
        monaco.score(query, query, lang="sparql")


def test_the_benchmarks_numbers(malta: Snapshot) -> None:
    """Checks the pairs of the recorded evaluation against the published code's numbers."""
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
