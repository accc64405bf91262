//! Runs the W3C's test suite of SPARQL queries on a snapshot and on the evaluator alone. A snapshot must pass every
//! test that the evaluator passes, except for those listed here.
//!
//! Needs TERRAPIN_W3C, the folder `sparql` of a copy of <https://github.com/w3c/rdf-tests>.

mod answer;
mod manifest;
mod ours;
mod reference;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::common::skip;
use manifest::W3cTestKind;

/// Tests that the evaluator passes and a snapshot does not, by the end of their names. The reason is the same for all:
/// a value is stored in its canonical form only, and its original notation is lost. Oxigraph's store does the same, and
/// public answers were recorded with it.
const EXCEPTIONS: &[&str] = &[
    "distinct/manifest#distinct-1",
    "distinct/manifest#distinct-9",
    "expr-builtin/manifest#sameTerm-simple",
    "expr-builtin/manifest#sameTerm-eq",
    "expr-builtin/manifest#sameTerm-not-eq",
    "expr-equals/manifest#eq-graph-1",
    "expr-equals/manifest#eq-graph-2",
    "open-world/manifest#open-eq-01",
];

#[test]
fn what_the_evaluator_passes_a_snapshot_passes() {
    let Some(root) = std::env::var_os("TERRAPIN_W3C").map(PathBuf::from) else {
        skip::skipped(skip::Need::W3c, "TERRAPIN_W3C is not set");
        return;
    };
    let mut counts: BTreeMap<(&str, W3cTestKind), [usize; 4]> = BTreeMap::new();
    let mut failures = Vec::new();
    let mut excused = Vec::new();
    for suite in ["sparql10", "sparql11"] {
        for test in manifest::tests(&root.join(suite)) {
            let theirs = reference::passes(&test);
            let outcome = ours::passes(&test);
            let count = counts.entry((suite, test.kind)).or_default();
            count[0] += 1;
            count[1] += usize::from(theirs);
            count[2] += usize::from(outcome.is_ok());
            if !theirs && std::env::var_os("TERRAPIN_ALL").is_some() {
                let why = outcome.as_ref().err().map_or(", which we pass", |why| why.get(..400).unwrap_or(why));
                println!("the evaluator fails {} {why}", test.name);
            }
            if let (true, Err(why)) = (theirs, outcome) {
                count[3] += 1;
                match EXCEPTIONS.iter().find(|name| test.name.ends_with(**name)) {
                    Some(name) => excused.push(*name),
                    None => failures.push(format!("{}: {}", test.name, why.chars().take(400).collect::<String>())),
                }
            }
        }
    }
    println!("{:<10} {:<16} {:>5} {:>10} {:>5} {:>11}", "suite", "kind", "tests", "evaluator", "ours", "only theirs");
    for ((suite, kind), [tests, theirs, ours, lost]) in &counts {
        println!("{suite:<10} {:<16} {tests:>5} {theirs:>10} {ours:>5} {lost:>11}", format!("{kind:?}"));
    }
    assert!(failures.is_empty(), "{} unexplained:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(excused, EXCEPTIONS, "an exception is none any more");
    assert!(!counts.is_empty(), "no tests in {}", root.display());
}
