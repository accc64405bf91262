//! Tests named graphs: GRAPH with a variable together with the patterns inside it. Inside the group, the variable has
//! no value.

use std::sync::LazyLock;

use crate::common::triples::{ValueLines, environment};
use terrapin::budget::Limits;
use terrapin::sparql::{Dialect, Environment, SparqlBounds, SparqlErrorClass, SparqlSettings, prepare};

/// Graph g1 has two triples with p, one of them about the graph itself; g2 has one with q.
const DATA: &str = "\
<http://e/a> <http://e/p> <http://e/o> <http://e/g1> .
<http://e/b> <http://e/p> <http://e/g1> <http://e/g1> .
<http://e/c> <http://e/q> <http://e/o> <http://e/g2> .
<http://e/d> <http://e/p> <http://e/o> .
";

static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| environment("x.nq", DATA));

/// Returns the sorted solutions, which must be the same in both dialects.
fn ask(text: &str) -> Vec<String> {
    let [ours, standard] = [Dialect::Wdqs, Dialect::Standard].map(|dialect| {
        let settings = SparqlSettings { dialect, ..SparqlSettings::default() };
        let text = format!("PREFIX : <http://e/>\n{text}");
        let prepared = prepare(&text, &settings).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut lines = ValueLines::new("-");
        prepared
            .run(&ENVIRONMENT, &SparqlBounds::default(), &mut lines)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        lines.lines.sort();
        lines.lines
    });
    assert_eq!(ours, standard, "{text}");
    ours
}

#[test]
fn a_plain_pattern_has_the_graph_of_each_solution() {
    assert_eq!(ask("SELECT ?g ?s { GRAPH ?g { ?s ?p ?o } }"), ["g1 a", "g1 b", "g2 c"]);
    assert_eq!(ask("SELECT ?g ?s ?x { GRAPH ?g { ?s ?p :o OPTIONAL { ?x :p :g1 } } }"), ["g1 a b", "g2 c -"]);
    assert_eq!(ask("SELECT ?g { GRAPH ?g {} }"), ["g1", "g2"]);
}

#[test]
fn the_graph_has_no_value_within() {
    assert_eq!(ask("SELECT * { GRAPH ?g { FILTER(BOUND(?g)) } }"), [""; 0]);
    assert_eq!(ask("SELECT ?g { GRAPH ?g { FILTER(!BOUND(?g)) } }"), ["g1", "g2"]);
    // For b, the optional part binds the graph's own name. For the others it binds a different name or leaves the
    // variable unbound.
    assert_eq!(ask("SELECT ?g ?s { GRAPH ?g { ?s ?p ?o OPTIONAL { ?s ?p ?g } } }"), ["g1 b"]);
    assert_eq!(ask("SELECT ?g ?s { GRAPH ?g { ?s ?p ?g } }"), ["g1 b"]);
    assert_eq!(
        ask("SELECT ?g ?x { GRAPH ?g { ?s ?p ?o BIND(COALESCE(?g, 'none') AS ?x) } }"),
        ["g1 none", "g1 none", "g2 none"]
    );
}

#[test]
fn every_graph_is_asked_by_itself() {
    assert_eq!(ask("SELECT ?g ?n { GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?s :p ?o } } }"), ["g1 2", "g2 0"]);
    assert_eq!(
        ask("SELECT ?g ?t { GRAPH ?g { VALUES (?g ?t) { (UNDEF 'x') (:g1 'y') (:g3 'z') } } }"),
        ["g1 x", "g1 y", "g2 x"]
    );
    // Both sides of the MINUS are evaluated in the same graph, but the graph variable does not count as a shared
    // variable.
    assert_eq!(ask("SELECT ?g ?a { GRAPH ?g { ?a :p :o MINUS { ?b :p :o } } }"), ["g1 a"]);
    assert_eq!(ask("SELECT ?a { GRAPH :g1 { ?a :p :o MINUS { ?b :p :o } } }"), ["a"]);
    assert_eq!(ask("SELECT ?g ?a { GRAPH ?g { ?a :p ?o MINUS { ?a :p :o } } }"), ["g1 b"]);
    assert_eq!(ask("SELECT ?g ?s { GRAPH ?g { SELECT ?s { ?s ?p ?o } ORDER BY DESC(?s) LIMIT 1 } }"), ["g1 b", "g2 c"]);
    assert_eq!(ask("SELECT ?s { GRAPH :g2 { SELECT ?s { ?s ?p ?o } ORDER BY ?s LIMIT 1 } }"), ["c"]);
    assert_eq!(ask("SELECT ?g ?s { GRAPH ?g { SELECT DISTINCT ?s { ?s ?p ?o } } }"), ["g1 a", "g1 b", "g2 c"]);
    assert_eq!(ask("SELECT ?g FROM NAMED :g2 { GRAPH ?g { SELECT (COUNT(*) AS ?n) {} } }"), ["g2"]);
}

#[test]
fn a_graph_without_an_iri_is_a_graph() {
    let environment = environment("x.nq", "<http://e/a> <http://e/p> <http://e/o> _:g .\n");
    let ask = |text: &str| {
        let mut lines = ValueLines::new("-");
        prepare(text, &SparqlSettings::default())?.run(&environment, &SparqlBounds::default(), &mut lines)?;
        Ok::<_, terrapin::sparql::SparqlError>(lines.lines.len())
    };
    assert_eq!(ask("SELECT * { GRAPH ?g { ?s ?p ?o } }").unwrap(), 1);
    assert_eq!(ask("SELECT * { GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } }").unwrap(), 1);
}

/// <https://www.w3.org/TR/sparql11-query/#defn_evalZeroOrOnePath>
#[test]
fn a_path_without_steps_leads_a_term_that_no_graph_has_to_itself() {
    let ask = |text: &str| {
        let settings = SparqlSettings { dialect: Dialect::Standard, ..SparqlSettings::default() };
        let mut lines = ValueLines::new("-");
        prepare(text, &settings).unwrap().run(&ENVIRONMENT, &SparqlBounds::default(), &mut lines).unwrap();
        lines.lines
    };
    assert_eq!(ask("SELECT ?x { <http://e/none> <http://e/p>* ?x }"), ["none"]);
    assert_eq!(ask("SELECT ?x { ?x <http://e/p>? <http://e/none> }"), ["none"]);
    assert!(ask("SELECT ?x { <http://e/none> <http://e/p>+ ?x }").is_empty());
    assert_eq!(ask("SELECT ?x { GRAPH <http://e/g1> { <http://e/none> <http://e/p>* ?x } }"), ["none"]);
}

#[test]
fn parts_of_an_exists_have_the_graph_and_the_values_around_it() {
    let triples = "GRAPH ?g { ?s ?p ?o }";
    let subquery = "GRAPH ?g { { SELECT ?s { ?s :p :o } ORDER BY ?s LIMIT 1 } }";
    assert_eq!(ask(&format!("SELECT ?g ?s {{ {triples} FILTER EXISTS {{ {subquery} }} }}")), ["g1 a"]);
    let optional = "GRAPH :g2 { ?s :q ?x OPTIONAL { ?x :p ?y FILTER(BOUND(?s)) } }";
    assert_eq!(ask(&format!("SELECT ?s {{ {triples} FILTER NOT EXISTS {{ {optional} }} }}")), ["a", "b"]);
    let inside = "EXISTS { GRAPH :g1 { ?s :p :o } }";
    assert_eq!(ask(&format!("SELECT ?s (IF({inside}, 'yes', 'no') AS ?x) {{ {triples} }}")), ["a yes", "b no", "c no"]);
    assert_eq!(ask(&format!("SELECT ?s {{ {triples} FILTER(IF({inside}, 1, 0) = 1) }}")), ["a"]);
}

#[test]
fn paths_and_descriptions_stay_in_their_graphs() {
    assert_eq!(ask("SELECT ?x { GRAPH :g1 { :b :p* ?x } }"), ["b", "g1"]);
    assert_eq!(ask("SELECT ?g ?x { GRAPH ?g { :b :p+ ?x } }"), ["g1 g1"]);
    assert_eq!(ask("SELECT ?x FROM :g1 { :a :p+ ?x }"), ["o"]);
    assert_eq!(ask("SELECT ?x FROM :g2 { :a :p+ ?x }"), [""; 0]);
    assert_eq!(ask("DESCRIBE :b FROM :g1"), ["<http://e/b> <http://e/p> <http://e/g1>"]);
    assert_eq!(ask("DESCRIBE :b FROM :g2"), [""; 0]);
}

#[test]
fn a_limit_of_work_holds_in_graphs() {
    for text in [
        "SELECT * { GRAPH ?g { ?s ?p ?o } }",
        "SELECT * FROM :g1 FROM :g2 { ?s ?p ?o }",
        "SELECT * { GRAPH :g1 { ?s :p* ?o } }",
        "SELECT * { GRAPH ?g { ?s ?p ?o FILTER EXISTS { { SELECT ?s { ?s ?q ?x } LIMIT 1 } } } }",
        "DESCRIBE :a :b :c :d",
    ] {
        let prepared = prepare(&format!("PREFIX : <http://e/> {text}"), &SparqlSettings::default()).unwrap();
        let limits = Limits { work: Some(2), ..Limits::default() };
        let result = prepared.run(&ENVIRONMENT, &SparqlBounds { limits, rows: None }, &mut ValueLines::new("-"));
        assert_eq!(result.map_err(|error| error.class), Err(SparqlErrorClass::Limit), "{text}");
    }
}
