//! Tests the SPARQL endpoint from the view of a client.

use crate::common::Town;
use crate::common::server::{FORM, HttpAnswer, TestServer, encoded};
use oxrdf::{Graph, NamedNode, TermRef, Triple, TripleRef};
use oxrdfio::{RdfFormat, RdfParser};
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
    let alias = "SELECT (STR(?p) AS ?p) { <http://www.wikidata.org/entity/Q2> ?p ?o }";
    assert_eq!(get(&server, alias, "", "").status, 200);
    assert_eq!(get(&server, alias, "&dialect=standard", "").status, 400);
    assert_eq!(get(&server, "ASK {}", "&dialect=standard", "").status, 200);
    assert_eq!(get(&server, "ASK {}", "&dialect=sql", "").status, 400);
}

#[test]
fn qlevers_dialect_and_its_json_are_understood() {
    let server = server();
    let tagged = "SELECT ?p { ?s ql:has-predicate ?p } ORDER BY ?p";
    assert_eq!(get(&server, tagged, "&dialect=qlever", "").status, 200);
    let accept = "Accept: application/qlever-results+json\r\n";
    let all = get(&server, tagged, "", accept);
    assert!(all.headers.contains("content-type: application/qlever-results+json"), "{}", all.headers);
    let answer: Value = serde_json::from_slice(&all.body).unwrap();
    assert_eq!((&answer["status"], &answer["selected"]), (&json!("OK"), &json!(["?p"])));
    let rows = answer["res"].as_array().unwrap().len();
    assert!(rows > 1);
    assert_eq!((&answer["resultSizeTotal"], &answer["resultSizeExported"]), (&json!(rows), &json!(rows)));
    let first: Value = serde_json::from_slice(&get(&server, tagged, "&send=1", accept).body).unwrap();
    assert_eq!((first["res"].as_array().unwrap().len(), &first["resultSizeTotal"]), (1, &json!(rows)));
    assert_eq!(get(&server, tagged, "&send=-1", accept).status, 400);
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

/// The W3C's tests of the service description: GET returns RDF, which has the endpoint of the request and conforms to
/// the schema (<https://www.w3.org/TR/sparql11-service-description/>).
#[test]
fn without_a_query_the_service_describes_itself() {
    let quads = "<urn:s> <urn:p> <urn:o> <urn:g> .\n<urn:s> <urn:p> <urn:o2> .\n";
    let server = TestServer::over(Town::with_quads(quads), &[]);
    let formats = [
        ("text/turtle", RdfFormat::Turtle),
        ("application/n-triples", RdfFormat::NTriples),
        ("application/rdf+xml", RdfFormat::RdfXml),
        ("application/ld+json", RdfFormat::JsonLd { profile: Default::default() }),
        ("*/*", RdfFormat::Turtle),
    ];
    let sd = |name: &str| NamedNode::new_unchecked(format!("http://www.w3.org/ns/sparql-service-description#{name}"));
    for (accept, format) in formats {
        let answer = server.ask("GET", "/sparql", &format!("Accept: {accept}\r\n"), "");
        assert_eq!(answer.status, 200, "{accept}");
        let graph: Result<Graph, _> =
            RdfParser::from_format(format).for_slice(&answer.body).map(|quad| quad.map(Triple::from)).collect();
        let graph = graph.unwrap_or_else(|error| panic!("{accept}: {error}"));
        let endpoint = NamedNode::new_unchecked("http://localhost/sparql");
        let service = graph.subject_for_predicate_object(&sd("endpoint"), &endpoint).expect(accept);
        let has = |property: &str, value: &NamedNode| graph.contains(TripleRef::new(service, &sd(property), value));
        assert!(graph.contains(TripleRef::new(service, oxrdf::vocab::rdf::TYPE, &sd("Service"))), "{accept}");
        assert!(has("supportedLanguage", &sd("SPARQL11Query")) && has("feature", &sd("UnionDefaultGraph")));
        assert!(has("resultFormat", &NamedNode::new_unchecked("http://www.w3.org/ns/formats/SPARQL_Results_JSON")));
        let distance = "http://www.opengis.net/def/function/geosparql/distance";
        assert!(has("extensionFunction", &NamedNode::new_unchecked(distance)), "{accept}");
        assert_eq!(graph.subjects_for_predicate_object(&sd("name"), &NamedNode::new_unchecked("urn:g")).count(), 1);
        let dataset = graph.object_for_subject_predicate(service, &sd("defaultDataset"));
        assert!(matches!(dataset, Some(TermRef::BlankNode(_))), "{accept}");
    }
    let secure = server.ask("GET", "/sparql/", "X-Forwarded-Proto: https\r\nAccept: text/turtle\r\n", "");
    assert!(secure.text().contains("sd:endpoint <https://localhost/sparql/>"), "{}", secure.text());
    assert_eq!(server.ask("GET", "/sparql", "Accept: image/png\r\n", "").status, 406);
}

/// RFC 9110, 9.3.2: HEAD has the headers of GET and no body. Fetch, 3.2: a preflight names methods and headers.
#[test]
fn head_and_preflights_are_answered() {
    let server = server();
    let path = format!("/sparql?query={}", encoded("ASK {}"));
    let head = server.ask("HEAD", &path, "Accept: text/csv, application/sparql-results+xml;q=0.5\r\n", "");
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert!(
        head.headers.contains("content-type: text/csv") && head.headers.contains("vary: accept"),
        "{}",
        head.headers
    );
    let preflight = "Origin: https://e.example\r\nAccess-Control-Request-Method: POST\r\n\
                     Access-Control-Request-Headers: content-type\r\n";
    let answer = server.ask("OPTIONS", "/sparql", preflight, "");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.header("access-control-allow-headers"), Some("content-type"));
    assert!(answer.header("access-control-allow-methods").is_some_and(|methods| methods.contains("post")));
    let answer = get(&server, "ASK {}", "", "Origin: https://e.example\r\n");
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
}

/// RFC 9110, 12.5.1: the most specific range that matches a type gives its quality.
#[test]
fn qualities_select_the_format() {
    let server = server();
    for (accept, expected) in [
        ("text/csv;q=0.3, text/tab-separated-values;q=0.7", "text/tab-separated-values"),
        ("application/sparql-results+xml;q=0.9, */*;q=0.1", "application/sparql-results+xml"),
        (
            "*/*;q=0.5, application/sparql-results+json;q=0, application/json;q=0, text/json;q=0",
            "application/sparql-results+xml",
        ),
        ("application/xml", "application/sparql-results+xml"),
        ("text/html, application/json;q=0.9", "application/sparql-results+json"),
    ] {
        let answer = get(&server, "SELECT (1 AS ?x) {}", "", &format!("Accept: {accept}\r\n"));
        assert!(answer.headers.contains(&format!("content-type: {expected}")), "{accept}: {}", answer.headers);
    }
    for (accept, expected) in [
        ("text/turtle;q=0.3, application/n-triples;q=0.7", "application/n-triples"),
        ("application/rdf+xml", "application/rdf+xml"),
        ("text/turtle;q=0, */*", "application/n-triples"),
    ] {
        let answer = get(&server, "CONSTRUCT WHERE { ?s ?p ?o }", "", &format!("Accept: {accept}\r\n"));
        assert!(answer.headers.contains(&format!("content-type: {expected}")), "{accept}: {}", answer.headers);
    }
    let nothing = get(&server, "ASK {}", "", "Accept: application/sparql-results+json;q=0\r\n");
    assert_eq!(nothing.status, 406);
}

#[test]
fn a_snapshot_without_triples_says_so() {
    let answer = TestServer::start(&[]).ask("GET", "/sparql?query=ASK%7B%7D", "", "");
    assert_eq!(answer.status, 404);
    assert!(answer.text().contains("--wikidata"), "{}", answer.text());
}
