//! Tests `terrapin benchmark stats`, `split` and `audit`, and the shapes of other authors' files, on a town.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::folder::BenchmarkFolder;

#[test]
fn statistics_have_the_figures_of_the_papers() {
    let files = BenchmarkFolder::with_triples();
    files.lines("train.jsonl", &[
        json!({"nl": "Which cafes?", "gold": "[out:json][timeout:25];node[amenity=cafe](0,0,20,30);out;"}),
        json!({"nl": "Which bars?", "gold": "[out:json];node[amenity=bar](0,0,20,30);out;"}),
        json!({"nl": "How many people?", "gold": "SELECT ?n { wd:Q1 wdt:P1082 ?n }", "lang": "sparql", "complexity": "simple"}),
        json!({"nl": "Which places?", "gold": "SELECT ?x { ?x foo:bar 1 }", "lang": "sparql"}),
    ]);
    let stats = files.json(&["benchmark", "stats", "train.jsonl", "--db", "town.terrapin", "--json"]);
    assert_eq!((&stats["instances"], &stats["splits"]), (&json!(4), &json!({"train": 4})));
    assert_eq!(stats["languages"], json!({"overpassql": 2, "sparql": 2}));
    // Which cafes? bars? How many people? places?
    assert_eq!(stats["questions"]["distinct_words"], 7);
    let overpass = &stats["overpassql"];
    assert_eq!((&overpass["keys"], &overpass["values"], &overpass["pairs"]), (&json!(1), &json!(2), &json!(2)));
    assert_eq!((&overpass["features_total"], &overpass["features_used"]), (&json!(41), &json!(5)));
    // osm-script, query, has-kv, bbox-query, print.
    assert_eq!(overpass["units"]["mean"], 5.0);
    assert_eq!(stats["sparql"]["invalid"], json!({"undefined prefix": 1}));
    assert_eq!(stats["sparql"]["agreement"], json!({"simple": {"simple": 1}}));
    let results = &stats["results"];
    // 4 cafes, no bar, one number.
    assert_eq!((&results["queries"], &results["empty"]), (&json!(4), &json!(1)));
    assert_eq!(
        results["results"]["histogram"],
        json!([{"from": 0, "to": 0, "count": 1}, {"from": 1, "to": 9, "count": 2}])
    );
    let (status, out, _) = files.run(&["benchmark", "stats", "train.jsonl"]);
    assert!(status == Some(0) && out.contains("5 of 41 occur, 0 in at least 20 queries"), "{out}");
}

#[test]
fn an_audit_flags_what_people_should_look_at() {
    let files = BenchmarkFolder::with_triples();
    files.lines(
        "dev.jsonl",
        &[
            json!({"nl": "Cafes here", "gold": "node[amenity=cafe]({{bbox}});out;"}),
            json!({"nl": "Cafes", "gold": "node[amenity=cafe](0,0,20,30);out;"}),
            json!({"nl": "All cafes", "gold": "nwr[amenity=cafe](0,0,20,30);out;"}),
            json!({"nl": "Two cafes", "gold": "node[amenity=cafe](0,0,20,30);out 2;"}),
            json!({"nl": "Bars", "gold": "node[amenity=bar];out;"}),
            json!({"nl": "cafes!", "gold": "SELECT ?n { wd:Q1 wdt:P1082 ?n FILTER(NOW() > 1) }", "lang": "sparql"}),
        ],
    );
    let audit = ["benchmark", "audit", "dev.jsonl", "--db", "town.terrapin", "--out", "found.jsonl"];
    let (status, table, said) = files.run(&audit);
    assert_eq!(status, Some(0), "{said}");
    assert!(table.contains("map-view") && table.contains("of 6"), "{table}");
    let text = std::fs::read_to_string(files.0.path("found.jsonl")).unwrap();
    let found: BTreeSet<(String, u64)> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| (line["kind"].as_str().unwrap().to_owned(), line["line"].as_u64().unwrap()))
        .collect();
    let expected = [
        ("cut", 4),
        ("duplicate-question", 6),
        ("empty", 5),
        ("empty", 6),
        ("fails", 1),
        ("map-view", 1),
        ("relative", 6),
        ("same-answer", 3),
        ("whole-extract", 5),
    ];
    assert_eq!(found, expected.map(|(kind, line)| (kind.to_owned(), line)).into());
    let (_, only, _) = files.run(&["benchmark", "audit", "dev.jsonl", "--kinds", "map-view", "--json"]);
    let only: Value = serde_json::from_str(only.trim()).unwrap();
    assert_eq!((&only["kind"], &only["query"]), (&json!("map-view"), &json!("node[amenity=cafe]({{bbox}});out;")));
}

#[test]
fn a_split_keeps_near_duplicates_together() {
    let files = BenchmarkFolder::with_triples();
    let row = |n: usize| {
        let query =
            format!("(node[amenity=k{n}][name=a{n}](around:{n},1,{n});way[shop=s{n}][x{n}](area:{n}););out {n};");
        json!({"id": n, "nl": format!("{n} of {}", n * n), "gold": query, "complexity": if n.is_multiple_of(2) { "even" } else { "odd" }})
    };
    let mut rows: Vec<Value> = (1..=40).map(row).collect();
    // The first ten again, with another time limit.
    for n in 1..=10 {
        let mut twin = row(n);
        twin["gold"] = format!("[timeout:99];{}", twin["gold"].as_str().unwrap()).into();
        twin["id"] = (n + 100).into();
        rows.push(twin);
    }
    files.lines("all.jsonl", &rows);
    let split = ["benchmark", "split", "all.jsonl", "--sizes", "train=0.6,test=0.4", "--out", "splits"];
    let report = files.json(&[&split[..], &["--json"]].concat());
    assert_eq!(report["splits"], json!({"train": {"even": 15, "odd": 15}, "test": {"even": 10, "odd": 10}}));
    assert_eq!((&report["groups"], &report["largest_group"]), (&json!(10), &json!(2)));
    let read = |name: &str| std::fs::read_to_string(files.0.path(name)).unwrap();
    let (train, test) = (read("splits/train.jsonl"), read("splits/test.jsonl"));
    let ids = |text: &str| -> BTreeSet<u64> {
        let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().parse().unwrap();
        text.lines().map(id).collect()
    };
    for id in 1..=10 {
        assert_eq!(ids(&train).contains(&id), ids(&train).contains(&(id + 100)), "{id}");
    }
    assert_eq!(ids(&train).len() + ids(&test).len(), 50);
    // The same again, and another seed.
    files.json(&[&split[..], &["--json"]].concat());
    assert_eq!(read("splits/train.jsonl"), train);
    files.json(&[&split[..], &["--json", "--seed", "2"]].concat());
    assert_ne!(read("splits/train.jsonl"), train);
    // The check finds nothing between the splits, and near duplicates in a split by lines.
    let checked = |files: &BenchmarkFolder, names: [&str; 2]| {
        let audit = [
            &["benchmark", "audit"][..],
            &names,
            &["--near", "0.8", "--kinds", "near-query,leak-query,leak-question", "--json"],
        ];
        files.run(&audit.concat()).1.lines().count()
    };
    assert_eq!(checked(&files, ["splits/train.jsonl", "splits/test.jsonl"]), 0);
    files.lines("first.jsonl", &rows[..40]);
    files.lines("second.jsonl", &rows[40..]);
    assert!(checked(&files, ["first.jsonl", "second.jsonl"]) >= 10);
    let (status, _, said) = files.run(&["benchmark", "split", "all.jsonl", "--sizes", "a=0.5,b=0.6", "--out", "x"]);
    assert!(status == Some(2) && said.contains("the shares sum to 1.1: expected 1"), "{said}");
}

#[test]
fn fields_of_other_authors_are_read() {
    let files = BenchmarkFolder::with_triples();
    let (gold, pred) = ("SELECT ?n { wd:Q1 wdt:P1082 ?n }", "SELECT ?people { wd:Q1 wdt:P1082 ?people }");
    files.lines("t2s.jsonl", &[json!({"id": "a", "golden": gold, "generated": pred, "order_matters": true})]);
    files.lines("theirs.jsonl", &[json!({"q": {"sparql": gold}, "answer": pred, "lang": "sparql"})]);
    for (name, more) in [("t2s.jsonl", &[][..]), ("theirs.jsonl", &["--map", "gold=q.sparql,pred=answer"][..])] {
        let out = format!("{name}.run");
        let eval = ["eval", "jsonl", "town.terrapin", name, "--out", &out];
        let (status, _, said) = files.run(&[&eval[..], more].concat());
        assert_eq!(status, Some(0), "{said}");
        let results = std::fs::read_to_string(files.0.path(&out).join("results.jsonl")).unwrap();
        let record: Value = serde_json::from_str(&results).unwrap();
        assert_eq!(record["strict"]["multiset"], 1, "{record}");
        assert_eq!(record["strict"]["ordered"], if name == "t2s.jsonl" { json!(1) } else { Value::Null });
    }
    let eval = ["eval", "jsonl", "town.terrapin", "theirs.jsonl", "--out", "no", "--map", "gold=query"];
    let (status, _, said) = files.run(&eval);
    assert!(status == Some(3) && said.contains("no row has the field `query`"), "{said}");
    files.lines("gs.jsonl", &[json!({"question": "Which?", "sql": "SELECT 1", "answer_type": "name", "type": "t"})]);
    let stats = files.json(&["benchmark", "stats", "gs.jsonl", "--json"]);
    assert_eq!((&stats["languages"], &stats["queries"]["named_templates"]), (&json!({"sql": 1}), &json!(1)));
    let (status, _, said) = files.run(&["benchmark", "audit", "gs.jsonl"]);
    assert!(status == Some(3) && said.contains("lang \"sql\" is not run here"), "{said}");
}
