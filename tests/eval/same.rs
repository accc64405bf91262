//! Compares runs.

use crate::common::Town;

/// The files of a run that do not depend on time.
const FILES: [&str; 8] = [
    "run.json",
    "instances.jsonl",
    "places.json",
    "results.jsonl",
    "map.jsonl",
    "summary.json",
    "report.html",
    "plots/scores.svg",
];

/// Compares the files of two runs in folders of a town.
#[track_caller]
pub fn assert_same_run(town: &Town, a: &str, b: &str) {
    for file in FILES {
        let [a, b] = [a, b].map(|folder| std::fs::read(town.path(folder).join(file)).unwrap());
        assert!(a == b, "{file} differs");
    }
}
