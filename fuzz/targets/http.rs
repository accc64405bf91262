//! Requests to the server: their parameters, their bodies and the content types of these. An input consists of lines:
//! first the method and the address, then the body's type, then the body. Inputs of `/feedback` and `/score` are the
//! body alone.

use super::server::ask;

pub const WORDS: &[&str] = &[
    "GET ",
    "POST ",
    "OPTIONS ",
    "/api/interpreter",
    "/api/convert",
    "/sparql",
    "/feedback",
    "/score",
    "/search",
    "/api/status",
    "/api/timestamp",
    "/api/cost?request=1",
    "/healthz",
    "/metrics",
    "?data=",
    "&",
    "=",
    "%",
    "%00",
    "%ff",
    "%f0%9f",
    "+",
    "?query=",
    "&format=json",
    "&timeout=1",
    "&default-graph-uri=http://a/b",
    "&named-graph-uri=",
    "target=compact",
    "?q=Ladle&format=json&limit=",
    "application/x-www-form-urlencoded",
    "application/json",
    "application/sparql-query",
    "multipart/form-data; boundary=x",
    "; charset=utf-16",
    "[out:json];node(1);out;",
    "ASK{}",
    "\"query\":",
    "\"bbox\":\"1,2,3,4\"",
    "\"sample\":5",
    "\"predictions\":[",
    "\"references\":[",
    "null",
    "{",
    "}",
    "SELECT*{?s?p?o}",
    "\\u0000",
    "\\ud800",
    "1e999",
];

pub fn seeds() -> Vec<Vec<u8>> {
    super::texts(&[
        "GET /api/interpreter?data=%5Bout:json%5D;node(1);out;\n\n",
        "POST /api/interpreter\napplication/x-www-form-urlencoded\ndata=%5Bout:xml%5D;nwr(9,19,11,21);out+meta;",
        "POST /api/interpreter\n\n[out:csv(::id)];nwr(9,19,11,21);out;",
        "POST /api/convert\napplication/x-www-form-urlencoded\ndata=node(1);out;&target=xml",
        "GET /api/convert?data=node(1);out;&target=compact\n\n",
        "GET /sparql?query=SELECT*%7B?s?p?o%7D&format=json&timeout=2&default-graph-uri=http://a/b\n\n",
        "POST /sparql\napplication/sparql-query\nSELECT * { ?s ?p ?o } LIMIT 5",
        "POST /sparql?default-graph-uri=http://example.org/graph\napplication/x-www-form-urlencoded\nquery=ASK%7B%7D&named-graph-uri=http://example.org/graph",
        "GET /search?q=Ladle&format=json&limit=5\n\n",
        "GET /api/status\n\n",
        "GET /\n\n",
    ])
}

pub fn feedback_seeds() -> Vec<Vec<u8>> {
    super::texts(&[
        "{\"query\":\"[out:json];area[name=\\\"Ladle\\\"]->.a;node(area.a)[amenity=cafee];out;\",\"bbox\":\"10,20,11,21\",\"sample\":5}",
        "{\"query\":\"node[amenity=cafe]({{bbox}});out;{{geocodeArea:Ladle}}\",\"bbox\":\"10,20,11,21\"}",
        "{\"query\":\"nod[a=b];out\"}",
    ])
}

pub fn score_seeds() -> Vec<Vec<u8>> {
    super::texts(&[
        "{\"predictions\":[\"[out:json];node[amenity=cafe];out;\"],\"references\":[\"[out:json];node(1);out;\"],\"bbox\":[\"10,20,11,21\"]}",
        "{\"predictions\":[\"nwr({{bbox}});out geom;\",\"nod\"],\"references\":[\"{{geocodeArea:Ladle}}->.a;nwr(area.a);out;\",\"node(2);out;\"],\"places\":{\"Ladle\":{\"lat\":\"10\",\"lon\":\"20\",\"osm_type\":\"relation\",\"osm_id\":31}}}",
    ])
}

/// Removes characters that would end the line or the head.
fn line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().filter(|c| !c.is_control()).collect()
}

pub fn check(input: &[u8]) {
    let mut lines = input.splitn(3, |byte| *byte == b'\n');
    let (first, kind, body) = (line(lines.next().unwrap_or_default()), lines.next(), lines.next().unwrap_or_default());
    let (method, target) = first.split_once(' ').unwrap_or(("GET", &first));
    let method = if ["GET", "POST", "OPTIONS", "HEAD", "PUT", "DELETE"].contains(&method) { method } else { "POST" };
    let target: String = target.chars().map(|c| if c == ' ' { '+' } else { c }).take(32 << 10).collect();
    let target = if target.starts_with('/') { target } else { format!("/{target}") };
    let kind = line(kind.unwrap_or_default());
    let kind = if kind.is_empty() { String::new() } else { format!("Content-Type: {kind}\r\n") };
    ask(method, &target, &kind, body);
}

pub fn check_feedback(input: &[u8]) {
    ask("POST", "/feedback", "Content-Type: application/json\r\n", input);
}

pub fn check_score(input: &[u8]) {
    ask("POST", "/score", "Content-Type: application/json\r\n", input);
}
