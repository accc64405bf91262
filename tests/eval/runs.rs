//! Tests runs of `terrapin eval`: shards, comparison, verification, and any benchmark from JSON lines.

use std::path::{Path, PathBuf};

use super::same::assert_same_run;
use crate::common;
use crate::common::Town;
use serde_json::Value;

struct EvalRunFiles {
    town: Town,
}

impl EvalRunFiles {
    /// Creates ten lines, with right and wrong predictions.
    fn new() -> EvalRunFiles {
        let files = EvalRunFiles { town: Town::new() };
        let gold = |i: usize| format!("[out:json];node[amenity=cafe](if:id()>={});out;\n", i % 4);
        let pred = |i: usize| match i % 5 {
            0 => "node[amenity=cafe;out;\n".to_owned(),
            1 => "node[amenity=cafe](if:id()>=2);out 1;\n".to_owned(),
            2 => "{{geocodeArea:Spoon}}->.a;node(area.a)[amenity];out;\n".to_owned(),
            _ => gold(i),
        };
        files.write("gold", &(0..10).map(gold).collect::<String>());
        files.write("pred", &(0..10).map(pred).collect::<String>());
        files.write("other", &(0..10).map(|i| if i == 3 { pred(0) } else { gold(i) }).collect::<String>());
        files.write("dev.diff_len", &(0..10).map(|i| format!("{}.25\n", i * 7 % 10)).collect::<String>());
        files.write("places", r#"{"Spoon": {"osm_id": 31, "osm_type": "relation"}, "Fork": null}"#);
        files
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.town.path(name), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.town.path(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Scores a file of predictions into a folder.
    fn score(&self, pred: &str, out: &str, more: &[&str]) {
        let mut args: Vec<String> = ["eval", "overpassnl"].map(str::to_owned).into();
        args.push(self.town.snapshot().to_str().unwrap().to_owned());
        for (flag, file) in [
            ("--gold", "gold"),
            ("--pred", pred),
            ("--difficulty", "dev.diff_len"),
            ("--places", "places"),
            ("--out", out),
        ] {
            args.extend([flag.to_owned(), self.text(file)]);
        }
        common::terrapin().args(args).args(more).assert().success();
    }
}

fn object(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn shards_and_threads_do_not_show() {
    let files = EvalRunFiles::new();
    files.score("pred", "whole", &[]);
    let folders: Vec<String> = (1..=4)
        .map(|number| {
            let (out, shard) = (format!("part{number}"), format!("{number}/4"));
            files.score("pred", &out, &["--shard", &shard]);
            files.text(&out)
        })
        .collect();
    common::terrapin().args(["eval", "merge", "--out", &files.text("merged")]).args(&folders).assert().success();
    assert_same_run(&files.town, "whole", "merged");
    // A part is missing.
    let short = common::terrapin().args(["eval", "merge", "--out", "x"]).args(&folders[1..]).output().unwrap();
    assert_eq!(short.status.code(), Some(3));

    assert!(!files.path("whole/journal.jsonl").exists());
    files.score("pred", "again", &["--threads", "1"]);
    assert_same_run(&files.town, "whole", "again");
    let summary = object(&files.path("whole/summary.json"));
    assert_eq!((summary["ex"].as_f64(), summary["limited"].as_u64()), (Some(40.0), Some(2)));
    assert_eq!(summary["errors"], serde_json::json!({"parse_error": 2}));
    assert_eq!(summary["difficulty"]["len"]["hard"]["n"], 3);
}

#[test]
fn a_published_run_stands_or_not() {
    let files = EvalRunFiles::new();
    files.score("pred", "run", &[]);
    let verify = |more: &[&str]| {
        let done = common::terrapin().args(["eval", "verify", &files.text("run")]).args(more).output().unwrap();
        (done.status.code(), String::from_utf8(done.stdout).unwrap())
    };
    let snapshot = files.town.snapshot();
    let (status, said) = verify(&[snapshot.to_str().unwrap()]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("0 differences in all"), "{said}");

    let summary = files.path("run/summary.json");
    let text = std::fs::read_to_string(&summary).unwrap();
    std::fs::write(&summary, text.replacen("\"ex\": 40.0", "\"ex\": 60.0", 1)).unwrap();
    let results = files.path("run/results.jsonl");
    let text = std::fs::read_to_string(&results).unwrap();
    std::fs::write(&results, text.replacen("\"kvs\":1.0", "\"kvs\":0.5", 1)).unwrap();
    let (status, said) = verify(&[]);
    assert_eq!(status, Some(1));
    assert!(said.contains("summary.json: ex: stored 60.0, recomputed 40.0"), "{said}");
    assert!(said.contains(": kvs: stored 0.5, recomputed 1.0"), "{said}");
}

#[test]
fn what_got_better_and_what_worse() {
    let files = EvalRunFiles::new();
    files.score("pred", "first", &[]);
    files.score("other", "second", &[]);
    let compare = |more: &[&str]| {
        let folders = [files.text("first"), files.text("second")];
        String::from_utf8(
            common::terrapin().args(["eval", "compare"]).args(folders).args(more).output().unwrap().stdout,
        )
        .unwrap()
    };
    let changes: Value = serde_json::from_str(&compare(&["--json"])).unwrap();
    let ex = changes["changes"].as_array().unwrap().iter().find(|change| change["metric"] == "ex").unwrap();
    assert_eq!(
        (ex["first"].as_f64(), ex["second"].as_f64(), ex["difference"].as_f64()),
        (Some(40.0), Some(90.0), Some(50.0))
    );
    assert_eq!(ex["worse"], serde_json::json!([4]));
    assert_eq!(ex["better"], serde_json::json!([1, 2, 3, 6, 7, 8]));
    let text = compare(&[]);
    assert!(text.contains("worse by ex: 1\n  line 4\n") && text.contains("-> parse_error"), "{text}");
    assert!(compare(&["--by", "nope"]).is_empty());
}

#[test]
fn any_benchmark_from_json_lines() {
    let files = EvalRunFiles::new();
    files.write(
        "mine.jsonl",
        r#"{"id": "a", "gold": "node[amenity=cafe];out;", "pred": "node[amenity=cafe]({{bbox}});out;", "bbox": "10,20,10.01,20.1"}
{"id": 2, "gold": "{{geocodeArea:Fork}}->.a;node(area.a)[amenity=cafe];out;", "pred": "node[amenity=cafe];out;", "places": {"Fork": {"osm_id": 31, "osm_type": "relation"}}}

{"id": "c", "gold": "node(4);out;", "pred": "node({{bbox}});out;"}
"#,
    );
    let snapshot = files.town.snapshot();
    let args = ["eval", "jsonl", snapshot.to_str().unwrap(), &files.text("mine.jsonl"), "--out", &files.text("out")];
    common::terrapin().args(args).assert().success();
    let lines = std::fs::read_to_string(files.path("out/results.jsonl")).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let field = |name: &str| lines.iter().map(|line| line[name].clone()).collect::<Vec<_>>();
    assert_eq!(field("id"), ["a", "2", "c"]);
    assert_eq!(field("ref_n"), [4.into(), 3.into(), Value::Null]);
    assert_eq!(field("pred_n"), [3, 4, -1]);
    assert_eq!(lines[2]["error"], "static_error_bbox");
    assert!((lines[0]["f1"].as_f64().unwrap() - 6.0 / 7.0).abs() < 1e-9);
    let verified =
        common::terrapin().args(["eval", "verify", &files.text("out"), snapshot.to_str().unwrap()]).output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

#[test]
fn sparql_from_json_lines() {
    let town = Town::with_triples();
    let gold = "SELECT ?x ?n { ?x wdt:P31 wd:Q3957; rdfs:label ?n }";
    let preds = [
        gold,
        // Other names in another order.
        "SELECT ?name ?town { ?town rdfs:label ?name }",
        "SELECT ?x { ?x wdt:P31 wd:Q3957 }",
        "SELECT ?x { ?x wdt:P31 wd:Q3957 ",
        "SELECT * { SERVICE <http://example.org/sparql> { ?s ?p ?o } }",
        "SELECT ?x ?n { ?x wdt:P31 wd:Q1; rdfs:label ?n }",
    ];
    let line = |pred: &&str| {
        format!("{}\n", serde_json::json!({"gold": gold, "pred": pred, "lang": "sparql", "complexity": "simple"}))
    };
    std::fs::write(town.path("lines"), preds.iter().map(line).collect::<String>()).unwrap();
    let [snapshot, lines, out] = [town.snapshot(), town.path("lines"), town.path("out")];
    let args = ["eval", "jsonl", snapshot.to_str().unwrap(), lines.to_str().unwrap(), "--out", out.to_str().unwrap()];
    common::terrapin().args(args).assert().success();
    let records = std::fs::read_to_string(out.join("results.jsonl")).unwrap();
    let scored: Vec<Value> =
        records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["strict"].take()).collect();
    let of = |name: &str| scored.iter().map(|strict| strict[name].as_f64().unwrap()).collect::<Vec<_>>();
    assert_eq!(of("syntax"), [1.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
    assert_eq!(of("jaccard"), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(of("multiset"), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(of("f1"), [1.0, 1.0, 0.5, 0.0, 0.0, 0.0]);
    assert_eq!((&scored[3]["error"], &scored[4]["error"]), (&Value::from("syntax"), &Value::from("unsupported")));
    let summary = object(&out.join("summary.json"));
    assert_eq!(summary["sparql"]["errors"], serde_json::json!({"syntax": 1, "unsupported": 1}));
    assert!((summary["complexity"]["simple"]["strict.f1"].as_f64().unwrap() - 250.0 / 6.0).abs() < 1e-9);
    let verify = ["eval", "verify", out.to_str().unwrap(), snapshot.to_str().unwrap()];
    common::terrapin().args(verify).assert().success();
    if cfg!(feature = "cache") {
        let again = common::terrapin().args(args).output().unwrap();
        let said = String::from_utf8(again.stdout).unwrap();
        assert!(said.contains("from the cache") && said.contains("(100 %)"), "{said}");
        assert_eq!(std::fs::read_to_string(out.join("results.jsonl")).unwrap(), records);
    }
}

/// The dialect of a run is that of all instances without one of their own, and part of its identity.
#[test]
fn sparql_has_a_dialect() {
    let town = Town::with_triples();
    let words = "SELECT ?t { ?t ql:contains-word 'ladle' }";
    let line = |dialect: Option<&str>| {
        let mut line = serde_json::json!({"gold": "SELECT ?n { ?x rdfs:label ?n }", "pred": words, "lang": "sparql"});
        if let Some(dialect) = dialect {
            line["dialect"] = dialect.into();
        }
        format!("{line}\n")
    };
    std::fs::write(town.path("lines"), [None, Some("wdqs"), Some("QLever")].map(line).concat()).unwrap();
    let [snapshot, lines] = [town.snapshot(), town.path("lines")];
    let run = |dialect: &str, right: [f64; 3]| {
        let out = town.path(dialect);
        let args =
            ["eval", "jsonl", snapshot.to_str().unwrap(), lines.to_str().unwrap(), "--out", out.to_str().unwrap()];
        common::terrapin().args(args).args(["--dialect", dialect]).assert().success();
        let records = std::fs::read_to_string(out.join("results.jsonl")).unwrap();
        let found: Vec<f64> = records
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["strict"]["f1"].as_f64().unwrap())
            .collect();
        assert_eq!(found, right, "{dialect}");
        let verify = ["eval", "verify", out.to_str().unwrap(), snapshot.to_str().unwrap()];
        common::terrapin().args(verify).assert().success();
        object(&out.join("run.json"))["dialect"].clone()
    };
    assert_eq!(run("auto", [1.0, 0.0, 1.0]), Value::Null);
    assert_eq!(run("qlever", [1.0, 0.0, 1.0]), "qlever");
    assert_eq!(run("standard", [0.0, 0.0, 1.0]), "standard");
    // Another dialect is another run.
    let [auto, lines] = [town.path("auto"), lines];
    let args = ["eval", "jsonl", snapshot.to_str().unwrap(), lines.to_str().unwrap(), "--out", auto.to_str().unwrap()];
    let done = common::terrapin().args(args).args(["--dialect", "wdqs"]).output().unwrap();
    let error = String::from_utf8(done.stderr).unwrap();
    assert!(!done.status.success() && error.contains("its dialect is auto"), "{error}");
}

#[test]
fn of_both_languages_what_was_compared_is_compared_again() {
    let town = Town::with_triples();
    let lines = r#"{"gold": "node[amenity=cafe];out;", "pred": "node[amenity=cafe];out 1;"}
{"gold": "SELECT ?x { ?x wdt:P31 wd:Q3957 }", "pred": "ASK { }", "lang": "sparql"}
"#;
    std::fs::write(town.path("lines"), lines).unwrap();
    let [snapshot, lines, out] = [town.snapshot(), town.path("lines"), town.path("out")];
    let args = ["eval", "jsonl", snapshot.to_str().unwrap(), lines.to_str().unwrap(), "--out", out.to_str().unwrap()];
    common::terrapin().args(args).assert().success();
    // An unknown number in a record belongs to another program and is ignored.
    let results = out.join("results.jsonl");
    let text = std::fs::read_to_string(&results).unwrap();
    std::fs::write(&results, text.replacen("\"chrf\"", "\"mine\":0.5,\"chrf\"", 1)).unwrap();
    let verify = |more: &[&str]| {
        let done = common::terrapin().args(["eval", "verify", out.to_str().unwrap()]).args(more).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    };
    verify(&[]);
    verify(&[snapshot.to_str().unwrap()]);
}
