//! SPARQL: any text is rejected, or can be run over a few triples.

use std::time::{Duration, Instant};

use oxrdf::{Term, Triple, Variable};
use terrapin::budget::Limits;
use terrapin::sparql::{Dialect, ResultSink, SparqlBounds, SparqlSettings, prepare};

pub const WORDS: &[&str] = &[
    "SELECT",
    "DISTINCT",
    "*",
    "WHERE",
    "{",
    "}",
    "?s",
    "?p",
    "?o",
    "wdt:P31",
    "wd:Q1",
    "/",
    "|",
    "^",
    "*",
    "+",
    "!",
    "FILTER",
    "BIND(",
    "AS ?x)",
    "OPTIONAL",
    "MINUS",
    "UNION",
    "GRAPH ?g",
    "SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\" }",
    "VALUES ?a {",
    "UNDEF",
    "GROUP BY",
    "HAVING",
    "ORDER BY DESC(",
    "LIMIT 1",
    "OFFSET",
    "COUNT(",
    "GROUP_CONCAT(",
    "SEPARATOR=\",\"",
    "REGEX(",
    "REPLACE(",
    "STRDT(",
    "xsd:dateTime",
    "\"2020-01-01T00:00:00Z\"^^xsd:dateTime",
    "1e308",
    "<<",
    ">>",
    "[]",
    "(1 2)",
    "_:b",
    "EXISTS",
    "NOT IN",
    "CONSTRUCT",
    "DESCRIBE",
    "ASK",
    "hint:Query hint:optimizer \"None\"",
    "INCLUDE %a",
    "WITH {",
    "} AS %a",
    "geof:distance(",
    "PREFIX a: <b>",
    "BASE <x:>",
    "'''",
    "\\u0041",
    "# ",
    "SERVICE wikibase:around { ?s wdt:P625 ?l . bd:serviceParam wikibase:center \"Point(1 2)\"^^geo:wktLiteral ; wikibase:radius \"1\" }",
    "SERVICE wikibase:mwapi {",
    "SERVICE gas:service {",
    "IF(",
    "COALESCE(",
    "NOW()",
    "YEAR(",
    "CONCAT(",
    "SUBSTR(",
    "LATERAL",
];

pub fn seeds() -> Vec<Vec<u8>> {
    super::texts(&[
        "SELECT ?s ?l (COUNT(*) AS ?n) WHERE { ?s wdt:P31/wdt:P279* wd:Q5 . OPTIONAL { ?s rdfs:label ?l FILTER(LANG(?l) = \"en\") } } GROUP BY ?s ?l HAVING (COUNT(*) > 0) ORDER BY DESC(?n) LIMIT 10 OFFSET 0",
        "PREFIX ex: <http://example.org/> CONSTRUCT { ?a ex:q [ ex:r ?b ] } WHERE { ?a (ex:p|^ex:p)+ ?b MINUS { ?b ex:p \"x\"@en } }",
        "ASK { VALUES (?a ?b) { (1 UNDEF) (\"2\"^^xsd:int wd:Q1) } ?s ?p ?a FILTER(?a IN (1, 2.5, 1e3) || !BOUND(?b) && EXISTS { ?b ?q ?s }) }",
        "DESCRIBE wd:Q1 ?x { { ?x ?y ?z } UNION { GRAPH ?g { ?x ?y ?z } } }",
        "SELECT ?itemLabel (REPLACE(STR(?item), \"[a-z]+(.)\", \"$1\", \"i\") AS ?r) { ?item wdt:P31 wd:Q3957 . SERVICE wikibase:label { bd:serviceParam wikibase:language \"[AUTO_LANGUAGE],en\" } hint:Prior hint:runFirst true . }",
        "SELECT * WITH { SELECT ?a { ?a wdt:P131 ?b } LIMIT 5 } AS %x { INCLUDE %x . BIND(YEAR(NOW()) - 3 AS ?y) BIND(IF(?y > 2000, CONCAT(\"a\", STR(?y)), COALESCE(?u, 1/0)) AS ?t) }",
        "SELECT ?p ?d { SERVICE wikibase:around { ?p wdt:P625 ?l . bd:serviceParam wikibase:center \"Point(20 10)\"^^geo:wktLiteral ; wikibase:radius \"100\" ; wikibase:distance ?d } FILTER(geof:distance(?l, \"Point(1 2)\"^^geo:wktLiteral) < 5) }",
        "SELECT (GROUP_CONCAT(DISTINCT ?o; SEPARATOR=\", \") AS ?g) (SAMPLE(?s) AS ?x) (AVG(?o) AS ?m) { ?s !(rdf:type|^rdfs:label)? ?o . { SELECT ?s { ?s ?p ?q } ORDER BY ?q LIMIT 2 } } # end",
    ])
}

/// A sink that discards all results.
pub struct FuzzSink;

impl ResultSink for FuzzSink {
    fn variables(&mut self, _: &[Variable]) -> std::io::Result<()> {
        Ok(())
    }

    fn solution(&mut self, _: &[Option<Term>]) -> std::io::Result<()> {
        Ok(())
    }

    fn boolean(&mut self, _: bool) -> std::io::Result<()> {
        Ok(())
    }

    fn triple(&mut self, _: &Triple) -> std::io::Result<()> {
        Ok(())
    }
}

pub fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let standard = SparqlSettings { dialect: Dialect::Standard, ..SparqlSettings::default() };
    if let Err(error) = prepare(&text, &standard) {
        let _ = error.to_string();
    }
    let prepared = match prepare(&text, &SparqlSettings::default()) {
        Ok(prepared) => prepared,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    let limits = Limits {
        deadline: Instant::now().checked_add(Duration::from_secs(1)),
        memory: Some(64 << 20),
        ..Limits::default()
    };
    let bounds = SparqlBounds { limits, ..SparqlBounds::default() };
    let environment = &super::town::opened().environment;
    let _ = prepared.explain(environment, &bounds);
    let _ = prepared.run(environment, &bounds, &mut FuzzSink);
}
