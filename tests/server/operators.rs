//! Tests the features for operators of a public instance: limits for each client, the log, tokens, metrics, stopping
//! queries, and configuration. Also tests that the page for operators is complete.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::server::{FORM, HttpAnswer, TestServer, encoded};
use crate::common::{Town, terrapin};
use serde_json::Value;
use sha2::{Digest, Sha256};

const CAFES: &str = "[out:json];node[amenity=cafe];out;";
/// Trusts a proxy at loopback; the test itself acts as that proxy.
const PROXY: [&str; 2] = ["--trusted-proxy", "127.0.0.1"];

/// A server with its log in a file.
struct Logged {
    server: TestServer,
    log: PathBuf,
    _town: Town,
}

impl Logged {
    fn start(options: &[&str]) -> Self {
        Logged::with(options, &[])
    }

    fn with(options: &[&str], variables: &[(&str, &str)]) -> Self {
        let town = Town::with_triples();
        let log = town.path("log");
        let mut command = TestServer::command(&town.snapshot());
        command.args(["--log", "json"]).args(options).env_remove("RUST_LOG").envs(variables.iter().copied());
        command.stderr(Stdio::from(std::fs::File::create(&log).unwrap()));
        Logged { server: TestServer::launch(command), log, _town: town }
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Returns the log line of a request. The server writes it shortly after the response.
    fn line(&self, request_id: &str) -> Value {
        within_seconds(10, "no such line in the log", || {
            let lines = self.text();
            let mut lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            lines.find(|line| {
                line["target"] == "access" && line["request_id"] == request_id && line["status"].is_u64()
                    // `running` asks for the status with the same headers.
                    && line["route"] != "/api/status"
            })
        })
    }
}

fn within_seconds<T>(seconds: u64, or_else: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "{or_else}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns a query that runs for hours without any output.
fn endless(timeout: u32) -> String {
    let nested = (0..16).fold(String::new(), |inner, _| format!("node[amenity=cafe];foreach{{{inner}}}"));
    format!("[out:json][timeout:{timeout}];{nested}out;")
}

/// Returns the number of running [`endless`] queries of the client with these headers, recognized by the maximum time
/// of 300 s.
fn running(server: &TestServer, headers: &str) -> usize {
    server.ask("GET", "/api/status", headers, "").text().lines().filter(|line| line.contains("\t300\t")).count()
}

/// Sends a query that runs until it is stopped; returns when it is running.
fn run_endless(server: &TestServer, headers: &str) -> TcpStream {
    let before = running(server, headers);
    let mut stream = server.connect();
    let text = endless(600);
    let length = text.len();
    write!(
        stream,
        "POST /api/interpreter HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{text}"
    )
    .unwrap();
    within_seconds(20, "the query does not run", || (running(server, headers) > before).then_some(()));
    stream
}

fn query(server: &TestServer, headers: &str) -> HttpAnswer {
    server.ask("POST", "/api/interpreter", headers, CAFES)
}

fn from(address: &str) -> String {
    format!("X-Forwarded-For: {address}\r\n")
}

#[test]
fn a_client_has_so_many_queries_at_once_and_others_theirs() {
    let server =
        TestServer::over(Town::with_triples(), &["--max-queries", "4", "--client-queries", "1", PROXY[0], PROXY[1]]);
    let (ann, bob) = (from("192.0.2.1"), from("6.6.6.6, 192.0.2.2"));
    let running = run_endless(&server, &ann);
    let refused = query(&server, &ann);
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("retry-after"), Some("5"));
    assert!(refused.text().contains("Dispatcher_Client::request_read_and_idx::rate_limited"), "{}", refused.text());
    let json = server.ask("POST", "/feedback", &ann, "{\"query\": \"out;\"}");
    assert_eq!((json.status, json.header("content-type")), (429, Some("application/json")));
    let sparql = server.ask("GET", &format!("/sparql?query={}", encoded("ASK {}")), &ann, "");
    assert!(sparql.status == 429 && sparql.header("content-type").unwrap().starts_with("text/plain"));
    assert!(server.ask("GET", "/api/timestamp", &ann, "").status == 200, "what is no query is not limited");

    let status = server.ask("GET", "/api/status", &ann, "").text();
    let lines: Vec<&str> = status.lines().collect();
    assert_eq!((lines[0], lines[3]), ("Connected as: 3221225985", "Rate limit: 1"), "{status}");
    assert!(lines[4].starts_with("Slot available after: ") && lines[4].ends_with(" seconds."), "{status}");
    assert_eq!(lines[5], "Currently running queries (pid, space limit, time limit, start time):");
    assert_eq!((lines.len(), lines[6].split('\t').count()), (7, 4), "{status}");

    assert_eq!(query(&server, &bob).status, 200);
    let status = within_seconds(5, "a query that was answered is gone", || {
        let status = server.ask("GET", "/api/status", &bob, "").text();
        (!status.contains('\t')).then_some(status)
    });
    let lines: Vec<&str> = status.lines().collect();
    assert_eq!(
        (lines[0], lines[4], lines.len()),
        ("Connected as: 3221225986", "1 slots available now.", 6),
        "{status}"
    );

    drop(running);
    within_seconds(5, "the client that left has its slot back", || (query(&server, &ann).status == 200).then_some(()));
}

#[test]
fn a_client_is_not_who_it_says_it_is() {
    let server = TestServer::start(&["--client-queries", "1", "--trusted-proxy", "192.0.2.0/24"]);
    let _running = run_endless(&server, &from("198.51.100.1"));
    assert_eq!(query(&server, &from("198.51.100.2")).status, 429, "the peer is no trusted proxy");
    let status = server.ask("GET", "/api/status", &from("198.51.100.2"), "").text();
    assert!(status.starts_with("Connected as: 2130706433\n"), "{status}");
}

#[test]
fn a_network_of_64_bits_is_one_client() {
    let server = TestServer::start(&["--client-queries", "1", "--max-queries", "3", PROXY[0], PROXY[1]]);
    let _running = run_endless(&server, &from("2001:db8:0:1::1"));
    assert_eq!(query(&server, &from("2001:db8:0:1:ffff::2")).status, 429);
    assert_eq!(query(&server, &from("2001:db8:0:2::1")).status, 200);
}

#[test]
fn seconds_of_work_are_limited_and_told() {
    let server = TestServer::start(&["--client-seconds", "1", PROXY[0], PROXY[1]]);
    let (ann, bob) = (from("192.0.2.1"), from("192.0.2.2"));
    assert_eq!(server.ask("POST", "/api/interpreter", &ann, &endless(2)).status, 504);
    let refused = query(&server, &ann);
    assert_eq!(refused.status, 429, "{}", refused.text());
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((20..=90).contains(&wait), "one second too much at a second a minute: {wait}");
    let status = server.ask("GET", "/api/status", &ann, "").text();
    let told: u64 = status.lines().nth(4).unwrap().rsplit(' ').nth(1).unwrap().parse().unwrap();
    assert!(
        status.lines().nth(4).unwrap().starts_with("Slot available after: ") && told.abs_diff(wait) <= 2,
        "{status}"
    );
    assert_eq!(query(&server, &bob).status, 200);
    let metrics = server.ask("GET", "/metrics", "", "").text();
    assert!(metrics.contains("terrapin_rejected_total{reason=\"client_seconds\"} 1\n"), "{metrics}");
    assert!(metrics.contains("terrapin_clients 2\n"), "{metrics}");
}

#[test]
fn each_request_has_a_line_in_the_log() {
    let logged = Logged::start(&[]);
    let server = &logged.server;
    let path = format!("/api/interpreter?data={}", encoded(CAFES));
    let secret = "Authorization: Bearer s3cret-token\r\nX-Request-Id: one/1\r\n";
    let answer = server.ask("GET", &path, secret, "");
    assert_eq!((answer.status, answer.header("x-request-id")), (200, Some("one/1")));
    let line = logged.line("one/1");
    let digest: String = Sha256::digest(CAFES).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(line["digest"], digest.as_str(), "{line}");
    assert_eq!(line["bytes"], answer.body.len(), "{line}");
    for (field, value) in [
        ("client", "127.0.0.1"),
        ("address", "127.0.0.1"),
        ("method", "GET"),
        ("route", "/api/interpreter"),
        ("ended", "whole"),
        ("level", "INFO"),
    ] {
        assert_eq!(line[field], value, "{line}");
    }
    assert_eq!(line["status"], 200);
    assert!(line["ms"].as_f64().unwrap() > 0.0 && line["work"].is_u64(), "{line}");

    let made = server.ask("GET", "/nowhere?secret=1", "X-Request-Id: a b\r\n", "");
    let made = made.header("x-request-id").unwrap();
    let line = logged.line(made);
    assert_eq!((made.len(), &line["route"], &line["status"]), (36, &"none".into(), &404.into()), "{line}");

    let sparql = encoded("SELECT * { ?s ?p ?o }");
    server.ask("GET", &format!("/sparql?query={sparql}"), "X-Request-Id: two\r\n", "");
    let line = logged.line("two");
    assert!(line["route"] == "/sparql" && line["work"].as_u64().unwrap() > 0 && line["digest"].is_string(), "{line}");

    let log = logged.text();
    for secret in ["s3cret", "secret=1", "cafe", "SELECT", "data="] {
        assert!(!log.contains(secret), "{secret} is in the log: {log}");
    }
}

#[test]
fn the_line_says_whether_the_answer_went_out_whole() {
    let logged = Logged::with(&[], &[("RUST_LOG", "info,access=debug")]);
    let server = &logged.server;
    let long = format!("[out:json];node[amenity=cafe];{}", "out meta;".repeat(60_000));
    let answer = server.ask("POST", "/api/interpreter", "X-Request-Id: whole\r\n", &long);
    let line = logged.line("whole");
    assert!(line["ended"] == "whole" && line["bytes"] == answer.body.len(), "{line}");

    let mut stream = server.connect();
    write!(
        stream,
        "POST /api/interpreter HTTP/1.1\r\nHost: test\r\nX-Request-Id: broken\r\nContent-Length: {}\r\n\r\n{long}",
        long.len()
    )
    .unwrap();
    stream.read_exact(&mut [0; 1000]).unwrap();
    drop(stream);
    let line = logged.line("broken");
    assert!(line["ended"] == "broken off" && line["status"] == 200, "{line}");
    assert!(line["bytes"].as_u64().unwrap() < answer.body.len() as u64, "{line}");

    // A client that leaves before the response.
    drop(run_endless(server, "X-Request-Id: left\r\n"));
    let line = logged.line("left");
    assert!(line["status"] == 499 && line["ended"] == "broken off", "{line}");
    // The text of queries is logged at level debug only.
    assert!(logged.text().lines().any(|line| line.contains("\"DEBUG\"") && line.contains("foreach")));
}

#[test]
fn a_log_that_nobody_reads_holds_up_nobody() {
    let town = Town::new();
    let mut command = TestServer::command(&town.snapshot());
    command.stderr(Stdio::piped()).env_remove("RUST_LOG");
    let server = TestServer::launch(command);
    // Many times the capacity of a pipe.
    let id = format!("X-Request-Id: {}\r\n", "x".repeat(128));
    for _ in 0..1000 {
        assert_eq!(server.ask("GET", "/healthz", &id, "").status, 200);
    }
    assert_eq!(query(&server, "").status, 200);
}

fn tokens(entries: &[(&str, &str, &str)]) -> String {
    let hex = |token: &str| Sha256::digest(token).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    entries.iter().map(|(name, token, rest)| format!("{name} {}{rest}\n", hex(token))).collect()
}

#[test]
fn with_a_file_of_tokens_queries_need_one() {
    let town = Town::with_triples();
    let file = town.path("tokens");
    std::fs::write(
        &file,
        "# names and digests\n".to_owned() + &tokens(&[("ann", "one", ""), ("root", "two", " admin")]),
    )
    .unwrap();
    let server =
        TestServer::over(town, &["--tokens", file.to_str().unwrap(), "--max-queries", "4", "--client-queries", "1"]);
    let (ann, root) = ("Authorization: Bearer one\r\n", "authorization: bearer two\r\n");
    for path in ["/", "/api/interpreter?data=out;", "/sparql?query=ASK{}", "/api/status", "/search?q=x", "/nowhere"] {
        let answer = server.ask("GET", path, "", "");
        assert_eq!(
            (answer.status, answer.header("www-authenticate")),
            (401, Some("bearer realm=\"terrapin\"")),
            "{path}"
        );
        let answer = server.ask("GET", path, "Authorization: Bearer three\r\n", "");
        assert!(answer.status == 401 && answer.header("www-authenticate").unwrap().contains("invalid_token"), "{path}");
    }
    assert!(query(&server, "").text().contains("<strong style=\"color:#FF0000\">Error</strong>: a token is required"));
    for path in ["/healthz", "/metrics"] {
        assert_eq!(server.ask("GET", path, "", "").status, 200, "{path}");
    }
    assert_eq!((query(&server, ann).status, query(&server, root).status), (200, 200));

    // A browser sends a preflight request before a request with this header.
    let preflight = "Origin: http://a.example\r\nAccess-Control-Request-Method: POST\r\n\
                     Access-Control-Request-Headers: authorization\r\n";
    let answer = server.ask("OPTIONS", "/api/interpreter", preflight, "");
    assert_eq!((answer.status, answer.header("access-control-allow-headers")), (200, Some("authorization")));

    // Limits apply to the token, and only an administrator's token stops queries of others.
    let mut running = run_endless(&server, ann);
    assert_eq!((query(&server, ann).status, query(&server, root).status), (429, 200));
    let status = server.ask("GET", "/api/status", ann, "").text();
    let number = status.lines().last().unwrap().split('\t').next().unwrap();
    let kill = format!("/api/kill/{number}");
    assert_eq!(server.ask("POST", &kill, ann, "").status, 403);
    assert_eq!(server.ask("POST", &kill, "", "").status, 401);
    assert_eq!(server.ask("GET", &kill, root, "").status, 405);
    assert_eq!(server.ask("POST", "/api/kill/0", root, "").status, 404);
    assert_eq!(server.ask("POST", "/api/kill/x", root, "").status, 400);
    let killed = server.ask("POST", &kill, root, "");
    assert!(killed.status == 200 && killed.text().contains("\"client\":\"ann\""), "{}", killed.text());
    let mut answer = String::new();
    running.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");

    // An invalid token file is ignored; a valid one is loaded.
    std::fs::write(&file, "broken").unwrap();
    server.signal("-HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(query(&server, ann).status, 200);
    std::fs::write(&file, tokens(&[("bob", "three", "")])).unwrap();
    server.signal("-HUP");
    within_seconds(10, "the new file is not read", || {
        (query(&server, "Authorization: Bearer three\r\n").status == 200).then_some(())
    });
    assert_eq!(query(&server, ann).status, 401);
}

#[test]
fn a_client_is_told_what_its_queries_cost() {
    let server = TestServer::over(Town::with_triples(), &PROXY);
    let (ann, bob) = (from("192.0.2.1"), from("192.0.2.2"));
    let cost = |client: &str, request: &str| {
        let answer = server.ask("GET", &format!("/api/cost?request={}", encoded(request)), client, "");
        (answer.status, serde_json::from_str::<Value>(&answer.text()).unwrap())
    };
    let answer = query(&server, &format!("{ann}X-Request-Id: one/1\r\n"));
    let (status, told) = cost(&ann, "one/1");
    assert_eq!(status, 200, "{told}");
    let elements: Value = serde_json::from_str(&answer.text()).unwrap();
    assert_eq!(told["results"], elements["elements"].as_array().unwrap().len(), "{told}");
    assert_eq!((&told["bytes"], &told["request"]), (&answer.body.len().into(), &"one/1".into()), "{told}");
    assert!(told["work"].is_u64() && told["memory"].as_u64() > Some(0), "{told}");
    assert!(told["milliseconds"].as_f64() > Some(0.0), "{told}");
    let sparql = server.ask("GET", &format!("/sparql?query={}", encoded("SELECT * { ?s ?p ?o }")), &ann, "");
    let (_, triples) = cost(&ann, sparql.header("x-request-id").unwrap());
    assert!(triples["work"].as_u64() > Some(0) && triples["results"].as_u64() > Some(0), "{triples}");
    assert_eq!(cost(&bob, "one/1").0, 404, "somebody else's");
    assert_eq!(server.ask("GET", "/api/cost", &ann, "").status, 400);
}

#[test]
fn a_client_stops_its_own_queries_and_nobody_elses() {
    let server = TestServer::start(&["--max-queries", "4", PROXY[0], PROXY[1]]);
    let (ann, bob) = (from("192.0.2.1"), from("192.0.2.2"));
    let mut anns = [run_endless(&server, &ann), run_endless(&server, &ann)];
    let mut bobs = run_endless(&server, &bob);
    assert_eq!(server.ask("POST", "/api/kill/1", &ann, "").status, 403, "without tokens there are no admins");
    let killed = server.ask("GET", "/api/kill_my_queries", &ann, "");
    assert_eq!(
        (killed.status, killed.text().as_str()),
        (
            200,
            "Killing query (pid 1) from IP 192.0.2.1 ...\nDone!\nKilling query (pid 2) from IP 192.0.2.1 ...\nDone!\n"
        )
    );
    for stream in &mut anns {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    }
    assert_eq!(server.ask("GET", "/api/kill_my_queries", &ann, "").text(), "");
    assert_eq!(running(&server, &bob), 1);
    bobs.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert!(bobs.read(&mut [0; 1]).is_err(), "still running");
}

#[test]
fn metrics_have_an_address_of_their_own() {
    let server = TestServer::start(&["--metrics-bind", "127.0.0.1:0", "--max-queries", "3"]);
    assert_eq!(server.ask("GET", "/metrics", "", "").status, 404);
    assert_eq!(query(&server, "").status, 200);
    assert_eq!(server.query("nod;").status, 400);
    let mut running = run_endless(&server, "X-Request-Id: mine\r\n");
    let all = server.ask_metrics("GET", "/api/status").text();
    assert!(all.lines().last().unwrap().ends_with("\t127.0.0.1\tmine"), "{all}");
    let wanted = [
        "terrapin_requests_total{route=\"/api/interpreter\",status=\"2xx\"} 1",
        "terrapin_requests_total{route=\"/api/interpreter\",status=\"4xx\"} 1",
        "terrapin_requests_total{route=\"none\"",
        "terrapin_requests_in_flight 1",
        "terrapin_queries_running 1",
        "terrapin_query_seconds_bucket",
        "terrapin_request_seconds_bucket{route=\"/api/interpreter\"",
        "process_open_fds ",
        "process_resident_memory_bytes ",
        "process_cpu_seconds_total ",
    ];
    server.ask("GET", "/wp-login.php", "", "");
    let metrics = within_seconds(10, "metrics are missing", || {
        let metrics = server.ask_metrics("GET", "/metrics").text();
        wanted.iter().all(|line| metrics.contains(line)).then_some(metrics)
    });
    assert!(!metrics.contains("wp-login"), "labels are the router's routes");
    let resident = metrics.lines().find_map(|l| l.strip_prefix("process_resident_memory_bytes ")).unwrap();
    assert!((1e6..1e10).contains(&resident.parse::<f64>().unwrap()), "{resident}");
    assert_eq!(server.ask_metrics("GET", "/healthz").status, 200);
    assert_eq!(server.ask_metrics("GET", "/api/interpreter").status, 404);
    let number = all.lines().last().unwrap().split('\t').next().unwrap();
    assert_eq!(server.ask_metrics("POST", &format!("/api/kill/{number}")).status, 200);
    let mut answer = String::new();
    running.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
}

/// Runs the program; returns exit status, standard output and standard error.
fn run(args: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
    let output = terrapin().args(args).envs(variables.iter().copied()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().expect("ended by itself"), text(output.stdout), text(output.stderr))
}

#[test]
fn a_flag_goes_before_a_variable_before_the_file_before_the_default() {
    let town = Town::new();
    let (snapshot, file) = (town.snapshot(), town.path("terrapin.toml"));
    let snapshot = snapshot.to_str().unwrap();
    std::fs::write(
        &file,
        format!(
            "snapshot = {snapshot:?}\nmax-queries = 5\nmax-wait = 6\nmax-time = 7\nmax-memory = \"1GiB\"\n\
             trusted-proxy = [\"10.0.0.0/8\", \"::1\"]\nlog = \"json\"\njson = true\n"
        ),
    )
    .unwrap();
    let file = file.to_str().unwrap();
    let check = ["serve", "--config", file, "--check-config", "--max-queries", "2"];
    let (status, out, err) = run(&check, &[("TERRAPIN_MAX_QUERIES", "3"), ("TERRAPIN_MAX_WAIT", "4")]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    let line = |key: &str| {
        let line =
            out.lines().find(|line| line.starts_with(&format!("{key} = "))).unwrap_or_else(|| panic!("{key}: {out}"));
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("max-queries"), "max-queries = 2 # command line");
    assert_eq!(line("max-wait"), "max-wait = 4 # TERRAPIN_MAX_WAIT");
    assert_eq!(line("max-time"), "max-time = 7 # file");
    assert_eq!(line("max-waiting"), "max-waiting = 64 # default");
    assert_eq!(line("max-memory"), "max-memory = \"1GiB\" # file");
    assert_eq!(line("trusted-proxy"), "trusted-proxy = [\"10.0.0.0/8\", \"::1\"] # file");
    assert_eq!(line("json"), "json = true # file");
    assert!(out.contains("# tokens is not set\n"), "{out}");

    // The output is a valid configuration file with the same settings.
    let again = town.path("again.toml");
    std::fs::write(&again, &out).unwrap();
    let (status, second, err) = run(&["serve", "--config", again.to_str().unwrap(), "--check-config"], &[]);
    assert_eq!(status, 0, "{err}");
    let settings = |text: &str| text.parse::<toml::Table>().unwrap();
    assert_eq!(settings(&out), settings(&second));
    let (_, third, _) =
        run(&["serve", "--check-config"], &[("TERRAPIN_CONFIG", file), ("TERRAPIN_TRUSTED_PROXY", "::2,::3")]);
    assert!(third.contains("trusted-proxy = [\"::2\", \"::3\"]"), "{third}");

    // The server uses these settings.
    std::fs::write(town.path("bind.toml"), format!("snapshot = {snapshot:?}\nmax-queries = 7\n")).unwrap();
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("terrapin"));
    command.args(["serve", "--json"]).stderr(Stdio::null());
    command.env("TERRAPIN_CONFIG", town.path("bind.toml")).env("TERRAPIN_BIND", "127.0.0.1:0");
    let server = TestServer::launch(command);
    assert!(server.ask("GET", "/api/status", "", "").text().contains("Rate limit: 7\n"));
}

#[test]
fn what_is_wrong_with_the_configuration_is_said_before_anything_is_served() {
    let town = Town::new();
    let snapshot = town.snapshot();
    let snapshot = snapshot.to_str().unwrap();
    let file = |name: &str, text: &str| {
        std::fs::write(town.path(name), text).unwrap();
        town.path(name).to_str().unwrap().to_owned()
    };
    let typo = file("typo.toml", "# limits\nmax-querys = 2\n");
    let range = file("range.toml", "\nmax-queries = 0\n");
    let syntax = file("syntax.toml", "max-queries = \n");
    let tokens = file("tokens", "ann secret\n");
    let cases: [(&[&str], i32, &str); 9] = [
        (&["--config", &typo], 2, "typo.toml:2: unknown key `max-querys`: did you mean `max-queries`?"),
        (&["--config", &range], 2, "range.toml:2: invalid value '0' for '--max-queries <N>'"),
        (&["--config", &syntax], 2, "syntax.toml:1: "),
        (&["--config", "/nonexistent.toml"], 3, "cannot read the configuration /nonexistent.toml"),
        (&["--tokens", &tokens], 3, "tokens:1: expected a name and the token's SHA-256"),
        (&["--tokens", "/nonexistent"], 3, "/nonexistent: cannot be read"),
        (&["--bind", "127.0.0.1:8123", "--metrics-bind", "127.0.0.1:8123"], 2, "use two ports"),
        (&["--bind", "localhost"], 2, "invalid value 'localhost' for '--bind <BIND>'"),
        (&["--trusted-proxy", "proxy.example"], 2, "expected an address or a network"),
    ];
    for (options, exit, words) in cases {
        for check in [&["--check-config"][..], &[]] {
            let args = [&["serve", snapshot][..], options, check].concat();
            let (status, out, err) = run(&args, &[]);
            assert_eq!((status, out.as_str()), (exit, ""), "{args:?}: {err}");
            assert!(err.contains(words) && !err.contains("secret"), "{args:?}: {err}");
        }
    }
    let (status, _, err) = run(&["serve", "--check-config"], &[]);
    assert!(status == 2 && err.contains("no snapshot"), "{err}");
    let (status, _, err) = run(&["serve", "--check-config", &typo], &[]);
    assert!(status == 3 && err.contains("not a Terrapin snapshot"), "{err}");
    let (status, _, err) = run(&["serve", "--json", snapshot, "--config", &typo], &[]);
    let error: Value = serde_json::from_str(&err).unwrap();
    assert_eq!((status, &error["error"]["code"], &error["error"]["exit"]), (2, &"usage".into(), &2.into()));
}

const PAGE: &str = include_str!("../../docs/guides/operating.md");

#[test]
fn every_option_is_on_the_page_and_has_a_variable() {
    let (status, help, _) = run(&["serve", "--help"], &[]);
    assert_eq!(status, 0);
    let flags = help.lines().filter_map(|line| {
        let flag = line.trim_start().strip_prefix("-h, ").unwrap_or(line.trim_start());
        flag.strip_prefix("--").map(|flag| flag.split([' ', '=']).next().unwrap())
    });
    let flags: Vec<&str> = flags.filter(|flag| !["help", "version"].contains(flag)).collect();
    assert!(flags.len() > 15, "{help}");
    for flag in &flags {
        assert!(PAGE.contains(&format!("| `--{flag}` |")), "--{flag} has no row in docs/guides/operating.md");
        let variable = format!("[env: TERRAPIN_{}=", flag.replace('-', "_").to_uppercase());
        assert!(*flag == "check-config" || help.contains(&variable), "--{flag} has no variable: {help}");
    }
    let on_page = PAGE.lines().filter_map(|line| line.strip_prefix("| `--")?.split_once('`').map(|(flag, _)| flag));
    for flag in on_page {
        assert!(flags.contains(&flag), "docs/guides/operating.md has a row for --{flag}, which there is not");
    }
}

#[test]
fn every_metric_reason_and_field_of_the_log_is_on_the_page() {
    let names = |text: &'static str, prefix: &str| {
        // Ignore imports, which have names of crates instead of metrics.
        let lines = text.lines().filter(|line| !line.starts_with("use "));
        let mut names: Vec<&str> = lines
            .flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
            .filter(|word| word.starts_with(prefix) && word.len() > prefix.len())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let source = include_str!("../../crates/server/src/metrics.rs");
    assert_eq!(
        names(source, "terrapin_"),
        names(PAGE, "terrapin_"),
        "crates/server/src/metrics.rs and docs/guides/operating.md"
    );
    let values: Vec<&str> = source
        .lines()
        .chain(include_str!("../../crates/server/src/outcome.rs").lines())
        .chain(include_str!("../../crates/server/src/rejected.rs").lines())
        .filter_map(|line| line.trim().split_once(" => \"").map(|(_, value)| value))
        .filter_map(|value| value.strip_suffix("\","))
        // Messages are sentences.
        .filter(|value| !value.contains(' '))
        .collect();
    assert!(values.len() > 12 && values.contains(&"queue_full") && values.contains(&"answered"), "{values:?}");
    for value in values {
        assert!(PAGE.contains(&format!("`{value}`")), "{value} is not in docs/guides/operating.md");
    }
    let server = TestServer::start(&[]);
    let metrics = server.ask("GET", "/metrics", "", "").text();
    let process = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE process_")?.split(' ').next());
    for name in process {
        assert!(PAGE.contains(&format!("`process_{name}`")), "process_{name} is not in docs/guides/operating.md");
    }
    let logged = Logged::start(&[]);
    logged.server.ask("POST", "/api/interpreter", &format!("{FORM}X-Request-Id: one\r\n"), "data=node(1);out;");
    for field in logged.line("one").as_object().unwrap().keys() {
        assert!(PAGE.contains(&format!("| `{field}` |")), "{field} has no row in docs/guides/operating.md");
    }
}
