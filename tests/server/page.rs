//! Tests the page for browsers as the server sends it. `tests/page/run` tests its behaviour in a browser.

use std::io::Read;

use crate::common::Town;
use crate::common::server::TestServer;
use serde_json::{Value, json};

const BROWSER: &str = "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n";

#[test]
fn browsers_get_the_page_and_programs_the_list_of_services() {
    let server = TestServer::start(&[]);
    let page = server.ask("GET", "/", BROWSER, "");
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.text().starts_with("<!doctype html>"), "{}", page.text());
    for accept in ["", "Accept: */*\r\n", "Accept: application/json, text/plain, */*\r\n", "Accept: text/html;q=0\r\n"]
    {
        let list = server.ask("GET", "/", accept, "");
        assert!(list.text().starts_with("Terrapin ") && list.text().contains("/api/interpreter"), "{accept}");
    }
    // A cache must not mix the page with the list of services.
    for answer in [&page, &server.get("/")] {
        assert!(answer.headers.lines().any(|line| line == "vary: accept"), "{}", answer.headers);
    }
    assert_eq!(server.get("/services").text(), server.get("/").text());
    for path in ["/node/1", "/way/21", "/relation/31", "/entity/Q42"] {
        assert_eq!(server.ask("GET", path, BROWSER, "").text(), page.text(), "{path}");
    }
    assert_eq!(server.ask("POST", "/", BROWSER, "").status, 405);
}

#[test]
fn nothing_of_the_page_comes_from_elsewhere_or_runs_inline() {
    let server = TestServer::start(&[]);
    let page = server.ask("GET", "/", BROWSER, "");
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains('*'), "{policy}");
    let html = page.text();
    let named: Vec<&str> = html.split(['"', '\'']).filter(|part| part.starts_with('/')).collect();
    assert!(
        named.iter().any(|path| path.ends_with(".js")) && named.iter().any(|path| path.ends_with(".css")),
        "{html}"
    );
    for path in named.iter().filter(|path| path.starts_with("/page/")) {
        let file = server.get(path);
        assert_eq!(file.status, 200, "{path}");
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert!(file.header("content-security-policy").is_some(), "{path}");
    }
    assert!(server.get("/page/licences.txt").text().contains("maplibre-gl"));
    assert_eq!(server.get("/page/nothing.js").status, 404);
    assert_eq!(server.get("/page/../Cargo.toml").status, 404);
    assert_eq!(server.get("/page/%2e%2e%2fCargo.toml").status, 404);
}

#[test]
fn files_are_sent_packed_once_and_not_again() {
    let server = TestServer::start(&[]);
    let plain = server.get("/page/page.js");
    let packed = server.ask("GET", "/page/page.js", "Accept-Encoding: br, gzip\r\n", "");
    assert_eq!((plain.header("content-encoding"), packed.header("content-encoding")), (None, Some("gzip")));
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut unpacked).unwrap();
    assert!(unpacked == plain.body && packed.body.len() * 2 < plain.body.len());
    let tag = packed.header("etag").unwrap().to_owned();
    assert_eq!(plain.header("etag"), Some(tag.as_str()));
    for known in [tag.clone(), format!("\"other\", W/{tag}"), "*".to_owned()] {
        let again = server.ask("GET", "/page/page.js", &format!("If-None-Match: {known}\r\n"), "");
        assert_eq!((again.status, again.body.len()), (304, 0), "{known}");
        assert_eq!(again.header("etag"), Some(tag.as_str()));
    }
    assert_eq!(server.ask("GET", "/page/page.js", "If-None-Match: \"other\"\r\n", "").status, 200);
    let font = server.ask("GET", "/page/ibm-plex-sans-latin-400-normal.woff2", "Accept-Encoding: gzip\r\n", "");
    assert_eq!((font.header("content-encoding"), &font.body[..4]), (None, &b"wOF2"[..]));
}

#[test]
fn the_page_needs_no_token_and_tells_nothing_of_the_data() {
    let town = Town::new();
    let tokens = town.path("tokens");
    std::fs::write(&tokens, format!("ann {}\n", "0".repeat(64))).unwrap();
    let server = TestServer::over(town, &["--tokens", tokens.to_str().unwrap()]);
    assert_eq!(server.ask("GET", "/", BROWSER, "").status, 200);
    assert_eq!(server.get("/page/page.js").status, 200);
    for path in ["/", "/services", "/api/snapshot"] {
        assert_eq!(server.get(path).status, 401, "{path}");
    }
}

#[test]
fn programs_are_told_what_is_served() {
    let server = TestServer::over(Town::with_triples(), &[]);
    let answer = server.get("/api/snapshot");
    let facts: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(Some(facts["digest"].as_str().unwrap()), answer.header("x-terrapin-snapshot"));
    assert_eq!(facts["data_time"], "2020-01-06T12:00:00Z");
    assert_eq!(facts["counts"]["nodes"], 8);
    assert!(facts["triples"].as_u64().unwrap() > 0);
    assert_eq!(facts["history"], false);
    let sides: Vec<f64> = facts["bounding_box"].as_array().unwrap().iter().map(|side| side.as_f64().unwrap()).collect();
    assert!(sides[0] < sides[2] && sides[1] < sides[3] && sides[0] > 9.0 && sides[2] < 12.0, "{sides:?}");
    let without: Value = serde_json::from_slice(&TestServer::start(&[]).get("/api/snapshot").body).unwrap();
    assert_eq!(without["triples"], Value::Null);
}

#[test]
fn while_somebody_types_a_query_is_read_and_not_run() {
    let server = TestServer::over(Town::with_triples(), &[]);
    let ask = |question: Value| -> Value {
        let answer = server.ask("POST", "/feedback", "", &question.to_string());
        assert_eq!(answer.status, 200, "{}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    };
    let said = ask(json!({ "query": "node[amenty=cafe];out;", "lang": "overpassql", "run": false }));
    assert_eq!((said["results"].clone(), said["warnings"][0]["code"].as_str()), (Value::Null, Some("no-such-key")));
    let said = ask(json!({ "query": "nod(1);out;", "lang": "overpassql", "run": false }));
    assert_eq!((said["errors"][0]["line"].as_i64(), said["errors"][0]["column"].as_i64()), (Some(1), Some(1)));
    // If it ran, this query would not end.
    let endless = "SELECT * { ?a ?b ?c. ?d ?e ?f. ?g ?h ?i. ?j ?k ?l. ?m ?n ?o. ?p ?q ?r. ?s ?t ?u FILTER(?a = 1) }";
    let said = ask(json!({ "query": endless, "lang": "sparql", "run": false }));
    assert_eq!((said["errors"].as_array().unwrap().len(), &said["results"]), (0, &Value::Null));
    let said = ask(json!({ "query": "SELECT * { ?a ", "lang": "sparql", "run": false }));
    assert_eq!(said["errors"][0]["class"], "parse error");
    let ran = ask(json!({ "query": "node[amenity=cafe];out;" }));
    assert_eq!(ran["results"]["count"], 4);
}
