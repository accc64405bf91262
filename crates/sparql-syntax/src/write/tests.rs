use super::*;
use crate::parse;

/// A written query has the algebra of the text that it was read from.
#[test]
fn what_is_written_reads_the_same() {
    for text in [
        "SELECT ?a ?b { ?a wdt:P31 ?b OPTIONAL { ?b ?c ?d FILTER(?d > 1) } FILTER(?a != ?b) }",
        "SELECT DISTINCT ?a (COUNT(?b) AS ?n) { ?a ?p ?b } GROUP BY ?a HAVING (COUNT(?b) > 2) ORDER BY DESC(?n) LIMIT 3",
        "SELECT ?a { { ?a ?b 1 } UNION { ?a ?b 'x'@en } UNION { ?a ?b 2.5 } MINUS { ?a a ?c } }",
        "ASK { ?a (wdt:P31/wdt:P279*)|^wdt:P361 ?b . VALUES ?b { wd:Q1 'y' } }",
        "SELECT * { { SELECT ?a (SUM(?b) AS ?s) { ?a ?p ?b } GROUP BY ?a } BIND(IF(?s > 1, STR(?a), 'z') AS ?t) }",
        "SELECT ?a { ?a ?b ?c FILTER NOT EXISTS { ?c ?d ?a } GRAPH ?g { ?a ?e ?f } }",
        "CONSTRUCT { ?a ?b _:x } { ?a ?b ?c } ORDER BY ?a",
    ] {
        let parsed = parse(text, Dialect::Wdqs).unwrap();
        let written = write(&parsed.query, &parsed.named, Dialect::Wdqs);
        let again = parse(&written, Dialect::Standard).unwrap_or_else(|error| panic!("{text}\n{written}\n{error}"));
        let twice = write(&again.query, &again.named, Dialect::Wdqs);
        assert_eq!(written, twice, "{text}");
    }
}

/// Returns the variables of a written pattern, in the order of the text.
fn variables_of(text: &str) -> Vec<String> {
    let parsed = parse(text, Dialect::Standard).unwrap();
    let written = write(&parsed.query, &parsed.named, Dialect::Standard);
    let body = written.split_once('{').unwrap().1;
    body.split_whitespace().filter(|word| word.starts_with('?')).map(str::to_owned).collect()
}

#[test]
fn blank_nodes_have_names_of_their_own() {
    let all =
        variables_of("SELECT * { [] ?p _:1 . _:a-b ?p _:a_b . _:a.b ?p _:anonymous1 . _:a_mb ?p ?b1 . ?b1_ ?p _:1 }");
    let mut other: Vec<&String> = all.iter().filter(|name| *name != "?p").collect();
    other.sort();
    other.dedup();
    // `_:1` occurs twice.
    assert_eq!(other.len(), 9, "{all:?}");
}

#[test]
fn blank_nodes_of_a_template_have_names_of_their_own() {
    let parsed = parse("CONSTRUCT { [] ?p _:anonymous-1 . [] ?p _:x } { ?s ?p ?o }", Dialect::Standard).unwrap();
    let written = write(&parsed.query, &parsed.named, Dialect::Standard);
    let mut labels: Vec<&str> = written.split_whitespace().filter(|word| word.starts_with("_:")).collect();
    labels.sort();
    labels.dedup();
    assert_eq!(labels.len(), 4, "{written}");
}
