//! `--dialect standard`: no construct of the other dialects has an effect. Each text is an error of the standard or has
//! the meaning that the standard gives it (<https://www.w3.org/TR/sparql11-query/>), and another one in the default
//! dialect. `docs/reference/sparql.md` lists them.

use std::sync::LazyLock;

use crate::common::triples::{ValueLines, environment};
use terrapin::sparql::{Dialect, Environment, SparqlBounds, SparqlError, SparqlErrorClass, SparqlSettings, prepare};

const DATA: &str = "<http://e/s> <http://e/p> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://e/s> <http://www.w3.org/2000/01/rdf-schema#label> \"label\"@en .
<http://e/s> <http://e/t> <http://e/o> <http://e/g1> .
";

static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| environment("x.nq", DATA));

const XSD: &str = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> ";

fn run(text: &str, dialect: Dialect) -> Result<Vec<String>, SparqlError> {
    let mut lines = ValueLines::new("-");
    let query = prepare(text, &SparqlSettings { dialect, ..SparqlSettings::default() })?;
    query.run(&ENVIRONMENT, &SparqlBounds::default(), &mut lines)?;
    Ok(lines.lines)
}

/// Syntax that the standard lacks: sections 4.1.1 (prefixes), 19.8 (grammar and its notes).
#[test]
fn extensions_are_syntax_errors() {
    for text in [
        // Prefixes without declarations.
        "SELECT * { wd:Q1 ?p ?o }",
        "SELECT (xsd:integer(\"1\") AS ?x) {}",
        // Ungrouped variables, aliases of visible variables, BIND to bound variables.
        "SELECT ?s ?o { ?s ?p ?o } GROUP BY ?s",
        "SELECT (STR(?s) AS ?s) { ?s ?p ?o }",
        "SELECT (1 AS ?x) (2 AS ?x) {}",
        "SELECT * { ?s ?p ?o BIND(1 AS ?o) }",
        // Named subqueries, LATERAL, ADJUST, a comma before SEPARATOR, a comparison without a space.
        "SELECT * WITH { SELECT ?s { ?s ?p ?o } } AS %a { INCLUDE %a }",
        "SELECT * { ?s ?p ?o LATERAL { SELECT ?q { ?s ?q ?r } LIMIT 1 } }",
        "SELECT (ADJUST(NOW(), ?z) AS ?x) {}",
        "SELECT (GROUP_CONCAT(?s, SEPARATOR=\"-\") AS ?x) { ?s ?p ?o }",
        "SELECT * { ?x ?p ?y FILTER(?x<?y&&?y>?x) }",
    ] {
        let error = run(text, Dialect::Standard).expect_err(text);
        assert_eq!(error.class, SparqlErrorClass::Syntax, "{text}: {error}");
        assert!(run(text, Dialect::Auto).is_ok(), "{text}");
    }
}

/// Texts with two meanings: the standard's answer, then that of the default dialect.
#[test]
fn values_have_the_meaning_of_the_standard() {
    let date = "\"2001-02-03\"^^xsd:date";
    for (text, standard, default) in [
        // A difference of dates is a duration (XPath's op:subtract-dates); in WDQS, a number of days.
        (format!("SELECT ({date} - \"2001-02-01\"^^xsd:date AS ?x) {{}}"), "P2D", "2"),
        // A date is not comparable with a time (section 17.3); in WDQS, both are moments.
        (format!("SELECT ({date} < \"2001-02-04T00:00:00Z\"^^xsd:dateTime AS ?x) {{}}"), "-", "true"),
        // A cast takes the lexical forms of its type (section 17.5).
        ("SELECT (xsd:dateTime(\"2001-02-03\") AS ?x) {}".into(), "-", "2001-02-03T00:00:00Z"),
        // An ill-typed literal has no value (section 17.3); in WDQS, dates are repaired.
        ("SELECT (YEAR(\"2001-2-3\"^^xsd:date) AS ?x) {}".into(), "-", "2001"),
        // Equality of dates depends on an unknown time zone (XML Schema 1.0 part 2, 3.2.7.4; the W3C's test date-2).
        (format!("SELECT (?d = \"2001-02-03Z\"^^xsd:date AS ?x) {{ VALUES ?d {{ {date} }} }}"), "-", "true"),
        // Variables of a later pattern are unbound in BIND (section 10.1); in WDQS, BIND waits for them.
        ("SELECT ?x { BIND(?o AS ?x) ?s <http://e/p> ?o }".into(), "-", "1"),
        // An alias of SELECT is unbound in HAVING (section 18.2.4.1).
        ("SELECT (COUNT(*) AS ?x) { ?s <http://e/p> ?o } HAVING(?x > 0)".into(), "", "1"),
    ] {
        let text = format!("{XSD}{text}");
        let [in_standard, in_default] =
            [Dialect::Standard, Dialect::Auto].map(|dialect| run(&text, dialect).expect(&text).join(" "));
        assert_eq!((in_standard.as_str(), in_default.as_str()), (standard, default), "{text}");
    }
}

/// Names with a meaning in WDQS are ordinary names: hints are triples, and services are remote.
#[test]
fn services_hints_and_graphs_are_those_of_the_standard() {
    let hint = "PREFIX hint: <http://www.bigdata.com/queryHints#>
        SELECT * { hint:Prior hint:runFirst true . <http://e/s> <http://e/p> ?o }";
    assert_eq!((run(hint, Dialect::Standard).unwrap().len(), run(hint, Dialect::Auto).unwrap().len()), (0, 1));
    let label = "PREFIX wikibase: <http://wikiba.se/ontology#> PREFIX bd: <http://www.bigdata.com/rdf#>
        SELECT ?sLabel { ?s <http://e/p> ?o SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }";
    assert!(run(label, Dialect::Standard).unwrap_err().message.contains("label service"));
    assert_eq!(run(label, Dialect::Auto).unwrap(), ["label"]);
    let endpoint = "SELECT ?o { SERVICE <https://query.wikidata.org/sparql> { <http://e/s> <http://e/p> ?o } }";
    assert!(run(endpoint, Dialect::Standard).unwrap_err().message.contains("live web"));
    assert_eq!(run(endpoint, Dialect::Auto).unwrap(), ["1"]);
    // The default graph has no triples of named graphs (section 13.1).
    let graph = "SELECT ?g { <http://e/s> <http://e/t> ?g }";
    assert_eq!((run(graph, Dialect::Standard).unwrap().len(), run(graph, Dialect::Auto).unwrap().len()), (0, 1));
}

/// Section 17.4.2.8: IRI() resolves its argument with the base of the query.
#[test]
fn iri_uses_the_base() {
    let text = "SELECT (STR(IRI(\"a\")) AS ?x) {}";
    assert_eq!(run(text, Dialect::Standard).unwrap(), ["https://query.wikidata.org/a"]);
    assert_eq!(run(&format!("BASE <http://e/> {text}"), Dialect::Standard).unwrap(), ["http://e/a"]);
}

/// What both accept: a variable may be selected twice (19.8, rule 9), and the application sets the base (4.1.1.2).
#[test]
fn the_standards_own_freedom_stays() {
    for dialect in [Dialect::Standard, Dialect::Auto] {
        assert_eq!(run("SELECT ?o ?o { ?s <http://e/p> ?o }", dialect).unwrap(), ["1"]);
        assert_eq!(run("SELECT (STR(<a>) AS ?x) {}", dialect).unwrap(), ["https://query.wikidata.org/a"]);
        assert_eq!(run("SELECT (1/2 AS ?x) (\"a\" = 1 AS ?y) {}", dialect).unwrap(), ["0.5 false"]);
    }
}
