//! Tests the stronger scores of `terrapin eval`: a suite of snapshots, canonical forms, unknown identifiers, order, and
//! the table of several runs of one system.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common;
use crate::common::place;
use crate::common::skip;
use crate::common::{TOWN, Town};
use serde_json::{Value, json};
use terrapin::eval::input::read_lines;
use terrapin::eval::language::QueryLanguage;
use terrapin::eval::metrics::canonical::canonical_form;

fn run(town: &Town, args: &[&str]) -> (Option<i32>, String, String) {
    let done = common::terrapin().current_dir(town.path("")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (done.status.code(), text(done.stdout), text(done.stderr))
}

fn good(town: &Town, args: &[&str]) -> String {
    let (status, out, said) = run(town, args);
    assert_eq!(status, Some(0), "{said}");
    out
}

fn summary(town: &Town, out: &str) -> Value {
    serde_json::from_slice(&std::fs::read(town.path(out).join("summary.json")).unwrap()).unwrap()
}

fn records(folder: &Path) -> Vec<Value> {
    let lines = read_lines(&folder.join("results.jsonl")).unwrap();
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Writes pairs as JSON lines and scores them.
fn scored(town: &Town, pairs: &[Value], more: &[&str]) -> Vec<Value> {
    let lines: Vec<String> = pairs.iter().map(ToString::to_string).collect();
    std::fs::write(town.path("pairs.jsonl"), lines.join("\n")).unwrap();
    let args = ["eval", "jsonl", "town.terrapin", "pairs.jsonl", "--out", "run", "--no-cache", "--overwrite"];
    good(town, &[&args[..], more].concat());
    records(&town.path("run"))
}

/// Loads the town at a later date, with a name for the third cafe.
fn later(town: &Town) {
    let third = "user=\"ann\"><tag k=\"amenity\" v=\"cafe\"/></node>\n  <node id=\"4\"";
    let named = third.replace("</node>\n", "<tag k=\"name\" v=\"New\"/></node>\n");
    assert!(TOWN.contains(third));
    std::fs::write(town.path("later.osm"), TOWN.replace(third, &named)).unwrap();
    good(town, &["load", "--osm", "later.osm", "--out", "later.terrapin"]);
}

#[test]
fn a_suite_refutes_what_is_right_by_chance() {
    let town = Town::new();
    later(&town);
    let gold = "node[amenity=cafe][name];out;";
    std::fs::write(town.path("gold"), format!("{gold}\n{gold}\n{gold}\n")).unwrap();
    let preds = "node[amenity=cafe](id:1,2);out;\nnode[name][amenity=cafe];out;\nnode;out;\n";
    std::fs::write(town.path("pred"), preds).unwrap();
    let eval = ["eval", "overpassnl", "town.terrapin", "--gold", "gold", "--pred", "pred", "--no-cache", "--out"];
    good(&town, &[&eval[..], &["one"]].concat());
    assert_eq!(summary(&town, "one").get("suite"), None, "without a suite there is no such score");
    let more = ["run", "--suite", "later.terrapin,town.terrapin"];
    let (status, out, said) = run(&town, &[&eval[..], &more].concat());
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("town.terrapin: the snapshot is already in the suite"), "{said}");
    assert!(out.contains("1 of 2 right pairs differ on one of 1 more snapshots"), "{out}");
    let all = summary(&town, "run");
    assert_eq!(all["suite_totals"], json!({"snapshots": 1, "right": 2, "refuted": 1, "by": {"later.terrapin": 1}}));
    let records = records(&town.path("run"));
    let scores: Vec<(u64, u64)> =
        records.iter().map(|r| (r["ex"].as_u64().unwrap(), r["suite"].as_u64().unwrap())).collect();
    assert_eq!(scores, [(1, 0), (1, 1), (0, 0)]);
    let shown = &records[0]["counterexample"];
    assert_eq!((&shown["name"], &shown["ref_n"], &shown["pred_n"]), (&json!("later.terrapin"), &json!(3), &json!(2)));
    assert_eq!((&shown["missing"], shown.get("extra")), (&json!(["node/3"]), None));
    let page = std::fs::read_to_string(town.path("run/report.html")).unwrap();
    assert!(page.contains("\"counterexample\":{\"name\":\"later.terrapin\""));

    // A run with another suite is another run.
    let (status, _, said) = run(&town, &[&eval[..], &["run"]].concat());
    assert!(status == Some(2) && said.contains("another run"), "{said}");
    let verified = |more: &[&str]| run(&town, &[&["eval", "verify", "run", "town.terrapin"], more].concat());
    for more in [&[][..], &["--suite", "later.terrapin"]] {
        let (status, out, said) = verified(more);
        assert!(status == Some(0) && out.contains("0 differences in all"), "{out}{said}");
    }
    std::fs::write(town.path("third.osm"), TOWN.replace("Ladle Street", "Spoon Street")).unwrap();
    good(&town, &["load", "--osm", "third.osm", "--out", "third.terrapin"]);
    let (status, _, said) = verified(&["--suite", "third.terrapin"]);
    assert!(status == Some(3) && said.contains("the suite of the run is"), "{said}");
}

#[test]
fn a_suite_needs_what_its_queries_need() {
    let town = Town::with_triples();
    later(&town);
    std::fs::write(town.path("a.jsonl"), json!({"gold": "ASK {}", "pred": "ASK {}", "lang": "sparql"}).to_string())
        .unwrap();
    let args = ["eval", "jsonl", "town.terrapin", "a.jsonl", "--out", "run", "--suite", "later.terrapin"];
    let (status, _, said) = run(&town, &args);
    assert!(status == Some(3) && said.contains("later.terrapin of the suite has no triples"), "{said}");
    let (status, _, said) =
        run(&town, &["eval", "overpassnl", "--gold", "a", "--pred", "a", "--suite", "b", "--out", "r"]);
    assert!(status == Some(2) && said.contains("SNAPSHOT"), "{said}");
}

#[test]
fn invented_identifiers_are_counted() {
    let town = Town::with_triples();
    let overpass = |pred: &str| json!({"gold": "node[amenity=cafe];out;", "pred": pred});
    let sparql = |pred: &str| json!({"gold": "SELECT ?x { ?x wdt:P31 wd:Q3957 }", "pred": pred, "lang": "sparql"});
    let records = scored(
        &town,
        &[
            overpass("node[amenty=cafe];out;"),
            overpass("node[amenity=cafe][name=Nowhere](if:t[\"cuisine\"]==1);out;"),
            overpass("node[amenity=cafe;out;"),
            sparql("SELECT ?x { ?x wdt:P999 wd:Q1 }"),
            sparql("SELECT ?y { ?y wdt:P31 wd:Q3957 }"),
        ],
        &[],
    );
    let unknown: Vec<Option<f64>> = records.iter().map(|record| record["unknown"].as_f64()).collect();
    assert_eq!(unknown, [Some(1.0), Some(0.4), None, Some(0.5), Some(0.0)]);
    assert!(records.iter().all(|record| record["unknown_gold"].as_f64() == Some(0.0)));
    let names = |at: usize| records[at]["unknown_identifiers"]["first"].clone();
    assert_eq!(names(0), json!(["amenty", "amenty=cafe"]));
    assert_eq!(names(1), json!(["cuisine", "name=Nowhere"]));
    assert_eq!(names(3), json!(["wdt:P999"]));
    assert_eq!(records[4]["canonical"], 1, "only the variable differs");
}

#[test]
fn order_counts_where_the_gold_sets_it() {
    let town = Town::with_triples();
    let sparql = |gold: &str, pred: &str| json!({"gold": gold, "pred": pred, "lang": "sparql"});
    let rows = |order: &str| format!("SELECT ?x {{ VALUES ?x {{ 1 2 3 }} }} {order}");
    let records = scored(
        &town,
        &[
            sparql(&rows("ORDER BY ?x"), &rows("ORDER BY DESC(?x)")),
            sparql(&rows("ORDER BY ?x"), &rows("ORDER BY ?x")),
            sparql(&rows(""), &rows("ORDER BY DESC(?x)")),
            sparql(&rows("ORDER BY ?x"), "SELECT"),
            json!({"gold": "node[amenity=cafe];out qt;", "pred": "node[amenity=cafe];out qt;"}),
            json!({"gold": "node[amenity=cafe];out asc;", "pred": "node(4);out;node(id:1,2,3);out;"}),
            json!({"gold": "node[amenity=cafe];out;", "pred": "node[amenity=cafe];out qt;"}),
        ],
        &[],
    );
    let scores: Vec<(Option<f64>, Option<f64>)> =
        records.iter().map(|record| (record["ndcg"].as_f64(), record["mrr"].as_f64())).collect();
    // The values of pytrec_eval.
    assert_eq!(scores[0], (Some(0.789_998_004_246), Some(0.333_333_333_333)));
    assert_eq!((scores[1], scores[2]), ((Some(1.0), Some(1.0)), (None, None)));
    assert_eq!((scores[3], scores[4]), ((Some(0.0), Some(0.0)), (None, None)), "qt sets no order");
    assert!(scores[5].0.unwrap() < 1.0 && scores[5].1 == Some(0.5), "{:?}", scores[5]);
    assert_eq!(records[5]["ex"], 1, "EX does not know the order");
    assert_eq!(scores[6], (None, None));
}

#[test]
fn failures_have_the_classes_of_table_1() {
    let town = Town::with_triples();
    let sparql = |pred: &str| json!({"gold": "ASK {}", "pred": pred, "lang": "sparql"});
    scored(&town, &[sparql("SELECT ?x { ?x no:p ?y }"), sparql("SELECT ?x {"), sparql(""), sparql("ASK {}")], &[]);
    let classes = json!({"parse exception": 2, "undefined prefix": 1});
    assert_eq!(summary(&town, "run")["published_errors"], classes);
}

#[test]
fn runs_of_one_system_are_grouped() {
    let town = Town::new();
    let gold = "node[amenity=cafe];out;\nway[highway];out;\n";
    std::fs::write(town.path("gold"), gold).unwrap();
    std::fs::write(town.path("half"), "node[amenity=cafe];out;\nnode;out;\n").unwrap();
    std::fs::write(town.path("gold.diff_len"), "1\n2\n").unwrap();
    for (out, pred, names) in [
        ("a", "gold", &["--model", "tuned", "--name", "seed 1", "--parameters", "135M"][..]),
        ("b", "half", &["--model", "tuned", "--name", "seed 2", "--parameters", "135M"]),
        ("c", "half", &["--model", "base", "--parameters", "7B"]),
    ] {
        let eval =
            ["eval", "overpassnl", "town.terrapin", "--gold", "gold", "--pred", pred, "--no-cache", "--out", out];
        good(&town, &[&eval[..], &["--difficulty", "gold.diff_len"], names].concat());
    }
    let board = ["leaderboard", "a", "b", "c", "--metrics", "ex", "--group"];
    let table = good(&town, &[&board[..], &["--html", "runs.html", "--plots", "plots"]].concat());
    let lines: Vec<&str> = table.lines().collect();
    // Python: statistics.stdev([100, 50]).
    assert!(lines[2].starts_with("| tuned | 75.00 ± 35.36 (50.0–100.0) |"), "{table}");
    assert!(lines[3].starts_with("| base | 50.00 (0.0–100.0) |"), "{table}");
    assert!(table.contains("± is the standard deviation over the runs of a system, at most 2 here"), "{table}");
    let page = std::fs::read_to_string(town.path("runs.html")).unwrap();
    assert!(page.contains("EX over parameters") && page.contains("EX over difficulty by len"), "{page}");
    assert!(town.path("plots/size.svg").exists() && town.path("plots/difficulty-len.svg").exists());
    let (status, _, said) =
        run(&town, &["eval", "overpassnl", "--gold", "gold", "--pred", "gold", "--parameters", "big"]);
    assert!(status == Some(2) && said.contains("135M or 7B"), "{said}");
}

/// Equal forms have equal answers: all pairs among the golds and predictions of the Malta benchmark.
#[test]
fn equal_canonical_forms_have_equal_answers() {
    let folder = place::shared().join("conformance/malta-benchmark");
    let extract = place::shared().join("data/osm/malta-2016.osm.pbf");
    if !folder.exists() || !extract.exists() {
        skip::skipped(skip::Need::Shared, format_args!("{} is not there", folder.display()));
        return;
    }
    let town = Town::new();
    good(&town, &["load", "--osm", extract.to_str().unwrap(), "--out", "malta.terrapin"]);
    let mut forms: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in ["gold.query", "pred.query"] {
        for query in read_lines(&folder.join(file)).unwrap() {
            if let Some(form) = canonical_form(&query, QueryLanguage::OverpassQl) {
                let texts = forms.entry(form).or_default();
                if !texts.contains(&query) {
                    texts.push(query);
                }
            }
        }
    }
    let pairs: Vec<(&String, &String)> =
        forms.values().flat_map(|texts| texts.iter().skip(1).map(move |other| (&texts[0], other))).collect();
    println!("{} forms, {} pairs of other texts", forms.len(), pairs.len());
    assert!(pairs.len() > 20, "the benchmark has queries in other words");
    let lines = |of: fn(&(&String, &String)) -> String| pairs.iter().map(of).collect::<Vec<_>>().join("\n");
    std::fs::write(town.path("gold"), lines(|(gold, _)| (*gold).clone())).unwrap();
    std::fs::write(town.path("pred"), lines(|(_, pred)| (*pred).clone())).unwrap();
    let eval =
        ["eval", "overpassnl", "malta.terrapin", "--gold", "gold", "--pred", "pred", "--no-cache", "--out", "run"];
    good(&town, &eval);
    for record in records(&town.path("run")) {
        let same = record["ex"] == 1 || record["multiset"] == 1 || record["error"] == record["ref_error"];
        assert!(same && record["ref_n"] == record["pred_n"], "{record:#}");
        assert_eq!(record["canonical"], 1);
    }
}
