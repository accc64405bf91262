//! Compares chrF, KVS, TreeS, OQS and exact match with the results of the OverpassNL authors' evaluation code.

use std::path::PathBuf;

use crate::common::place;
use crate::common::skip;
use serde_json::Value;
use terrapin::eval::benchmarks::overpassnl::{similarity, without_shortcuts};
use terrapin::eval::input::read_lines;
use terrapin::eval::record::Scores;
use terrapin::overpass::convert::{ConversionForm, convert};

/// Returns a file of the shared data, or `None` if it is missing.
fn shared(part: &str) -> Option<PathBuf> {
    let root = place::shared();
    let path = root.join(part);
    if path.exists() {
        return Some(path);
    }
    skip::skipped(skip::Need::Shared, format_args!("{} is not there", path.display()));
    None
}

const NAMES: [&str; 5] = ["chrf", "kvs", "trees", "oqs", "em"];

fn close(scores: &Scores, expected: &Value) -> bool {
    NAMES.iter().all(|name| (scores.get(name).unwrap() - expected[name].as_f64().unwrap()).abs() < 1.001e-6)
}

/// Returns whether both queries convert without problems.
fn valid(gold: &str, pred: &str) -> bool {
    [gold, pred].iter().all(|query| {
        convert(&without_shortcuts(query.trim()), ConversionForm::Xml)
            .is_ok_and(|converted| converted.problems.is_none())
    })
}

fn compare(gold: &str, pred: &str, scores: &str) {
    let (Some(gold), Some(pred), Some(expected)) = (shared(gold), shared(pred), shared(scores)) else { return };
    let summary = shared(&scores.replace(".jsonl", ".summary.json")).unwrap();
    let (gold, pred) = (read_lines(&gold).unwrap(), read_lines(&pred).unwrap());
    let expected: Vec<Value> =
        read_lines(&expected).unwrap().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((gold.len(), pred.len()), (expected.len(), expected.len()));
    let (mut sums, mut differing, mut broken) = ([0.0; 5], Vec::new(), Vec::new());
    for ((gold, pred), expected) in gold.iter().zip(&pred).zip(&expected) {
        let scores = similarity(gold, pred);
        for (sum, name) in sums.iter_mut().zip(NAMES) {
            *sum += scores.get(name).unwrap();
        }
        if !close(&scores, expected) {
            if valid(gold, pred) {
                differing.push(format!("{}: {scores:?}", expected["line"]));
            } else {
                broken.push(&expected["line"]);
            }
        }
    }
    println!("{scores}: {} valid lines differ; of those with errors {broken:?}", differing.len());
    assert!(differing.is_empty(), "{differing:#?}");
    let published: Value = serde_json::from_slice(&std::fs::read(summary).unwrap()).unwrap();
    for (name, sum) in NAMES.iter().zip(sums) {
        let (mean, expected) = (100.0 * sum / expected.len() as f64, published[name].as_f64().unwrap());
        println!("{name} {mean} {expected}");
        assert!((mean - expected).abs() < 0.05, "{name}: {mean}, published {expected}");
    }
}

#[test]
fn the_malta_benchmark_is_as_published() {
    let folder = "conformance/malta-benchmark";
    compare(&format!("{folder}/gold.query"), &format!("{folder}/pred.query"), &format!("{folder}/oqs.jsonl"));
}

#[test]
fn the_dev_split_is_as_published() {
    let folder = "conformance/malta-benchmark";
    compare(
        "data/overpassnl/dataset.dev.query",
        &format!("{folder}/dev-pred.query"),
        &format!("{folder}/dev-oqs.jsonl"),
    );
}
