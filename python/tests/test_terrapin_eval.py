"""Tests against the server at TERRAPIN_URL, which serves the test town."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from terrapin_eval import OverpassNL, TerrapinError, feedback  # noqa: E402

CAFES = "[out:json];node[amenity=cafe];out;"


@unittest.skipUnless(os.environ.get("TERRAPIN_URL"), "TERRAPIN_URL names no server")
class AgainstAServer(unittest.TestCase):
    def test_means_over_all_pairs(self):
        totals = OverpassNL().compute(
            predictions=[CAFES, "[out:json];node[amenity=cafe](if:id()>2);out;", "node(1;out;", CAFES],
            references=[CAFES] * 4,
        )
        self.assertEqual(totals["n"], 4)
        self.assertEqual(totals["errors"], {"parse_error": 1})
        self.assertEqual((totals["ex"], totals["ex_soft"], totals["em"]), (0.5, 0.625, 0.5))

    def test_more_pairs_than_a_batch(self):
        metric = OverpassNL()
        for index in range(120):
            metric.add(prediction=CAFES if index % 4 else "node(1);out;", reference=CAFES)
        totals = metric.compute()
        self.assertEqual((totals["n"], totals["ex"]), (120, 0.75))
        self.assertEqual(metric.compute(), {"errors": {}, "n": 0})

    def test_nothing_is_earned_by_finding_nothing(self):
        nothing = "node[amenity=nowhere];out;"
        metric = OverpassNL()
        pairs = {"predictions": ["node(1000000);out;"] * 2, "references": [nothing, CAFES]}
        totals = metric.compute(**pairs)
        self.assertEqual((totals["usable"], totals["f1"], totals["multiset"], totals["ex"]), (1, 0, 0, 0))
        self.assertEqual([sample["f1"] for sample in metric.samples(**pairs)], [0, 0])

    def test_replies_of_models(self):
        reply = f"Sure:\n```\n{CAFES}\n```"
        for extract in (False, True):
            totals = OverpassNL(extract=extract).compute(predictions=[reply], references=[CAFES])
            self.assertEqual(totals["ex"], float(extract))

    def test_a_dictionary_a_sample(self):
        places = {"Town": {"osm_id": 31, "osm_type": "relation"}}
        gold = "{{geocodeArea:Town}}->.a;node(area.a)[amenity];out;"
        samples = OverpassNL(places=places).samples(
            predictions=[gold, "node[amenity]({{bbox}});out;"], references=[gold, gold], bbox=["1,2,3,4", "10,20,11,21"],
        )
        self.assertEqual([sample["ex"] for sample in samples], [1, 0])
        self.assertEqual([sample["record"]["line"] for sample in samples], [1, 2])
        self.assertEqual(samples[1]["record"]["extra"], ["node/4"])
        self.assertEqual((samples[1]["doc_id"], samples[1]["target"]), (1, gold))

    def test_feedback(self):
        said = feedback("node[amenty=cafe];out;")
        self.assertEqual(said["warnings"][0]["code"], "no-such-key")
        self.assertIn("amenity", said["text"])

    def test_what_the_server_refuses(self):
        with self.assertRaisesRegex(TerrapinError, "400"):
            feedback("node(1);out;", bbox="nowhere")


class WithoutAServer(unittest.TestCase):
    def test_nobody_there(self):
        with self.assertRaises(TerrapinError):
            OverpassNL("http://127.0.0.1:9").compute(predictions=["a"], references=["b"])

    def test_lengths(self):
        with self.assertRaises(ValueError):
            OverpassNL("http://127.0.0.1:9").compute(predictions=["a"], references=[])


if __name__ == "__main__":
    unittest.main()
