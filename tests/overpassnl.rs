//! The Malta benchmark: what the OverpassNL authors' evaluation code computed on the reference, against `terrapin eval`.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;
use terrapin::eval::benchmarks::overpassnl::prepare;
use terrapin::eval::input::read_lines;
use terrapin::places::Table;

/// A file or folder of the shared data, or `None` where it is not there.
fn shared(part: &str) -> Option<PathBuf> {
    let root = std::env::var_os("TERRAPIN_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let path = root.join(part);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not there", path.display());
    None
}

fn json_lines(path: &Path) -> Vec<Value> {
    read_lines(path).unwrap().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn terrapin(args: &[&str]) -> Output {
    Command::cargo_bin("terrapin").unwrap().args(args).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn prepares_every_line_as_published() {
    let Some(folder) = shared("conformance/malta-benchmark") else { return };
    let places = Table::default();
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

/// Whether a record says what the published code computed for its line. Shares are the same but for how JSON
/// readers round.
fn agrees(record: &Value, expected: &Value) -> bool {
    let number = |of: &Value, field: &str| of[field].as_f64().unwrap();
    ["line", "ref", "pred", "ref_n", "pred_n", "ex", "error"].iter().all(|field| record[field] == expected[field])
        && (number(record, "ex_soft") - number(expected, "ex_soft")).abs() < 1e-12
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

    let run = |threads: &str| {
        let out = scratch.path().join(threads);
        let (gold, pred) = (folder.join("gold.query"), folder.join("pred.query"));
        let done = terrapin(&[
            "eval",
            "overpassnl",
            text(&snapshot),
            "--gold",
            text(&gold),
            "--pred",
            text(&pred),
            "--threads",
            threads,
            "--out",
            text(&out),
        ]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let summary = std::fs::read_to_string(out.join("summary.json")).unwrap();
        let mut records = json_lines(&out.join("results.jsonl"));
        for record in &mut records {
            assert!(record.as_object_mut().unwrap().remove("ms").is_some());
        }
        (summary, records)
    };
    let (summary, records) = run("2");
    assert_eq!((&summary, &records), (&run("1").0, &run("1").1), "the result depends on the number of threads");

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

    let summary: Value = serde_json::from_str(&summary).unwrap();
    let published: Value = serde_json::from_slice(&std::fs::read(folder.join("ex.summary.json")).unwrap()).unwrap();
    for (field, value) in published.as_object().unwrap() {
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
