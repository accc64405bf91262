"""Datasets, answers, scores, tools."""

from __future__ import annotations

import asyncio
import json
import pickle
from pathlib import Path

import pytest
from conftest import REFUSAL, Benchmark
from terrapin_osm import Snapshot
from terrapin_tasks import METRICS, Item, Scorer, instruct_to_sparql, jsonl, query_of
from terrapin_tasks.tools import TerrapinTools
from terrapin_tasks.trl import reward, rows

QUERY = "[out:json];node[amenity=cafe];out;"


def test_the_query_in_an_answer() -> None:
    for answer in (
        QUERY,
        f" {QUERY}\n",
        f"```\n{QUERY}\n```",
        f"```overpassql\n{QUERY}\n```",
        f"First:\n```python\nprint(1)\n```\nThen:\n```{QUERY}```",
        f"```overpassql\nnode(1);out;\n```\nNo:\n```overpassql\n{QUERY}\n```",
    ):
        assert query_of(answer) == QUERY, answer
    assert query_of("```sparql\nSELECT ?x { }\n```") == "SELECT ?x { }"
    assert (query_of(REFUSAL), query_of(""), query_of("```")) == (REFUSAL, "", "")


def test_replies_that_models_write() -> None:
    cases = Path(__file__).parents[3] / "crates/reply/cases.jsonl"
    for case in map(json.loads, cases.read_text(encoding="utf-8").splitlines()):
        assert query_of(case["reply"], case.get("lang")) == case["query"], case["form"]


def test_nothing_is_earned_by_asking_for_nothing(malta: Benchmark, people: tuple[str, str]) -> None:
    """Checks a constant answer on gold queries that mostly have empty results."""
    nothing = "node[amenity=nowhere];out;"
    items = [Item(str(n), "?", nothing) for n in range(20)] + malta.items[:1]
    earned = reward(malta.scorer)
    for constant in ("node(1);out;", nothing, "", REFUSAL, "[out:json];", "out;"):
        scored = malta.scorer.score_all((item, constant) for item in items)
        assert all(scores[name] == 0 for scores in scored for name in ("ex", "ex_soft", "f1")), constant
        assert earned([constant] * len(items), [item.gold for item in items]) == [0.0] * len(items), constant
    assert malta.scorer.usable(items) == malta.items[:1]
    with pytest.warns(RuntimeWarning, match="1 of 21 gold queries give something"):
        assert [row["gold"] for row in rows(items, malta.scorer)] == [malta.items[0].gold]
    path, _ = people
    empty = "SELECT ?n { ?p <http://example.org/none> ?n }"
    [scores] = Scorer(path).score_all([(Item("1", "?", empty, "sparql"), empty)])
    assert (scores["ex"], scores["ex_soft"], scores["f1"], scores["syntax"]) == (0, 0, 0, 1)


def test_rewards_can_be_pickled(malta: Benchmark) -> None:
    earned = pickle.loads(pickle.dumps(reward(malta.scorer)))
    assert earned.__name__ == "terrapin_reward"
    item = malta.items[0]
    assert earned([item.gold], [item.gold]) == [pytest.approx(1.0)]
    with pytest.raises(ValueError, match="expected names among"):
        reward(malta.scorer, {"f2": 1.0})


def test_a_surrogate_costs_one_record(malta: Benchmark) -> None:
    right = malta.items[0]
    broken, good = malta.scorer.score_all([(right, "node[name=\"\ud800\"];out;"), (right, right.gold)])
    assert broken["f1"] == 0 and good["f1"] == 1


def test_the_event_loop_goes_on(malta: Benchmark) -> None:
    forever = "[out:json];node(-90,-180,90,180)->.n;foreach.n->.a(foreach.n(node(around.a:100000);out count;););"
    scorer = Scorer(malta.scorer.snapshot, timeout=2)

    async def main() -> int:
        ticks, scoring = 0, asyncio.create_task(scorer.score_async(malta.items[0], forever))
        while not scoring.done():
            await asyncio.sleep(0.05)
            ticks += 1
        assert (await scoring)["f1"] == 0
        return ticks

    assert asyncio.run(main()) >= 5


def test_scores_are_those_of_the_program(malta: Benchmark) -> None:
    scored = malta.scorer.score_all(zip(malta.items, malta.answers))
    for scores, expected, item in zip(scored, malta.expected, malta.items):
        assert {name: scores[name] for name in expected} == expected, item
        assert set(scores) == set(METRICS) and all(0 <= value <= 1 for value in scores.values())
    malta.check({name: sum(scores[name] for scores in scored) / len(scored) for name in METRICS})
    refused = scored[3]
    assert (refused["ex"], refused["f1"], refused["syntax"]) == (0, 0, 0)
    again = pickle.loads(pickle.dumps(Scorer(malta.path)))
    assert again.score(malta.items[0], malta.answers[0]) == scored[0]


def test_what_is_wrong_is_told(malta: Benchmark) -> None:
    broken, wrong = malta.scorer.records(
        [(malta.items[0], "node[amenity=cafe;out;"), (malta.items[0], "node[amenty=cafe];out;")]
    )
    assert broken[0]["summary"]["problem"]["column"] == 18
    assert broken[1]["syntax"] == 0 and wrong[1]["syntax"] == 1
    assert wrong[0]["summary"]["warnings"][0]["nearest"]


def test_sparql(people: tuple[str, str], tmp_path: Path) -> None:
    path, lines = people
    items = instruct_to_sparql(lines)
    assert [item.lang for item in items] == ["sparql", "sparql"]
    scored = Scorer(path).score_all([(items[0], items[0].gold.replace("?n", "?name")), (items[1], REFUSAL)])
    assert [scores["ex"] for scores in scored] == [1, 0] and [scores["syntax"] for scores in scored] == [1, 0]
    some = tmp_path / "some.jsonl"
    some.write_text(json.dumps({"question": "q", "gold": QUERY, "bbox": "1,2,3,4"}) + "\n\n")
    assert jsonl(some) == [Item("1", "q", QUERY, bbox="1,2,3,4")]
    some.write_text(json.dumps({"question": "q"}))
    with pytest.raises(ValueError, match="has no 'gold'"):
        jsonl(some)


def test_tools(malta: Benchmark, people: tuple[str, str]) -> None:
    tools = TerrapinTools(malta.scorer.snapshot)
    assert tools.names == ["search_tags", "geocode", "query_overpass"]
    assert json.loads(tools.search_tags("cafe"))["tags"][0]["value"] == "cafe"
    assert json.loads(tools.geocode("Valletta"))["osm_type"] in ("way", "relation")
    assert "results" in tools.query_overpass(QUERY)
    for call, text in ((tools.query_overpass, "node[;"), (tools.geocode, "Nowhere at all")):
        with pytest.raises((ValueError, LookupError)):
            call(text)
    sparql = TerrapinTools(Snapshot.open(people[0]))
    assert "2 results" in sparql.query_sparql("SELECT ?n { ?p <http://example.org/name> ?n }")
    assert sparql.names == ["search_tags", "geocode", "search_entities", "query_overpass", "query_sparql"]
    with pytest.raises(LookupError, match="no item"):
        sparql.search_entities("Berlin")
