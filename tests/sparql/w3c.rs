//! Runs the W3C's test suites of SPARQL 1.0, 1.1 and 1.2 with the program, on snapshots.
//!
//! Needs TERRAPIN_W3C, the folder `sparql` of a copy of <https://github.com/w3c/rdf-tests>.

mod answer;
mod manifest;
mod program;
mod protocol;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::skip;
use manifest::{W3cTest, W3cTestKind};
use program::Pass;

/// The tests that the default dialect answers as the Wikidata Query Service would, by the end of their names, with the
/// reason. `docs/reference/sparql.md` explains them.
const DIFFERENCES: &[(&str, &str)] = &[
    ("algebra/manifest#join-combo-2", GRAPHS),
    ("cast/manifest#cast-dT", "a cast to xsd:dateTime takes a day"),
    ("graph/manifest#dawg-graph-02", GRAPHS),
    ("graph/manifest#dawg-graph-05", GRAPHS),
    ("graph/manifest#dawg-graph-07", GRAPHS),
    ("graph/manifest#dawg-graph-08", GRAPHS),
    ("graph/manifest#dawg-graph-09", GRAPHS),
    ("graph/manifest#dawg-graph-10b", GRAPHS),
    ("graph/manifest#dawg-graph-11", GRAPHS),
    ("open-world/manifest#date-1", DATES),
    ("open-world/manifest#date-3", DATES),
    ("syntax-sparql3/manifest#syn-bad-26", "a `<` without a space compares where the standard reads an IRI"),
    ("aggregates/manifest#agg08", UNGROUPED),
    ("aggregates/manifest#agg09", UNGROUPED),
    ("aggregates/manifest#agg10", UNGROUPED),
    ("aggregates/manifest#agg11", UNGROUPED),
    ("aggregates/manifest#agg12", UNGROUPED),
    ("grouping/manifest#group06", UNGROUPED),
    ("grouping/manifest#group07", UNGROUPED),
    ("syntax-query/manifest#test_44", UNGROUPED),
    ("syntax-query/manifest#test_45", ALIAS),
    ("syntax-query/manifest#test_60", BIND),
    ("syntax-query/manifest#test_61a", BIND),
    ("syntax-query/manifest#test_62a", BIND),
    ("syntax-query/manifest#test_65", ALIAS),
];
/// The tests that a snapshot without lexical forms fails, by the end of their names: they distinguish `01` and `1`.
const BY_FORM: &[&str] = &[
    "distinct/manifest#distinct-1",
    "distinct/manifest#distinct-9",
    "expr-builtin/manifest#dawg-str-1",
    "expr-builtin/manifest#dawg-str-2",
    "expr-builtin/manifest#sameTerm-eq",
    "expr-builtin/manifest#sameTerm-not-eq",
    "expr-builtin/manifest#sameTerm-simple",
    "expr-equals/manifest#eq-graph-1",
    "expr-equals/manifest#eq-graph-2",
    "open-world/manifest#open-eq-01",
];
const GRAPHS: &str = "a pattern outside of GRAPH reads all graphs";
const DATES: &str = "dates without a time zone are in UTC, and are comparable with times";
const UNGROUPED: &str = "a projected variable that is neither grouped nor aggregated has one of its values";
const ALIAS: &str = "an alias may be a visible variable";
const BIND: &str = "BIND to a variable with a value keeps the solutions in which both are equal";

/// The suite of SPARQL 1.2, of which the tests of queries are run in the standard dialect.
const SPARQL_12: &str = "sparql12";

/// Returns the folder of the suites, if it is given.
fn root() -> Option<PathBuf> {
    let root = std::env::var_os("TERRAPIN_W3C").map(PathBuf::from);
    if root.is_none() {
        skip::skipped(skip::Need::W3c, "TERRAPIN_W3C is not set");
    }
    root
}

/// Returns the suites' tests with their suite, or `None` without them.
fn tests() -> Option<Vec<(&'static str, W3cTest)>> {
    let root = root()?;
    let suites = ["sparql10", "sparql11", SPARQL_12];
    let tests = |suite| manifest::tests(&root.join(suite)).into_iter().map(move |test| (suite, test));
    let tests: Vec<_> = suites.into_iter().flat_map(tests).collect();
    assert!(!tests.is_empty(), "no tests in {}", root.display());
    Some(tests)
}

/// Runs all tests in a dialect, prints the counts, and returns the failures with their reasons. `forms`: whether the
/// snapshots keep lexical forms.
fn failures(tests: &[(&'static str, W3cTest)], dialect: &str, forms: bool) -> Vec<(String, String)> {
    let next = AtomicUsize::new(0);
    let outcomes: Vec<Vec<(usize, Result<Pass, String>)>> = std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        let work = || {
            let mut done = Vec::new();
            while let Some((at, (_, test))) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                tests.get(at).map(|test| (at, test))
            } {
                done.push((at, program::passes(test, dialect, forms)));
            }
            done
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread of tests")).collect()
    });
    let mut outcomes: Vec<_> = outcomes.into_iter().flatten().collect();
    outcomes.sort_by_key(|(at, _)| *at);
    let mut counts: BTreeMap<(&str, W3cTestKind), [usize; 3]> = BTreeMap::new();
    let mut failures = Vec::new();
    for (at, outcome) in outcomes {
        let (suite, test) = &tests[at];
        let count = counts.entry((suite, test.kind)).or_default();
        count[0] += 1;
        count[1] += usize::from(outcome.is_ok());
        count[2] += usize::from(outcome == Ok(Pass::ByTerm));
        match outcome {
            Err(why) => failures.push((test.name.clone(), why.chars().take(600).collect())),
            Ok(Pass::ByValue) if skip::all() => println!("by value: {}", test.name),
            Ok(_) => {}
        }
    }
    println!("--dialect {dialect}\n{:<10} {:<16} {:>5} {:>6} {:>7}", "suite", "kind", "tests", "passed", "by term");
    for ((suite, kind), [tests, passed, exact]) in &counts {
        println!("{suite:<10} {:<16} {tests:>5} {passed:>6} {exact:>7}", format!("{kind:?}"));
    }
    failures
}

#[test]
fn the_standard_dialect_passes_all() {
    let Some(tests) = tests() else { return };
    let failures = failures(&tests, "standard", true);
    let lines: Vec<String> = failures.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    assert!(lines.is_empty(), "{} failed:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn the_default_dialect_differs_as_documented() {
    let Some(mut tests) = tests() else { return };
    tests.retain(|(suite, _)| *suite != SPARQL_12);
    let failures = failures(&tests, "auto", true);
    let is_known = |name: &str| DIFFERENCES.iter().any(|(end, _)| name.ends_with(end));
    let unknown: Vec<String> =
        failures.iter().filter(|(name, _)| !is_known(name)).map(|(name, why)| format!("{name}: {why}")).collect();
    assert!(unknown.is_empty(), "{} failed:\n{}", unknown.len(), unknown.join("\n"));
    for (end, reason) in DIFFERENCES {
        assert!(failures.iter().any(|(name, _)| name.ends_with(end)), "{end} passes, although {reason}");
    }
}

#[test]
fn without_lexical_forms_equal_values_are_one_term() {
    let Some(mut tests) = tests() else { return };
    tests.retain(|(suite, test)| *suite == "sparql10" && test.kind == W3cTestKind::Evaluation);
    let failures = failures(&tests, "standard", false);
    let mut names: Vec<&str> = failures.iter().map(|(name, _)| name.rsplit("data-r2/").next().unwrap()).collect();
    names.sort();
    assert_eq!(names, BY_FORM);
}

/// The tests of the protocol: those of queries and of wrong requests pass, and updates are refused.
#[test]
fn the_protocol_tests_pass() {
    let Some(root) = root() else { return };
    let folder = root.join("sparql11/protocol");
    let server = protocol::server(&folder);
    let (updates, queries): (Vec<_>, Vec<_>) = protocol::tests(&folder).into_iter().partition(|test| test.updates());
    let mut failures = Vec::new();
    for test in &queries {
        if let Err(why) = test.passes(&server) {
            failures.push(format!("{}: {why}", test.name));
        }
    }
    println!("protocol: {} of {} passed, {} updates", queries.len() - failures.len(), queries.len(), updates.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    for test in &updates {
        assert!(test.is_refused(&server), "{}", test.name);
    }
    assert!(queries.len() > 20, "{} tests in {}", queries.len(), folder.display());
}
