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
