//! The Malta benchmark: what the OverpassNL authors' evaluation code computed on the reference, against this one.

use std::path::PathBuf;

use serde_json::Value;
use terrapin::eval::benchmarks::overpassnl::prepare;
use terrapin::eval::input::read_lines;
use terrapin::places::Table;

/// A folder of the shared data, or `None` where there is none.
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

fn expected(folder: &std::path::Path) -> Vec<Value> {
    let lines = read_lines(&folder.join("ex.jsonl")).unwrap();
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn prepares_every_line_as_published() {
    let Some(folder) = shared("conformance/malta-benchmark") else { return };
    let places = Table::default();
    for (file, field) in [("gold.query", "ref"), ("pred.query", "pred")] {
        let lines = read_lines(&folder.join(file)).unwrap();
        let expected = expected(&folder);
        assert_eq!(lines.len(), expected.len());
        for (line, expected) in lines.iter().zip(&expected) {
            let prepared = prepare(line, Some("1,2,3,4"), &places).unwrap();
            assert_eq!(Some(prepared.as_str()), expected[field].as_str(), "{file}, line {}", expected["line"]);
        }
    }
}
