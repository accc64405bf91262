//! The W3C's test suite of SPARQL queries, beside the evaluator on its own: what that passes, a snapshot passes too, but
//! for the exceptions listed here with their reasons.
//!
//! Runs where TERRAPIN_W3C is the folder `sparql` of a copy of <https://github.com/w3c/rdf-tests>.

mod w3c {
    pub mod answer;
    pub mod manifest;
    pub mod ours;
    pub mod reference;
}

use std::collections::BTreeMap;
use std::path::PathBuf;

use w3c::manifest::{self, Kind, Test};
use w3c::{ours, reference};

/// Oxigraph's store does the same, and public answers were recorded with it.
const CANONICAL: &str = "a value has one form, its canonical one: how it was written is not kept";

/// Tests that the evaluator passes and a snapshot does not: the end of their name, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("distinct/manifest#no-distinct-1", CANONICAL),
    ("distinct/manifest#distinct-1", CANONICAL),
    ("distinct/manifest#no-distinct-9", CANONICAL),
    ("distinct/manifest#distinct-9", CANONICAL),
    ("expr-builtin/manifest#dawg-datatype-1", CANONICAL),
    ("expr-builtin/manifest#sameTerm-simple", CANONICAL),
    ("expr-builtin/manifest#sameTerm-eq", CANONICAL),
    ("expr-builtin/manifest#sameTerm-not-eq", CANONICAL),
    ("expr-equals/manifest#eq-2-1", CANONICAL),
    ("expr-equals/manifest#eq-graph-1", CANONICAL),
    ("expr-equals/manifest#eq-graph-2", CANONICAL),
    ("expr-equals/manifest#eq-2-2", CANONICAL),
    ("open-world/manifest#open-eq-01", CANONICAL),
    ("open-world/manifest#open-eq-03", CANONICAL),
    ("open-world/manifest#open-eq-04", CANONICAL),
    ("open-world/manifest#date-3", CANONICAL),
    ("sort/manifest#dawg-sort-7", CANONICAL),
    ("cast/manifest#cast-bool", CANONICAL),
    ("cast/manifest#cast-int", CANONICAL),
    ("cast/manifest#cast-string", CANONICAL),
    ("functions/manifest#plus-2-corrected", CANONICAL),
];

/// Why a test may fail, where it is known.
fn reason(test: &Test) -> Option<&'static str> {
    EXCEPTIONS.iter().find(|(name, _)| test.name.ends_with(name)).map(|(_, reason)| *reason)
}

#[test]
fn what_the_evaluator_passes_a_snapshot_passes() {
    let Some(root) = std::env::var_os("TERRAPIN_W3C").map(PathBuf::from) else {
        println!("skipped: TERRAPIN_W3C is not set");
        return;
    };
    let mut counts: BTreeMap<(&str, Kind), [usize; 4]> = BTreeMap::new();
    let mut failures = Vec::new();
    let mut excused: BTreeMap<&str, usize> = BTreeMap::new();
    for suite in ["sparql10", "sparql11"] {
        for test in manifest::tests(&root.join(suite)) {
            let theirs = reference::passes(&test);
            let outcome = ours::passes(&test);
            let count = counts.entry((suite, test.kind)).or_default();
            count[0] += 1;
            count[1] += usize::from(theirs);
            count[2] += usize::from(outcome.is_ok());
            if !theirs && std::env::var_os("TERRAPIN_ALL").is_some() {
                println!("the evaluator fails {}{}", test.name, if outcome.is_ok() { ", which we pass" } else { "" });
            }
            if let (true, Err(why)) = (theirs, outcome) {
                count[3] += 1;
                match reason(&test) {
                    Some(reason) => *excused.entry(reason).or_default() += 1,
                    None => failures.push(format!("{}: {}", test.name, why.chars().take(400).collect::<String>())),
                }
            }
        }
    }
    println!("{:<10} {:<16} {:>5} {:>10} {:>5} {:>11}", "suite", "kind", "tests", "evaluator", "ours", "only theirs");
    for ((suite, kind), [tests, theirs, ours, lost]) in &counts {
        println!("{suite:<10} {:<16} {tests:>5} {theirs:>10} {ours:>5} {lost:>11}", format!("{kind:?}"));
    }
    for (reason, count) in &excused {
        println!("{count} excused: {reason}");
    }
    assert!(failures.is_empty(), "{} unexplained:\n{}", failures.len(), failures.join("\n"));
    assert!(!counts.is_empty(), "no tests in {}", root.display());
}
