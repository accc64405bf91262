//! Runs the W3C's tests of the query operation of the SPARQL 1.1 Protocol against the server: one case for each test of
//! the suite, with the suite's name. A snapshot does not accept updates, so the update tests are omitted, except those
//! that the suite expects to be rejected.

use crate::common::Town;
use crate::common::server::{FORM, HttpAnswer, TestServer, encoded};

/// Returns the suite's graphs: data1.rdf, data2.rdf and data3.rdf each state that they are documents.
fn graphs() -> String {
    let graph = |n: u32| {
        let name = data(n);
        format!(
            "<{name}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://xmlns.com/foaf/0.1/Document> <{name}> .\n"
        )
    };
    (1..=3).map(graph).collect()
}

fn data(n: u32) -> String {
    format!("http://kasei.us/2009/09/sparql/data/data{n}.rdf")
}

fn server() -> TestServer {
    TestServer::over(Town::with_quads(&graphs()), &[])
}

const DIRECT: &str = "Content-Type: application/sparql-query\r\n";
const BOTH: &str = "ASK { <http://kasei.us/2009/09/sparql/data/data1.rdf> a ?type . \
                    <http://kasei.us/2009/09/sparql/data/data2.rdf> a ?type . }";
const BOTH_NAMED: &str = "ASK { GRAPH ?g1 { <http://kasei.us/2009/09/sparql/data/data1.rdf> a ?type } \
                          GRAPH ?g2 { <http://kasei.us/2009/09/sparql/data/data2.rdf> a ?type } }";

/// Returns a URL with graphs in its parameters: `d` with a number is a default graph, `n` a named one.
fn address(graphs: &str) -> String {
    let graph = |part: &str| {
        let (kind, number) = part.split_at(1);
        let name = if kind == "d" { "default-graph-uri" } else { "named-graph-uri" };
        format!("{name}={}", encoded(&data(number.parse().unwrap())))
    };
    let graphs: Vec<String> = graphs.split_whitespace().map(graph).collect();
    format!("/sparql/?{}", graphs.join("&"))
}

fn is(answer: &HttpAnswer, expected: bool) {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.text().contains(&format!("\"boolean\":{expected}")), "{}", answer.text());
}

#[test]
fn queries_come_by_get_and_by_both_forms_of_post() {
    let server = server();
    // query_get, query_post_form, query_post_direct
    is(&server.ask("GET", &format!("{}&query=ASK%20%7B%7D", address("d0")), "", ""), true);
    is(&server.ask("POST", &address("d0"), FORM, "query=ASK%20%7B%7D"), true);
    is(&server.ask("POST", "/sparql/", DIRECT, "ASK {}"), true);
}

#[test]
fn the_protocol_says_what_the_dataset_is() {
    let server = server();
    let get =
        |graphs: &str, query: &str| server.ask("GET", &format!("{}&query={}", address(graphs), encoded(query)), "", "");
    let post = |graphs: &str, query: &str| server.ask("POST", &address(graphs), DIRECT, query);
    // query_dataset_default_graphs_get, query_dataset_default_graphs_post
    is(&get("d1 d2", BOTH), true);
    is(&post("d1 d2", BOTH), true);
    // query_dataset_named_graphs_post, query_dataset_named_graphs_get
    is(&post("n1 n2", BOTH_NAMED), true);
    is(&get("n1 n2", BOTH_NAMED), true);
    // query_dataset_full
    let full = BOTH_NAMED.replace("ASK {", "ASK { <http://kasei.us/2009/09/sparql/data/data3.rdf> a ?type .");
    is(&post("d3 n1 n2", &full), true);
    // query_multiple_dataset: the request's dataset has precedence over that of the query
    let from = BOTH_NAMED.replace("ASK", "ASK FROM <http://kasei.us/2009/09/sparql/data/data3.rdf>");
    is(&post("n1 n2", &from), true);

    // Not in the suite: triples outside of the dataset are not visible.
    is(&get("d1", BOTH), false);
    is(&post("n1", BOTH_NAMED), false);
    is(&post("d3 n1 n2", BOTH), false);
    is(&post("", &from), false);
    is(&post("", BOTH), true);
}

#[test]
fn answers_come_in_a_format_that_fits() {
    let server = server();
    let post = |accept: &str, query: &str| server.ask("POST", &address("d0"), &format!("{DIRECT}{accept}"), query);
    let content_type = |answer: HttpAnswer, expected: &[&str]| {
        assert_eq!(answer.status, 200, "{}", answer.text());
        let fits = expected.iter().any(|e| answer.headers.contains(&format!("content-type: {e}")));
        assert!(fits, "{}", answer.headers);
    };
    let tables =
        ["application/sparql-results+xml", "application/sparql-results+json", "text/csv", "text/tab-separated-values"];
    let graphs = ["application/rdf+xml", "text/turtle", "application/n-triples"];
    // query_content_type_select, query_content_type_ask, query_content_type_describe, query_content_type_construct
    content_type(post("", "SELECT (1 AS ?value) {}"), &tables);
    content_type(post("", "ASK {}"), &tables[..2]);
    content_type(post("", "DESCRIBE <http://example.org/>"), &graphs);
    content_type(post("", "CONSTRUCT { <s> <p> 1 } WHERE {}"), &graphs);
    for format in tables {
        content_type(post(&format!("Accept: {format}\r\n"), "SELECT (1 AS ?value) {}"), &[format]);
    }
    for format in graphs {
        content_type(post(&format!("Accept: {format}\r\n"), "DESCRIBE <http://example.org/>"), &[format]);
    }
}

#[test]
fn what_is_no_query_operation_is_refused() {
    let server = server();
    let status = |method: &str, path: &str, headers: &str, body: &str| {
        let answer = server.ask(method, path, headers, body);
        assert!((400..500).contains(&answer.status), "{method} {path} {headers}{body}: {}", answer.text());
        answer.status
    };
    // bad_query_method
    assert_eq!(status("PUT", "/sparql/?query=ASK%20%7B%7D", FORM, ""), 405);
    // bad_multiple_queries
    status("GET", "/sparql/?query=ASK%20%7B%7D&query=SELECT%20%2A%20%7B%7D", "", "");
    // bad_query_wrong_media_type
    assert_eq!(status("POST", "/sparql/", "Content-Type: text/plain\r\n", "ASK {}"), 415);
    // bad_query_missing_form_type, bad_query_missing_direct_type
    assert_eq!(status("POST", "/sparql/", "", "query=ASK%20%7B%7D"), 415);
    assert_eq!(status("POST", "/sparql/", "", "ASK {}"), 415);
    // bad_query_non_utf8, which is also rejected because of its declared charset
    let utf16: String = "ASK {}".chars().flat_map(|c| ['\0', c]).collect();
    status("POST", "/sparql/", "Content-Type: application/sparql-query; charset=UTF-16\r\n", &utf16);
    status("POST", "/sparql/", DIRECT, &utf16);
    // bad_query_syntax
    assert_eq!(status("GET", "/sparql/?query=ASK%20%7B", "", ""), 400);
    // bad_update_get, bad_multiple_updates, bad_update_wrong_media_type, bad_update_missing_form_type,
    // bad_update_non_utf8, bad_update_syntax, bad_update_dataset_conflict
    const UPDATE: &str = "Content-Type: application/sparql-update\r\n";
    status("GET", "/sparql/?update=CLEAR%20NAMED", "", "");
    status("POST", "/sparql/", FORM, "update=CLEAR%20NAMED&update=CLEAR%20DEFAULT");
    status("POST", "/sparql/", "Content-Type: text/plain\r\n", "CLEAR NAMED");
    status("POST", "/sparql/", "", "update=CLEAR%20NAMED");
    status("POST", "/sparql/", "Content-Type: application/sparql-update; charset=UTF-16\r\n", "CLEAR NAMED");
    status("POST", "/sparql/", FORM, "update=CLEAR%20XYZ");
    status("POST", "/sparql/?using-named-graph-uri=http%3A%2F%2Fexample%2Fpeople", UPDATE, "DELETE WHERE { ?s ?p ?o }");
}
