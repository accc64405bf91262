//! Tests the SPARQL endpoint from the view of a client.

use crate::common::Town;
use crate::common::server::{FORM, HttpAnswer, TestServer, encoded};
use serde_json::{Value, json};

const LABELS: &str =
    "SELECT ?x ?xLabel { ?x wdt:P31 wd:Q3957 SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\" } }";
const DIRECT: &str = "Content-Type: application/sparql-query\r\n";

fn server() -> TestServer {
    TestServer::over(Town::with_triples(), &[])
}

fn get(server: &TestServer, query: &str, more: &str, headers: &str) -> HttpAnswer {
    server.ask("GET", &format!("/sparql?query={}{more}", encoded(query)), headers, "")
}

#[test]
fn a_query_is_answered_however_it_is_sent() {
    let server = server();
    let in_address = format!("query={}", encoded(LABELS));
    let answers = [
        get(&server, LABELS, "", ""),
        // The request of WikidataIntegrator, and one with Blazegraph's path.
        server.ask("POST", &format!("/sparql?{in_address}&format=json"), "", ""),
        server.ask("GET", &format!("/bigdata/namespace/wdq/sparql?{in_address}&format=unknown"), "", ""),
        server.ask("POST", "/sparql", FORM, &format!("query={}", encoded(LABELS))),
        server.ask("POST", "/sparql", DIRECT, LABELS),
    ];
    for answer in answers {
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(answer.headers.contains("content-type: application/sparql-results+json"), "{}", answer.headers);
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        let expected = json!({"type": "literal", "value": "Ladle", "xml:lang": "en"});
        assert_eq!(answer["results"]["bindings"][0]["xLabel"], expected);
    }
}

#[test]
fn every_form_comes_in_the_format_asked_for() {
    let server = server();
    let count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }";
    assert_eq!(get(&server, count, "", "Accept: text/csv\r\n").text(), "n\r\n4\r\n");
    assert_eq!(get(&server, count, "&format=tsv", "Accept: text/csv\r\n").text(), "?n\n4\n");
    assert!(get(&server, "ASK { wd:Q2 wdt:P131 wd:Q1 }", "&format=xml", "").text().contains("<boolean>true</boolean>"));
    let graph = get(&server, "CONSTRUCT WHERE { wd:Q2 ?p ?o }", "", "Accept: application/n-triples\r\n");
    assert_eq!(graph.text().lines().count(), 1, "{}", graph.text());
    assert!(graph.headers.contains("content-type: application/n-triples"), "{}", graph.headers);
    let table = get(&server, "CONSTRUCT WHERE { wd:Q2 ?p ?o }", "", "Accept: text/csv\r\n").text().to_owned();
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows.len() == 2 && rows[0] == "subject,predicate,object" && rows[1].ends_with("/Q1"), "{table}");
    let nothing = get(&server, "CONSTRUCT WHERE { wd:Q99 ?p ?o }", "&format=json", "");
    assert!(nothing.text().contains("\"vars\":[\"subject\",\"predicate\",\"object\"]"), "{}", nothing.text());
    let refused = get(&server, count, "", "Accept: image/png\r\n");
    assert!(refused.status == 406 && refused.text().contains("text/tab-separated-values"), "{}", refused.text());
    assert_eq!(get(&server, "ASK {}", "", "Accept: text/turtle\r\n").status, 406);
}

/// XML 1.0, 2.2 and 2.11, and RDF 1.1 XML Syntax, 2.4: results that XML cannot represent are not sent as XML.
#[test]
fn what_a_format_cannot_represent_is_refused() {
    let server = server();
    let unnamed = "CONSTRUCT { wd:Q1 osmkey:ref:nuts:1 'MT0' } {}";
    let refused = get(&server, unnamed, "&format=rdf", "");
    assert!(refused.status == 406 && refused.text().contains("Key:ref:nuts:1"), "{}", refused.text());
    assert_eq!(get(&server, unnamed, "&format=ttl", "").status, 200);
    for control in ["SELECT ('\\u0001' AS ?x) {}", "SELECT ('\\uFFFE' AS ?x) {}"] {
        let refused = get(&server, control, "&format=xml", "");
        assert!(refused.status == 406 && refused.text().contains("U+"), "{}", refused.text());
        assert_eq!(get(&server, control, "&format=json", "").status, 200);
    }
    let text = get(&server, "SELECT ('a\\rb' AS ?x) {}", "&format=xml", "").text().to_owned();
    assert!(text.contains("a&#xD;b"), "{text}");
}

/// SPARQL 1.1, 19.8, note 12: the alias must not be a variable that is already in scope.
#[test]
fn the_dialect_may_be_the_standard() {
    let server = server();
    let alias = "SELECT (STR(?p) AS ?p) { wd:Q2 ?p ?o }";
    assert_eq!(get(&server, alias, "", "").status, 200);
    assert_eq!(get(&server, alias, "&dialect=standard", "").status, 400);
    assert_eq!(get(&server, "ASK {}", "&dialect=standard", "").status, 200);
    assert_eq!(get(&server, "ASK {}", "&dialect=sql", "").status, 400);
}

#[test]
fn errors_have_the_status_that_harnesses_expect() {
    let server = server();
    let wrong = get(&server, "SELECT * {\n ?x wrong:thing 1 }", "", "");
    assert_eq!(wrong.status, 400);
    assert!(wrong.text().starts_with("line 2, column 5: syntax error"), "{}", wrong.text());
    assert_eq!(get(&server, "", "", "").status, 400);
    let live = get(&server, "SELECT * { SERVICE <http://example.org/sparql> { ?s ?p ?o } }", "", "");
    assert_eq!(live.status, 500, "{}", live.text());
    let values: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
    let values = values.join(" ");
    let product = format!(
        "SELECT (COUNT(*) AS ?n) {{ VALUES ?a {{ {values} }} VALUES ?b {{ {values} }} VALUES ?c {{ {values} }} }}"
    );
    let slow = server.ask("POST", "/sparql?timeout=0.2", DIRECT, &product);
    assert_eq!(slow.status, 500, "{}", slow.text());
    let in_time = server.ask("POST", "/sparql", &format!("{DIRECT}X-BIGDATA-MAX-QUERY-MILLIS: 200\r\n"), &product);
    assert_eq!(in_time.status, 500, "{}", in_time.text());
    let long = server.ask("POST", "/sparql", DIRECT, &format!("ASK {{ FILTER(1{}) }}", "+1".repeat(100_000)));
    assert!(long.status == 500 && !long.text().contains("syntax error"), "{}", long.text());
    assert_eq!(server.ask("PUT", "/sparql", DIRECT, "ASK {}").status, 405);
    assert_eq!(server.ask("POST", "/sparql", "", "ASK {}").status, 415);
    assert_eq!(server.ask("POST", "/sparql", FORM, "update=CLEAR+ALL").status, 403);
    assert_eq!(server.ask("GET", "/sparql?query=ASK%7B%7D&query=ASK%7B%7D", "", "").status, 400);
    // The server is still running.
    assert_eq!(get(&server, "ASK {}", "", "").status, 200);
}

#[test]
fn without_a_query_it_tells_of_itself() {
    let answer = server().ask("GET", "/sparql", "Accept: text/turtle\r\n", "");
    assert_eq!(answer.status, 200);
    assert!(answer.text().contains("SPARQL11Query"), "{}", answer.text());
}

#[test]
fn a_snapshot_without_triples_says_so() {
    let answer = TestServer::start(&[]).ask("GET", "/sparql?query=ASK%7B%7D", "", "");
    assert_eq!(answer.status, 404);
    assert!(answer.text().contains("--wikidata"), "{}", answer.text());
}
