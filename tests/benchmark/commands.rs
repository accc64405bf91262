//! Tests `terrapin benchmark` and `terrapin leaderboard` from the view of a benchmark's author.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::folder::BenchmarkFolder;
use crate::common;
use crate::common::skip::{Need, skipped};
use crate::common::{TOWN, place};

const CAFES: &str = "[out:json];node[amenity=cafe];out;";
const PEOPLE: &str = "SELECT ?people { wd:Q1 wdt:P1082 ?people }";

#[test]
fn a_check_names_what_is_wrong() {
    let files = BenchmarkFolder::with_triples();
    files.lines(
        "train.jsonl",
        &[
            json!({"nl": "Which cafes are there?", "gold": CAFES}),
            json!({"nl": "Streets", "gold": "[out:json][timeout:25];way[highway];out;"}),
            json!({"nl": "streets!", "gold": "[out:xml][timeout:9]; way[highway]; out;"}),
        ],
    );
    files.lines("dev.jsonl", &[
        json!({"id": "a", "nl": "which cafes are there", "query": "node[amenity=bar];out;"}),
        json!({"nl": "Some cafes", "gold": "node[amenity=cafe];out 2;"}),
        json!({"nl": "New ones", "gold": "node[amenity=cafe](newer:\"{{date:20 years}}\");out;"}),
        json!({"nl": "Broken", "gold": "node[;out;"}),
        json!({"nl": "People", "gold": PEOPLE, "lang": "sparql"}),
        json!({"nl": "Now", "gold": "SELECT ?s { ?s ?p ?o FILTER(NOW() > \"1999-01-01\"^^xsd:dateTime) } LIMIT 1", "lang": "sparql"}),
        json!({"nl": "Lottery", "gold": "SELECT ?s { ?s ?p ?o FILTER(RAND() < 2) } ORDER BY ?s LIMIT 2", "lang": "sparql"}),
        json!({"nl": "", "gold": "node[name];out;"}),
            json!({"nl": "Newer", "gold": "node[amenity=cafe](newer:\"{{date:2001-01-01T00:00:00Z}}\");out;"}),

    ]);
    let check = ["benchmark", "check", "town.terrapin", "train.jsonl", "dev.jsonl"];
    let (status, report) = files.report(&[&check[..], &["--json"]].concat());
    assert_eq!((status, report["sound"].clone()), (Some(1), json!(false)), "{report}");
    let found: BTreeSet<(&str, &str, u64)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["kind"].as_str().unwrap(), f["split"].as_str().unwrap(), f["line"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        found,
        BTreeSet::from([
            ("duplicate-question", "train", 3),
            ("duplicate-query", "train", 3),
            ("leak-question", "dev", 1),
            ("empty", "dev", 1),
            ("cut", "dev", 2),
            ("relative", "dev", 3),
            ("fails", "dev", 4),
            ("relative", "dev", 6),
            ("cut", "dev", 6),
            ("random", "dev", 7),
            ("cut-in-order", "dev", 7),
            ("no-question", "dev", 8),
        ])
    );
    assert_eq!(report["splits"], json!({"train": 3, "dev": 9}));
    let cafes = &report["pairs"][0];
    assert_eq!((cafes["results"].as_u64(), cafes["difficulty"]["len_nl"].as_f64()), (Some(4), Some(22.0)));
    assert_eq!(cafes["difficulty"]["len_query"].as_f64(), Some(23.0));
    assert_eq!(report["pairs"][7]["results"].as_u64(), Some(1));
    let (status, out, said) = files.run(&check);
    assert_eq!(status, Some(1));
    assert!(out.contains("error: 1 fails\n  dev line 4: ") && out.contains("  dev line 1 (a): "), "{out}");
    assert!(out.contains("note: 1 duplicate-query") && said.contains("the benchmark has 9 errors"), "{out}{said}");
    // Known problems can be allowed.
    files.lines("good.jsonl", &[json!({"nl": "Bars", "gold": "node[amenity=bar];out;"})]);
    let good = ["benchmark", "check", "town.terrapin", "good.jsonl"];
    assert_eq!(files.run(&good).0, Some(1));
    assert_eq!(files.run(&[&good[..], &["--allow", "empty"]].concat()).0, Some(0));
    let (status, _, said) = files.run(&[&good[..], &["--allow", "none"]].concat());
    assert!(status == Some(2) && said.contains("expected one of fails, not-deterministic"), "{said}");
}

#[test]
fn what_is_no_benchmark_is_an_error() {
    let files = BenchmarkFolder::with_triples();
    for (text, says) in [
        ("{\"nl\": \"x\"}\n", "line 1: there is no `gold`"),
        ("{\"nl\": \"x\", \"gold\": \"out;\", \"split\": \"../../x\"}\n", "split \"../../x\": expected letters"),
        ("", "the file has no pairs"),
        ("nl,gold,lang\nx,y,sql\n", "is not run here"),
    ] {
        files.write("bad.jsonl", text);
        let (status, _, said) = files.run(&["benchmark", "check", "town.terrapin", "bad.jsonl"]);
        assert!(status == Some(3) && said.contains(says), "{says}: {said}");
    }
}

/// The printed forms of each element, by type and id.
type Printed = BTreeMap<(String, i64), Vec<Value>>;

/// Returns the elements of a JSON answer by type and id, without the metadata that `drift` ignores.
fn elements(
    files: &BenchmarkFolder,
    snapshot: &str,
    query: &str,
    bbox: Option<&str>,
    places: Option<&str>,
) -> Option<Printed> {
    let mut args = vec!["query", snapshot, query, "--lang", "overpassql"];
    args.extend(bbox.into_iter().flat_map(|bbox| ["--bbox", bbox]));
    args.extend(places.into_iter().flat_map(|places| ["--places", places]));
    let (status, out, _) = files.run(&args);
    if status != Some(0) {
        return None;
    }
    let answer: Value = serde_json::from_str(&out).unwrap();
    let mut elements = Printed::new();
    for element in answer["elements"].as_array().unwrap() {
        let mut element = element.clone();
        let key = (element["type"].as_str().unwrap().to_owned(), element["id"].as_i64().unwrap());
        for name in ["version", "timestamp", "changeset", "user", "uid"] {
            element.as_object_mut().unwrap().remove(name);
        }
        elements.entry(key).or_default().push(element);
    }
    Some(elements)
}

/// Counts missing, added and changed elements.
fn by_hand(old: &Printed, new: &Printed) -> [u64; 3] {
    let count = |test: &dyn Fn(&(String, i64)) -> bool| {
        old.keys().chain(new.keys()).collect::<BTreeSet<_>>().into_iter().filter(|key| test(key)).count() as u64
    };
    [
        count(&|key| !new.contains_key(key)),
        count(&|key| !old.contains_key(key)),
        count(&|key| matches!((old.get(key), new.get(key)), (Some(a), Some(b)) if a != b)),
    ]
}

fn counts(pair: &Value) -> [u64; 3] {
    ["missing", "added", "changed"].map(|name| pair[name].as_u64().unwrap())
}

#[test]
fn drift_counts_what_changed() {
    let files = BenchmarkFolder::with_triples();
    let newer = TOWN
        .replace("k=\"name\" v=\"Zur Mühle\"", "k=\"name\" v=\"Mühle\"")
        .replace("<node id=\"4\" lat=\"10.0500\"", "<node id=\"5\" lat=\"10.0600\"")
        .replace("lat=\"10.0030\"", "lat=\"10.0031\"")
        .replace(
            "<node id=\"1\" lat=\"10.0010\" lon=\"20.0010\" version=\"1\"",
            "<node id=\"1\" lat=\"10.0010\" lon=\"20.0010\" version=\"7\"",
        );
    files.write("newer.osm", &newer);
    files.write("newer.nt", &common::TRIPLES.replace("+1200", "+1300"));
    let load = ["load", "--osm", "newer.osm", "--rdf", "newer.nt", "--out", "newer.terrapin"];
    assert_eq!(files.run(&load).0, Some(0));
    let queries = [
        CAFES,
        "[out:json];node[amenity=cafe];out meta;",
        "[out:json];node[amenity=cafe];out count;",
        "[out:json];way[highway];out geom;",
        "[out:json];node(5);out;",
        "[out:json];node[amenity=cafe];convert row ::id=id(),name=t[\"name\"];out;",
    ];
    let mut pairs: Vec<Value> = queries.iter().map(|query| json!({"nl": query, "gold": query})).collect();
    pairs.push(json!({"nl": "People", "gold": PEOPLE, "lang": "sparql"}));
    files.lines("dev.jsonl", &pairs);
    let args = ["benchmark", "drift", "town.terrapin", "newer.terrapin", "dev.jsonl"];
    let (status, drift) = files.report(&[&args[..], &["--json"]].concat());
    assert_eq!(status, Some(0));
    for (pair, query) in drift["pairs"].as_array().unwrap().iter().zip(queries) {
        let [old, new] =
            ["town.terrapin", "newer.terrapin"].map(|name| elements(&files, name, query, None, None).unwrap());
        assert_eq!(counts(pair), by_hand(&old, &new), "{query}");
    }
    assert_eq!(counts(&drift["pairs"][0]), [1, 1, 2]);
    let cafes = &drift["pairs"][0];
    assert_eq!((cafes["tags"].as_u64(), cafes["shape"].as_u64()), (Some(1), Some(1)));
    assert_eq!(cafes["missing_sample"], json!(["node/4"]));
    assert_eq!(drift["pairs"][1]["metadata"].as_u64(), Some(1), "a new version alone is no change");
    assert_eq!(counts(&drift["pairs"][6]), [1, 1, 0], "a row that changed is missing, and another one added");
    let totals = &drift["totals"];
    assert_eq!(
        (totals["same"].as_u64(), totals["differ"].as_u64(), totals["became_filled"].as_u64()),
        (Some(2), Some(5), Some(1))
    );
    let (_, table, _) = files.run(&args);
    assert!(table.contains("dev:1") && table.contains("\ndiffer           5\n"), "{table}");
    // A snapshot compared with itself has no differences.
    let (_, none) = files.report(&["benchmark", "drift", "town.terrapin", "town.terrapin", "dev.jsonl", "--json"]);
    assert_eq!(none["totals"]["differ"].as_u64(), Some(0));
}

/// Runs `drift` over the gold queries of OverpassNL's dev split, with snapshots eight years apart, and compares it with
/// the results of each query.
#[test]
fn drift_of_a_published_split_is_what_both_answers_say() {
    let shared = place::shared();
    let extracts = ["malta-2016", "malta-2024"].map(|name| shared.join(format!("data/osm/{name}.osm.pbf")));
    let split = |part: &str| shared.join(format!("data/overpassnl/dataset.dev.{part}"));
    if !extracts.iter().all(|extract| extract.exists()) || !split("query").exists() {
        return skipped(Need::Shared, "two extracts of Malta and OverpassNL's dev split");
    }
    let files = BenchmarkFolder::with_triples();
    for (extract, name) in extracts.iter().zip(["old.terrapin", "new.terrapin"]) {
        assert_eq!(files.run(&["load", "--osm", extract.to_str().unwrap(), "--out", name]).0, Some(0));
    }
    let lines =
        |part: &str| std::fs::read_to_string(split(part)).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
    let (queries, questions, boxes) = (lines("query"), lines("nl"), lines("bbox"));
    let step = if std::env::var_os("TERRAPIN_ALL").is_some() { 1 } else { 25 };
    let chosen: Vec<usize> = (0..queries.len()).step_by(step).collect();
    let bbox = |index: usize| Some(boxes[index].trim()).filter(|bbox| bbox.contains(','));
    let pair = |index: &usize| json!({"nl": questions[*index], "gold": queries[*index], "bbox": bbox(*index)});
    files.lines("dev.jsonl", &chosen.iter().map(pair).collect::<Vec<_>>());
    let places: PathBuf = shared.join("data/overpassnl/nominatim_cache.json");
    let places = places.to_str().unwrap();
    let args = ["benchmark", "drift", "old.terrapin", "new.terrapin", "dev.jsonl", "--places", places, "--json"];
    let (_, drift) = files.report(&args);
    let output = regex::Regex::new(r"\[out:[^\]]+\]").unwrap();
    for (pair, index) in drift["pairs"].as_array().unwrap().iter().zip(&chosen) {
        let query = &queries[*index];
        let json = match output.replace_all(query, "[out:json]") {
            json if json.contains("[out:json]") => json.into_owned(),
            json if json.starts_with('[') => format!("[out:json]{json}"),
            json => format!("[out:json];{json}"),
        };
        let ask = |snapshot: &str| elements(&files, snapshot, &json, bbox(*index), Some(places));
        match (ask("old.terrapin"), ask("new.terrapin")) {
            (Some(old), Some(new)) => assert_eq!(counts(pair), by_hand(&old, &new), "line {}: {query}", index + 1),
            (old, new) => {
                assert_eq!(pair["old"]["error"].is_null(), old.is_some(), "line {}: {pair}", index + 1);
                assert_eq!(pair["new"]["error"].is_null(), new.is_some(), "line {}: {pair}", index + 1);
            }
        }
    }
}

#[test]
fn a_pack_is_whole_and_the_same_every_time() {
    let files = BenchmarkFolder::with_triples();
    files.lines("train.jsonl", &[json!({"nl": "Which cafes?", "gold": CAFES})]);
    files.lines(
        "dev.jsonl",
        &[
            json!({"nl": "Streets", "gold": "way[highway];out;", "bbox": "10,20,11,21"}),
            json!({"nl": "People", "gold": PEOPLE, "lang": "sparql"}),
        ],
    );
    let (status, out, said) = files.run(&["benchmark", "init", "town.terrapin", "train.jsonl", "dev.jsonl"]);
    assert!(status == Some(0) && out.contains("benchmark.toml: 2 dev, 1 train"), "{out}{said}");
    let again = files.run(&["benchmark", "init", "town.terrapin", "train.jsonl"]);
    assert!(again.0 == Some(2) && again.2.contains("is not overwritten"), "{}", again.2);
    let pack = |out: &str| files.run(&["benchmark", "pack", "benchmark.toml", "--out", out]);
    let (status, _, said) = pack("packed");
    assert!(status == Some(3) && said.contains("`title` is empty"), "{said}");
    let mut about = files.text("benchmark.toml");
    for (empty, said) in [
        (
            "\nname = \"\"\n# For people.\ntitle = \"\"",
            "\nname = \"town-cafes\"\n# For people.\ntitle = \"Cafes: \\\"all\\\" of them\"",
        ),
        ("description = \"\"", "description = \"Cafes of a town.\""),
        ("license = \"\"", "license = \"CC-BY-4.0\""),
        ("released = \"\"", "released = \"2026-01-31\""),
        ("[[about.authors]]\nname = \"\"", "[[about.authors]]\nname = \"Ann Other\""),
    ] {
        assert!(about.contains(empty), "{about}");
        about = about.replacen(empty, said, 1);
    }
    files.write("benchmark.toml", &about);
    let (status, out, said) = pack("packed");
    assert!(status == Some(0) && out.contains("3 pairs, 11 files"), "{out}{said}");
    assert_eq!(pack("again").0, Some(0));
    let sums = files.text("packed/SHA256SUMS");
    assert_eq!(sums, files.text("again/SHA256SUMS"));
    let names = ".zenodo.json CITATION.cff LICENSES.md README.md checks.json croissant.json data/dev.jsonl data/train.jsonl manifest.json pin.toml";
    assert_eq!(sums.lines().map(|line| &line[66..]).collect::<Vec<_>>().join(" "), names);
    assert_eq!(files.run(&["verify", "town.terrapin", "--pin", "packed/pin.toml"]).0, Some(0));
    let card = files.text("packed/README.md");
    for says in [
        "---\nlanguage:\n- \"en\"\nlicense:\n- \"cc-by-4.0\"\n- \"odbl\"\n- \"cc0-1.0\"\npretty_name: \"Cafes: \\\"all\\\" of them\"\n",
        "  - split: \"dev\"\n    path: \"data/dev.jsonl\"\n",
        "| train | 1 |",
        "| `difficulty.xml_components` |",
    ] {
        assert!(card.contains(says), "{says}: {card}");
    }
    let croissant: Value = serde_json::from_str(&files.text("packed/croissant.json")).unwrap();
    assert_eq!(croissant["conformsTo"], "http://mlcommons.org/croissant/1.0");
    assert_eq!(croissant["distribution"].as_array().unwrap().len(), 2);
    let digest = sums.lines().find(|line| line.ends_with("data/dev.jsonl")).unwrap()[..64].to_owned();
    assert_eq!(croissant["distribution"][0]["sha256"], digest);
    assert!(
        files.text("packed/LICENSES.md").contains("ODbL-1.0") && files.text("packed/LICENSES.md").contains("CC0-1.0")
    );
    // `terrapin eval` accepts the packed data after predictions are added.
    let lines: Vec<Value> =
        files.text("packed/data/dev.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines[0]["id"].as_str(), lines[0]["results"].as_u64()), (Some("dev-1"), Some(1)));
    let predicted = lines.into_iter().map(|mut line| {
        line["pred"] = line["gold"].clone();
        line
    });
    files.lines("predicted.jsonl", &predicted.collect::<Vec<_>>());
    let eval = ["eval", "jsonl", "town.terrapin", "predicted.jsonl", "--out", "run", "--no-cache", "--json"];
    let (status, summary) = files.report(&eval);
    assert_eq!(
        (status, summary["ex"].as_f64(), summary["strict.f1"].as_f64()),
        (Some(0), Some(100.0), Some(100.0)),
        "{summary}"
    );
    // A different snapshot is not packed under this name.
    files.write("benchmark.toml", &about.replace("file = \"town.terrapin\"", "file = \"other.terrapin\""));
    files.write("other.osm", &TOWN.replace("Ladle Street", "Spoon Street"));
    assert_eq!(files.run(&["load", "--osm", "other.osm", "--out", "other.terrapin"]).0, Some(0));
    let (status, _, said) = pack("other");
    assert!(status == Some(1) && said.contains("has the digest"), "{said}");
}

#[test]
fn a_leaderboard_has_what_belongs_together() {
    let files = BenchmarkFolder::with_triples();
    files.write("gold", &format!("{CAFES}\nway[highway];out;\n"));
    files.write("good", &format!("{CAFES}\nway[highway];out;\n"));
    files.write("bad", &format!("{CAFES}\nnode;\n"));
    let eval = |pred: &str, snapshot: &str, more: &[&str]| {
        let args = ["eval", "overpassnl", snapshot, "--gold", "gold", "--pred", pred, "--no-cache", "--overwrite"];
        let (status, _, said) = files.run(&[&args[..], more].concat());
        assert_eq!(status, Some(0), "{said}");
    };
    eval("bad", "town.terrapin", &["--out", "base"]);
    eval("good", "town.terrapin", &["--out", "tuned", "--name", "tuned & better"]);
    let board = ["leaderboard", "base", "tuned", "--metrics", "ex,f1"];
    let (status, table, said) = files.run(&board);
    assert_eq!(status, Some(0), "{said}");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[..2], ["| run | EX | row F1 |", "|---|---:|---:|"]);
    assert_eq!(lines[2], "| tuned & better | 100.00 (100.0–100.0) | 100.00 (100.0–100.0) |");
    assert!(lines[3].starts_with("| base | 50.00 (0.0–100.0) |"), "{table}");
    assert!(table.contains("1000 resamples, fixed seed"), "{table}");
    assert_eq!(files.run(&board).1, table);
    assert!(files.run(&[&board[..], &["--format", "latex"]].concat()).1.contains("tuned \\& better & 100.00"));
    assert!(files.run(&[&board[..], &["--format", "html"]].concat()).1.contains("<td>tuned &amp; better</td>"));
    files.write("other.osm", &TOWN.replace("Ladle Street", "Spoon Street"));
    assert_eq!(files.run(&["load", "--osm", "other.osm", "--out", "other.terrapin"]).0, Some(0));
    eval("good", "other.terrapin", &["--out", "elsewhere"]);
    let (status, _, said) = files.run(&["leaderboard", "base", "elsewhere"]);
    assert!(status == Some(3) && said.contains("do not belong in one table: snapshots"), "{said}");
    let (status, _, said) = files.run(&["leaderboard", "base", "--metrics", "luck"]);
    assert!(status == Some(2) && said.contains("--metrics luck: unknown metric; known metrics: em, chrf"), "{said}");
}
