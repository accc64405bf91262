//! Compares `terrapin eval` on the Malta benchmark with the results that the OverpassNL authors' evaluation code
//! computed on the reference.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common;
use crate::common::Town;
use crate::common::place;
use crate::common::skip;
use serde_json::Value;
use tempfile::TempDir;
use terrapin::eval::benchmarks::overpassnl::prepare;
use terrapin::eval::input::read_lines;
use terrapin::geocoder::PlaceTable;

/// Returns a file or folder of the shared data, or `None` if it is missing.
fn shared(part: &str) -> Option<PathBuf> {
    let root = place::shared();
    let path = root.join(part);
    if path.exists() {
        return Some(path);
    }
    skip::skipped(skip::Need::Shared, format_args!("{} is not there", path.display()));
    None
}

fn json_lines(path: &Path) -> Vec<Value> {
    read_lines(path).unwrap().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn terrapin(args: &[&str]) -> Output {
    common::terrapin().args(args).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn prepares_every_line_as_published() {
    let Some(folder) = shared("conformance/malta-benchmark") else { return };
    let places = PlaceTable::default();
    let expected = json_lines(&folder.join("ex.jsonl"));
    for (file, field) in [("gold.query", "ref"), ("pred.query", "pred")] {
        let lines = read_lines(&folder.join(file)).unwrap();
        assert_eq!(lines.len(), expected.len());
        for (line, expected) in lines.iter().zip(&expected) {
            let prepared = prepare(line, Some("1,2,3,4"), &places).unwrap();
            assert_eq!(Some(prepared.as_str()), expected[field].as_str(), "{file}, line {}", expected["line"]);
        }
    }
}

/// Returns whether a record equals the result of the published code for its line. Shares may differ by the rounding of
/// JSON readers.
fn agrees(record: &Value, expected: &Value) -> bool {
    let number = |of: &Value, field: &str| of[field].as_f64().unwrap();
    ["line", "ref", "pred", "ref_n", "pred_n", "ex", "error"].iter().all(|field| record[field] == expected[field])
        && (number(record, "ex_soft") - number(expected, "ex_soft")).abs() < 1e-12
}

/// Runs `terrapin eval`; returns the summary and the records.
fn score(snapshot: &Path, gold: &Path, pred: &Path, more: &[&str], out: &Path) -> (Value, Vec<Value>) {
    let mut args = vec!["eval", "overpassnl", text(snapshot), "--gold", text(gold), "--pred", text(pred)];
    args.extend(["--out", text(out)]);
    args.extend(more);
    let done = terrapin(&args);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let summary = serde_json::from_slice(&std::fs::read(out.join("summary.json")).unwrap()).unwrap();
    (summary, json_lines(&out.join("results.jsonl")))
}

#[test]
fn scores_the_malta_benchmark_as_published() {
    let (Some(folder), Some(extract)) = (shared("conformance/malta-benchmark"), shared("data/osm/malta-2016.osm.pbf"))
    else {
        return;
    };
    let scratch = TempDir::new().unwrap();
    let snapshot = scratch.path().join("malta-2016.terrapin");
    let loaded = terrapin(&["load", "--osm", text(&extract), "--out", text(&snapshot)]);
    assert!(loaded.status.success(), "{}", String::from_utf8_lossy(&loaded.stderr));

    let (gold, pred) = (folder.join("gold.query"), folder.join("pred.query"));
    let (summary, records) = score(&snapshot, &gold, &pred, &["--threads", "2"], &scratch.path().join("all"));

    // Score some of the lines again on one thread.
    let head = |path: &Path, name: &str| {
        let part = scratch.path().join(name);
        std::fs::write(&part, read_lines(path).unwrap()[..50].join("\n")).unwrap();
        part
    };
    let (gold, pred) = (head(&gold, "gold"), head(&pred, "pred"));
    let (_, again) = score(&snapshot, &gold, &pred, &["--threads", "1"], &scratch.path().join("some"));
    assert_eq!(again, records[..50], "the results depend on the number of threads");

    let expected = json_lines(&folder.join("ex.jsonl"));
    assert_eq!(records.len(), expected.len());
    let differing: Vec<&Value> = records
        .iter()
        .zip(&expected)
        .filter(|(record, expected)| !agrees(record, expected))
        .map(|(r, _)| &r["line"])
        .collect();
    println!("{} lines differ: {differing:?}", differing.len());
    assert!(differing.is_empty(), "lines that differ: {differing:?}");

    let published = ["ex.summary.json", "oqs.summary.json"]
        .map(|name| serde_json::from_slice::<Value>(&std::fs::read(folder.join(name)).unwrap()).unwrap());
    for (field, value) in published.iter().flat_map(|published| published.as_object().unwrap()) {
        match value.as_f64() {
            Some(number) => assert!((summary[field].as_f64().unwrap() - number).abs() < 1e-9, "{field}"),
            None => assert_eq!(&summary[field], value, "{field}"),
        }
    }
}

#[test]
fn files_that_do_not_belong_together_are_named() {
    let scratch = TempDir::new().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = scratch.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    let gold = file("gold", b"node(1);out;\nnode(2);out;\n");
    let cases = [
        (file("short", b"node(1);out;\n"), "short: 1 lines, but"),
        (file("broken", b"node(1);out;\nno\xffde;\n"), "broken: line 2: not UTF-8 (byte 3 of the line)"),
        (scratch.path().join("absent"), "absent: "),
    ];
    for (pred, message) in cases {
        let out = scratch.path().join("out");
        let done = terrapin(&[
            "eval",
            "overpassnl",
            "no.terrapin",
            "--gold",
            text(&gold),
            "--pred",
            text(&pred),
            "--out",
            text(&out),
        ]);
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(3), "{said}");
        assert!(said.contains(message), "{said}");
        assert!(!out.exists());
    }
}

#[test]
fn names_lead_to_the_table_then_to_the_snapshots_areas() {
    let town = Town::new();
    let query = |name: &str, bbox: &str| {
        format!("[out:json];{{{{geocodeArea:{name}}}}}->.a;node[amenity=cafe](area.a){bbox};out;\n")
    };
    let file = |name: &str, content: &str| {
        let path = town.path(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    // The table has another name for the town, and one name without a place.
    let gold = file("gold", &query("Ladle", "").repeat(4));
    let pred = file(
        "pred",
        &[query("Ladle", "({{bbox}})"), query("Spoon", ""), query("Fork", ""), query("Knife", "")].concat(),
    );
    let boxes = file("boxes", &"10,20,10.0025,20.1\n".repeat(4));
    let places = file("places", r#"{"Spoon": {"osm_id": 31, "osm_type": "relation"}, "Fork": null}"#);
    let more = ["--bbox", text(&boxes), "--places", text(&places)];
    let (summary, records) = score(&town.snapshot(), &gold, &pred, &more, &town.path("out"));
    let field = |name: &str| records.iter().map(|r| r[name].clone()).collect::<Vec<_>>();
    assert_eq!(field("ref_n"), [3.into(), 3.into(), Value::Null, Value::Null]);
    assert_eq!(field("ex"), [0, 1, 0, 0]);
    assert_eq!(field("error"), [Value::Null, Value::Null, "nominatim".into(), "nominatim".into()]);
    assert_eq!(records[0]["missing"], serde_json::json!(["node/3"]));
    assert!((records[0]["ex_soft"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(summary["errors"], serde_json::json!({"nominatim": 2}));
    assert_eq!(summary["snapshot"].as_str().map(str::len), Some(64));
}
