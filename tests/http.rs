//! What a client of the HTTP services sees.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::Town;
use serde_json::Value;

/// A server over the town; ends with it.
struct Server {
    child: Child,
    address: SocketAddr,
    _town: Town,
}

impl Server {
    fn start(options: &[&str]) -> Self {
        let town = Town::new();
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("terrapin"))
            .arg("serve")
            .arg(town.snapshot())
            .args(["--bind", "127.0.0.1:0", "--json"])
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let address = ready["url"].as_str().unwrap().strip_prefix("http://").unwrap().parse().unwrap();
        Server { child, address, _town: town }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    /// Sends a request and reads the whole answer.
    fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let mut stream = self.connect();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
        )
        .unwrap();
        // The server may refuse a long body before it has read it.
        let _ = stream.write_all(body.as_bytes());
        Answer::read(stream)
    }

    fn query(&self, text: &str) -> Answer {
        self.ask("POST", "/api/interpreter", FORM, &format!("data={}", encoded(text)))
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

fn encoded(text: &str) -> String {
    text.bytes().map(|b| format!("%{b:02X}")).collect()
}

struct Answer {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl Answer {
    fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A server that refuses a long body closes before it has read all of it: what it said stands.
        let _ = stream.read_to_end(&mut bytes);
        let split = bytes.windows(4).position(|w| w == b"\r\n\r\n").expect("a head");
        let headers = String::from_utf8(bytes[..split].to_vec()).unwrap().to_ascii_lowercase();
        let mut body = bytes.split_off(split + 4);
        if headers.contains("transfer-encoding: chunked") {
            body = unchunk(&body);
        }
        let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, headers, body }
    }

    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    fn ids(&self) -> Vec<i64> {
        let answer: Value = serde_json::from_slice(&self.body).unwrap();
        answer["elements"].as_array().unwrap().iter().map(|e| e["id"].as_i64().unwrap()).collect()
    }
}

fn unchunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let end = bytes.windows(2).position(|w| w == b"\r\n").expect("a chunk's size");
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            return out;
        }
        out.extend_from_slice(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 4 + size..];
    }
}

const CAFES: &str = "[out:json];node[amenity=cafe];out;";

#[test]
fn a_query_is_answered_however_it_is_sent() {
    let server = Server::start(&[]);
    let path = format!("/api/interpreter?data={}", encoded(CAFES));
    let answers = [
        server.query(CAFES),
        server.ask("GET", &path, "", ""),
        server.ask("POST", "/api/interpreter", "Content-Type: text/plain\r\n", CAFES),
        // As curl -d sends it.
        server.ask("POST", "/api/interpreter", FORM, CAFES),
    ];
    for answer in answers {
        assert_eq!((answer.status, answer.ids()), (200, vec![1, 2, 3, 4]), "{}", answer.text());
        assert!(answer.headers.contains("content-type: application/json"), "{}", answer.headers);
        assert!(answer.headers.contains("x-terrapin-snapshot: "), "{}", answer.headers);
    }
    let xml = server.query("node(1);out;");
    assert!(xml.headers.contains("content-type: application/osm3s+xml"), "{}", xml.headers);
    assert!(xml.text().contains("<node id=\"1\""));
}

#[test]
fn a_wrong_query_gets_the_page_that_clients_know() {
    let server = Server::start(&[]);
    let answer = server.query("nod<b>(1);out;");
    assert_eq!(answer.status, 400);
    assert!(answer.headers.contains("content-type: text/html"), "{}", answer.headers);
    let page = answer.text();
    assert!(page.contains("<p><strong style=\"color:#FF0000\">Error</strong>: line 1: parse error: "), "{page}");
    assert!(!page.contains("<b>"), "{page}");

    assert_eq!(server.ask("GET", "/api/interpreter", "", "").status, 400);
    assert_eq!(server.ask("POST", "/api/interpreter", FORM, "data=").status, 400);
    assert_eq!(server.ask("POST", "/api/interpreter", FORM, "data=%ff%fe%00").status, 400);
    assert_eq!(server.ask("DELETE", "/api/interpreter", "", "").status, 405);
    assert_eq!(server.ask("GET", "/nowhere", "", "").status, 404);
}

#[test]
fn a_query_is_converted_on_a_page() {
    let server = Server::start(&[]);
    let converted = |parameters: &str| {
        let answer = server.ask("GET", &format!("/api/convert?{parameters}"), "", "");
        let text = answer.text();
        let inner = text.split_once("<pre>").and_then(|(_, rest)| rest.split_once("</pre>")).map(|(inner, _)| inner);
        (answer.status, inner.unwrap_or(&text).replace("&quot;", "\"").replace("&gt;", ">").replace("&lt;", "<"))
    };
    let xml = "<osm-script>\n  <id-query type=\"node\" ref=\"1\"/>\n</osm-script>";
    let query = encoded("node(1);ouy;");
    assert_eq!(converted(&format!("data={query}&target=xml")), (200, xml.to_owned()));
    let xml = encoded(xml);
    assert_eq!(converted(&format!("data={xml}&target=compact")), (200, "node(1);".to_owned()));
    assert_eq!(converted(&format!("data={xml}&target=mapql")), (200, "node(1);".to_owned()));
    assert_eq!(converted("data=out;&target=sql").0, 400);
    let page = server.ask("GET", &format!("/api/convert?data={query}"), "", "");
    assert!(page.text().contains("Error</strong>: line 1: parse error: Unknown type &quot;ouy&quot;"));
}

#[test]
fn a_huge_body_is_refused_and_the_server_goes_on() {
    let server = Server::start(&["--max-body", "10k"]);
    let answer = server.ask("POST", "/api/interpreter", FORM, &format!("data={}", "x".repeat(20 << 10)));
    assert_eq!(answer.status, 413);
    assert!(answer.text().contains("longer than 10240 bytes"), "{}", answer.text());
    assert_eq!(server.query(CAFES).status, 200);
}

#[test]
fn browsers_of_other_sites_may_ask() {
    let server = Server::start(&[]);
    let preflight = "Origin: http://a.example\r\nAccess-Control-Request-Method: POST\r\n\
                     Access-Control-Request-Headers: content-type\r\n";
    let answer = server.ask("OPTIONS", "/api/interpreter", preflight, "");
    assert_eq!(answer.status, 200);
    assert!(answer.headers.contains("access-control-allow-origin: *"), "{}", answer.headers);
    assert!(answer.headers.contains("access-control-allow-methods: get,post,options"), "{}", answer.headers);
    let answer = server.ask("POST", "/api/interpreter", "Origin: http://a.example\r\n", CAFES);
    assert!(answer.headers.contains("access-control-allow-origin: *"), "{}", answer.headers);
}

#[test]
fn answers_are_compressed_where_the_client_can_read_that() {
    let server = Server::start(&[]);
    let answer = server.ask("POST", "/api/interpreter", "Accept-Encoding: gzip\r\n", CAFES);
    assert!(answer.headers.contains("content-encoding: gzip"), "{}", answer.headers);
    let mut plain = String::new();
    flate2::read::GzDecoder::new(&answer.body[..]).read_to_string(&mut plain).unwrap();
    assert_eq!(plain, server.query(CAFES).text());
}

#[test]
fn the_small_services_answer() {
    let server = Server::start(&["--max-queries", "3"]);
    let get = |path: &str| server.ask("GET", path, "", "");
    assert_eq!(get("/api/timestamp").text(), "2020-01-06T12:00:00Z\n");
    let status = get("/api/status").text();
    let lines: Vec<&str> = status.lines().collect();
    assert_eq!((lines[3], lines[4]), ("Rate limit: 3", "3 slots available now."));
    assert_eq!((get("/healthz").status, get("/healthz").text().as_str()), (200, "ok\n"));
    assert!(get("/").text().contains("8 nodes, 2 ways, 2 relations, 1 areas"), "{}", get("/").text());
    server.query(CAFES);
    server.query("nod(1);out;");
    // A query is counted just after its answer is out.
    let counted = ["queries_total{outcome=\"answered\"} 1", "queries_total{outcome=\"refused\"} 1", "elements_total 4"];
    let patience = Instant::now() + Duration::from_secs(5);
    loop {
        let metrics = get("/metrics").text();
        if counted.iter().all(|line| metrics.contains(line)) {
            break;
        }
        assert!(Instant::now() < patience, "{metrics}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// An answer of some 50 MB, more than all buffers on the way hold: a client that does not read it keeps its slot.
fn long_query() -> String {
    format!("[out:json];node[amenity=cafe];{}", "out meta;".repeat(60_000))
}

/// Asks the long query and reads only how its answer begins.
fn begin(server: &Server) -> TcpStream {
    let mut stream = server.connect();
    let text = long_query();
    write!(stream, "POST /api/interpreter HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n{text}", text.len())
        .unwrap();
    let mut beginning = [0; 15];
    stream.read_exact(&mut beginning).unwrap();
    assert_eq!(&beginning, b"HTTP/1.1 200 OK");
    stream
}

#[test]
fn a_long_answer_comes_whole() {
    let server = Server::start(&[]);
    let answer = server.query(&long_query());
    assert_eq!(answer.status, 200);
    assert!(answer.headers.contains("transfer-encoding: chunked"), "{}", answer.headers);
    assert_eq!(answer.ids().len(), 240_000);
}

#[test]
fn a_full_server_sends_clients_away_until_one_leaves() {
    let server = Server::start(&["--max-queries", "1", "--max-waiting", "1", "--max-wait", "1"]);
    let sleeper = begin(&server);
    let status = server.ask("GET", "/api/status", "", "").text();
    assert!(status.lines().nth(4).unwrap().starts_with("Slot available after: "), "{status}");
    assert_eq!(status.lines().count(), 7, "{status}");
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..3).map(|_| scope.spawn(|| server.query(CAFES))).collect();
        let mut answers: Vec<u16> = asked.into_iter().map(|a| a.join().unwrap().status).collect();
        answers.sort_unstable();
        assert_eq!(answers, [429, 429, 504]);
    });
    assert_eq!(server.ask("GET", "/healthz", "", "").status, 200);
    drop(sleeper);
    let answer = server.query(CAFES);
    assert_eq!(answer.status, 200, "the client that left gave its slot back: {}", answer.text());
}

#[test]
fn a_server_that_was_told_to_stop_ends_what_runs_and_never_feigns_a_whole_answer() {
    let mut server = Server::start(&["--grace", "1"]);
    let mut sleeper = begin(&server);
    server.signal("-TERM");
    let told = Instant::now();
    assert!(server.child.wait().unwrap().success());
    assert!(told.elapsed() < Duration::from_secs(8), "{:?}", told.elapsed());
    let mut rest = Vec::new();
    let _ = sleeper.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"\r\n0\r\n\r\n"), "a broken answer must not end as a whole one does");
}

#[test]
fn an_idle_server_stops_at_once() {
    let mut server = Server::start(&[]);
    server.signal("-INT");
    let told = Instant::now();
    assert!(server.child.wait().unwrap().success());
    assert!(told.elapsed() < Duration::from_secs(5), "{:?}", told.elapsed());
}

/// Goes round for hours without a byte of an answer.
fn endless_query(timeout: u32) -> String {
    let nested = (0..16).fold(String::new(), |inner, _| format!("node[amenity=cafe];foreach{{{inner}}}"));
    format!("[out:json][timeout:{timeout}];{nested}out;")
}

#[test]
fn a_query_over_its_time_gets_504() {
    let server = Server::start(&[]);
    let answer = server.query(&endless_query(1));
    assert_eq!(answer.status, 504, "{}", answer.text());
    assert!(answer.text().contains("runtime error: Query timed out in "), "{}", answer.text());
    let server = Server::start(&["--max-time", "1"]);
    assert_eq!(server.query(&endless_query(600)).status, 504);
}

#[test]
fn a_client_that_leaves_stops_its_query() {
    let server = Server::start(&["--max-queries", "1"]);
    let mut stream = server.connect();
    let text = endless_query(600);
    write!(stream, "POST /api/interpreter HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n{text}", text.len())
        .unwrap();
    let patience = Instant::now() + Duration::from_secs(10);
    while server.ask("GET", "/api/status", "", "").text().lines().count() < 7 {
        assert!(Instant::now() < patience, "the query does not run");
    }
    drop(stream);
    assert_eq!(server.query(CAFES).status, 200);
}
