//! Tests solution modifiers and COUNT(*). The expected answers are those of the definitions in SPARQL 1.1 (sections 15
//! and 18.5.1); pyoxigraph 0.5 has the same ones, unless a comment says otherwise.

use std::sync::LazyLock;

use crate::common::triples::{ValueLines, environment};
use terrapin::sparql::{Dialect, Environment, SparqlBounds, SparqlSettings, prepare};

const DATA: &str = "@prefix : <http://e/> .
:a :knows :b, :c . :b :knows :d . :c :knows :d .
:a :p 1 . :b :p 2 . :c :p 2 . :d :p 3 .
";

static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| environment("x.ttl", DATA));

/// Returns the answer, which must be the same in both dialects.
fn ask(text: &str) -> Vec<String> {
    let text = format!("PREFIX : <http://e/> {text}");
    let run = |dialect| {
        let query = prepare(&text, &SparqlSettings { dialect, ..SparqlSettings::default() }).expect("a query");
        let mut lines = ValueLines::new("-");
        query.run(&ENVIRONMENT, &SparqlBounds::default(), &mut lines).expect("an answer");
        lines.lines
    };
    let answer = run(Dialect::Wdqs);
    assert_eq!(run(Dialect::Standard), answer, "{text}");
    answer
}

#[test]
fn reduced_keeps_order_and_limit() {
    assert_eq!(ask("SELECT REDUCED ?v { ?s :p ?v } ORDER BY DESC(?v)"), ["3", "2", "1"]);
    assert_eq!(ask("SELECT REDUCED ?v { ?s :p ?v } ORDER BY DESC(?v) LIMIT 2"), ["3", "2"]);
    assert_eq!(ask("SELECT REDUCED ?v { ?s :p ?v } ORDER BY ?v LIMIT 1 OFFSET 1"), ["2"]);
    assert_eq!(ask("SELECT REDUCED ?v { ?s :p ?v } ORDER BY DESC(?s) LIMIT 1"), ["3"]);
    assert_eq!(ask("SELECT ?v { { SELECT REDUCED ?v { ?s :p ?v } ORDER BY DESC(?v) LIMIT 1 } }"), ["3"]);
    assert_eq!(ask("SELECT REDUCED ?v { ?s :p ?v } LIMIT 9").len(), 3);
}

/// A solution maps the variables of the query. pyoxigraph also counts the nodes between the steps of a path and the
/// blank nodes of a pattern: 2 for the first query, 4 for the second and the third.
#[test]
fn distinct_solutions_are_those_of_the_variables() {
    let count = |pattern: &str| ask(&format!("SELECT (COUNT(DISTINCT *) AS ?n) {{ {pattern} }}")).join("");
    assert_eq!(count("?x :knows/:knows ?y"), "1");
    assert_eq!(count("?x :knows []"), "3");
    assert_eq!(count("[] :knows []"), "1");
    assert_eq!(count("[] :none []"), "0");
    assert_eq!(count("?x :knows ?y"), "4");
    assert_eq!(count("?x :knows ?y . ?y :knows ?z"), "2");
    // Without DISTINCT, all solutions count.
    assert_eq!(ask("SELECT (COUNT(*) AS ?n) { ?x :knows/:knows ?y }"), ["2"]);
    let grouped = "{ ?x :knows [ :knows ?y ] } GROUP BY ?x";
    assert_eq!(ask(&format!("SELECT ?x (COUNT(DISTINCT *) AS ?n) {grouped}")), ["a 1"]);
    assert_eq!(ask(&format!("SELECT ?x (COUNT(*) AS ?n) {grouped}")), ["a 2"]);
}
