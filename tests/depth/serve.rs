//! Tests the same over HTTP: every text is sent to every service, and the server keeps running.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use super::common::Town;
use super::common::server::TestServer;
use super::{DepthCase, is_all, overpass, sparql, try_all};

const TEXT: &str = "text/plain";
const JSON: &str = "application/json";

/// Returns the requests for a text: path, content type, body.
fn requests(text: &str) -> [(&'static str, &'static str, String); 5] {
    let score = json!({"predictions": [text], "references": [text], "timeout": 1});
    [
        ("/api/interpreter", TEXT, text.to_owned()),
        ("/sparql", "application/sparql-query", text.to_owned()),
        ("/api/convert", TEXT, text.to_owned()),
        ("/feedback", JSON, json!({ "query": text }).to_string()),
        ("/score", JSON, score.to_string()),
    ]
}

/// Returns the status of a response. Returns an error if there is none, or if it reports an internal error.
fn ask(server: &TestServer, path: &str, content_type: &str, body: &str) -> Result<u16, String> {
    let mut stream = TcpStream::connect(server.address).map_err(|error| format!("no connection: {error}"))?;
    // Far more than the time limit of queries.
    stream.set_read_timeout(Some(Duration::from_secs(120))).map_err(|error| error.to_string())?;
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: {content_type}\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    // A body that is too long is rejected before all of it is read.
    let _ = stream.write_all(&[head.as_bytes(), body.as_bytes()].concat());
    let mut answer = Vec::new();
    // An incomplete response still has a status.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    let begins = || answer.chars().take(300).collect::<String>();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status: u16 = status.ok_or_else(|| format!("no status: {:?}", begins()))?;
    // The SPARQL endpoint returns 500 for a query that reaches a limit.
    let proper = matches!(status, 200 | 302 | 400 | 413 | 504) || status == 500 && path == "/sparql";
    let fault = answer.contains("see the server's log") || answer.contains("internal error");
    if proper && !fault { Ok(status) } else { Err(begins()) }
}

#[test]
fn no_text_ends_a_server() {
    let server =
        TestServer::over(Town::with_triples(), &["--max-time", "1", "--max-memory", "256MiB", "--max-queries", "2"]);
    let step = if is_all() { 1 } else { 97 };
    let some: Vec<DepthCase> = overpass::all().into_iter().chain(sparql::all()).step_by(step).collect();
    let wrong = std::sync::Mutex::new(Vec::new());
    try_all(&some, |text| {
        let told = requests(text).map(|(path, content_type, body)| match ask(&server, path, content_type, &body) {
            Ok(status) => status.to_string(),
            Err(said) => {
                let begins: String = text.chars().take(80).collect();
                wrong.lock().expect("no panic").push(format!("{path} {begins}: {said}"));
                "wrong".to_owned()
            }
        });
        told.join(" ")
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(server.get("/healthz").status, 200);
}
