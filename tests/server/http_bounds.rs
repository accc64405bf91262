//! Tests that slow, numerous or faulty clients do not affect others noticeably.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::common::server::{FORM, HttpAnswer, TestServer};
use crate::common::{Town, terrapin};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

const CAFES: &str = "[out:json];node[amenity=cafe];out;";
const JSON: &str = "Content-Type: application/json\r\n";

/// Returns a query with an answer of about 12 MB and 60,000 elements, more than all buffers on the way.
fn long_query() -> String {
    format!("[out:json];node[amenity=cafe];{}", "out meta;".repeat(15_000))
}

/// Returns a query that runs for hours without any output.
fn endless_query(timeout: u32) -> String {
    let nested = (0..16).fold(String::new(), |inner, _| format!("node[amenity=cafe];foreach{{{inner}}}"));
    format!("[out:json][timeout:{timeout}];{nested}out;")
}

/// Repeats a check until it succeeds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn heads_and_bodies_that_do_not_arrive_are_given_up_and_hold_nobody_up() {
    let server = TestServer::start(&["--head-timeout", "2", "--body-timeout", "2"]);
    let begun = Instant::now();
    let heads: Vec<_> = (0..30).map(|_| server.send(b"GET /api/interpreter?data=node HTTP/1.1\r\nHost: te")).collect();
    let silent: Vec<_> = (0..10).map(|_| server.send(b"")).collect();
    let head = "POST /api/interpreter HTTP/1.1\r\nHost: test\r\nContent-Length: 2000000\r\n\r\n";
    let unfinished = [head.as_bytes(), &vec![b'x'; 500_000]].concat();
    let bodies: Vec<_> = (0..30).map(|_| server.send(&unfinished)).collect();
    assert_eq!(server.query(CAFES).ids(), [1, 2, 3, 4]);
    assert!(begun.elapsed() < Duration::from_secs(2), "a query waits for what does not arrive: {:?}", begun.elapsed());
    for body in bodies {
        let answer = HttpAnswer::read(body);
        assert_eq!(answer.status, 408, "{}", answer.text());
        assert!(answer.text().contains("did not arrive within 2 seconds"), "{}", answer.text());
    }
    for mut stream in heads.into_iter().chain(silent) {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty(), "{}", String::from_utf8_lossy(&rest));
    }
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    until("all of them are gone", || server.get("/metrics").text().contains("\nterrapin_connections 1\n"));
}

#[test]
fn a_connection_is_kept_for_a_while_and_closed_for_others() {
    let server = TestServer::start(&["--max-connections", "4", "--idle-timeout", "1"]);
    let mut kept = server.send(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n");
    let mut piece = [0; 500];
    assert!(kept.read(&mut piece).unwrap() > 0);
    // Before its timeout the connection accepts another request.
    kept.write_all(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    assert!(kept.read(&mut piece).unwrap() > 0);
    assert_eq!(kept.read(&mut piece).unwrap(), 0, "closed after its time");
    // The maximum number of connections is idle: each new one replaces the oldest.
    let mut idle: Vec<_> = (0..4).map(|_| server.send(b"")).collect();
    let begun = Instant::now();
    assert_eq!(server.query(CAFES).status, 200);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(idle[0].read(&mut piece).unwrap(), 0, "the oldest is closed first");
}

/// Opens a connection from a separate address.
fn connect(server: &TestServer, from: u8) -> std::net::TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind((std::net::Ipv4Addr::new(127, 0, 5, from), 0).into()).unwrap();
        socket.connect(server.address).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

const HALF: &[u8] = b"POST /api/interpreter HTTP/1.1\r\nHost: test\r\nContent-Length: 2000\r\n\r\nn";

#[test]
fn half_bodies_of_one_client_hold_up_no_other() {
    let server = TestServer::start(&["--max-connections", "40", "--client-connections", "20"]);
    let half = |from: u8, head: &[u8]| {
        let mut stream = connect(&server, from);
        let _ = stream.write_all(head);
        stream
    };
    let continued = String::from_utf8_lossy(HALF).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n");
    let all: Vec<_> = (0..60).map(|n| half(1, if n % 2 == 0 { HALF } else { continued.as_bytes() })).collect();
    let begun = Instant::now();
    assert_eq!(server.query(CAFES).ids(), [1, 2, 3, 4]);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let open = |metrics: &str| {
        let line = metrics.lines().find_map(|line| line.strip_prefix("terrapin_connections "));
        line.and_then(|count| count.parse::<u32>().ok()).unwrap()
    };
    until("one client has no more than it may", || open(&server.get("/metrics").text()) <= 21);
    // Under pressure from several clients, those with the most half bodies lose them first. A single slow client keeps
    // its own.
    let mut slow = half(9, HALF);
    let more: Vec<_> =
        (2..6).flat_map(|client| (0..20).map(move |_| client)).map(|client| half(client, HALF)).collect();
    assert_eq!(server.query(CAFES).status, 200);
    slow.write_all(&[b' '; 1999]).unwrap();
    let mut first = [0; 12];
    slow.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 400");
    drop((all, more));
}

#[test]
fn a_client_with_all_its_connections_busy_gets_no_more() {
    let server = TestServer::start(&["--client-connections", "2", "--max-queries", "2"]);
    let busy: Vec<_> = (0..2)
        .map(|_| {
            let mut stream = connect(&server, 1);
            let query = endless_query(600);
            let length = query.len();
            let head = format!("POST /api/interpreter HTTP/1.1\r\nHost: test\r\nContent-Length: {length}\r\n\r\n");
            stream.write_all(&[head.as_bytes(), query.as_bytes()].concat()).unwrap();
            stream
        })
        .collect();
    until("both run", || server.get("/metrics").text().contains("\nterrapin_queries_running 2\n"));
    let mut third = connect(&server, 1);
    let mut answer = String::new();
    let _ = third.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 429") && answer.ends_with("close some first\n"), "{answer}");
    assert_eq!(server.get("/healthz").status, 200, "others may connect");
    drop(busy);
}

#[test]
fn half_bodies_do_not_keep_the_room_of_whole_ones() {
    // Connections get 32 MiB, bodies a quarter of that: four of these bodies fill it.
    let server = TestServer::start(&["--memory", "256MiB", "--max-queries", "1"]);
    let head = b"POST /api/interpreter HTTP/1.1\r\nHost: test\r\nContent-Length: 2000000\r\n\r\n";
    let piece = vec![b' '; 1_500_000];
    let halves: Vec<_> = (1..9)
        .map(|client| {
            let mut stream = connect(&server, client);
            stream.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
            let _ = stream.write_all(head).and_then(|()| stream.write_all(&piece));
            stream
        })
        .collect();
    let query = format!("{CAFES}{}", " ".repeat(100_000));
    let answer = server.ask("POST", "/api/interpreter", "", &query);
    assert_eq!(answer.status, 200, "{}", answer.text());
    drop(halves);
}

#[test]
fn a_client_that_reads_nothing_gives_its_slot_back() {
    let server = TestServer::start(&["--max-queries", "1"]);
    let sleeper = server.leave_unread(&long_query());
    until("the answer is put aside", || {
        let metrics = server.get("/metrics").text();
        metrics.lines().any(|l| l.strip_prefix("terrapin_spool_file_bytes ").is_some_and(|n| n.len() > 6))
    });
    assert_eq!(server.query(CAFES).status, 200, "the slot is free, or comes free soon");
    // A client that reads late still gets the whole answer.
    let answer = HttpAnswer::read(sleeper);
    assert_eq!(answer.ids().len(), 60_000);
    until("nothing is left of it", || server.get("/metrics").text().contains("\nterrapin_spool_file_bytes 0\n"));
}

#[test]
fn a_client_that_takes_nothing_is_cut_off() {
    // An answer that cannot be spooled, and one that can.
    for spool in ["0", "1GiB"] {
        let server = TestServer::start(&["--max-queries", "1", "--stall", "1", "--spool", spool]);
        let mut sleeper = server.leave_unread(&long_query());
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(server.query(CAFES).status, 200);
        until("the connection is closed", || server.get("/metrics").text().contains("\nterrapin_connections 1\n"));
        let mut rest = Vec::new();
        let _ = sleeper.read_to_end(&mut rest);
        assert!(!rest.ends_with(b"\r\n0\r\n\r\n"), "a broken answer must not end as a whole one does");
    }
}

#[test]
fn short_queries_wait_for_no_long_ones_and_long_ones_are_answered_all_the_same() {
    // The trial is long enough for a slow build.
    let server = TestServer::start(&["--max-queries", "1", "--max-wait", "300", "--trial", "2000"]);
    let mut endless = server.leave_unread(&endless_query(600));
    until("it runs", || server.get("/metrics").text().contains("\nterrapin_queries_running 1\n"));
    assert_eq!(server.query(CAFES).ids(), [1, 2, 3, 4]);
    assert_eq!(server.query("nod;").status, 400);
    // One answer is too large for a trial, the other takes too long: both queries wait.
    let second = server.leave_unread(&long_query());
    until("it waits", || server.get("/metrics").text().contains("\nterrapin_queries_waiting 1\n"));
    let third = server.leave_unread(&endless_query(3));
    until("both wait", || server.get("/metrics").text().contains("\nterrapin_queries_waiting 2\n"));
    assert_eq!(server.query(CAFES).ids(), [1, 2, 3, 4]);
    endless.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    assert!(endless.read(&mut [0; 1]).is_err(), "still running");
    drop(endless);
    for stream in [&second, &third] {
        // Longer than the queries take; the connections stay open.
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    }
    assert_eq!(HttpAnswer::read(second).ids().len(), 60_000);
    let answer = HttpAnswer::read(third);
    assert_eq!(answer.status, 504);
    assert!(answer.text().contains("Query timed out in"), "{}", answer.text());
}

#[test]
fn an_answer_waits_for_its_client_where_no_file_can_be_made() {
    let server = TestServer::start(&["--spool-dir", "/nowhere"]);
    let sleeper = server.leave_unread(&long_query());
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(HttpAnswer::read(sleeper).ids().len(), 60_000);
}

#[test]
fn conversions_take_no_slot_from_queries() {
    let server = TestServer::start(&["--max-queries", "2", "--max-wait", "300"]);
    let text = "node[amenity=cafe](1,2,3,4);out;".repeat(4_000);
    let enough = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // More conversions at once than slots, for as long as the queries take.
        let converters: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    while !enough.load(Ordering::Relaxed) {
                        let answer = server.ask("POST", "/api/convert", "Content-Type: text/plain\r\n", &text);
                        assert_eq!(answer.status, 200);
                    }
                })
            })
            .collect();
        let asked = catch_unwind(AssertUnwindSafe(|| {
            for _ in 0..20 {
                assert_eq!(server.query("[out:json];node(1);out;").ids(), [1]);
                assert_eq!(server.get("/search?q=Ladle").status, 200);
                let metrics = server.get("/metrics").text();
                assert!(metrics.contains("\nterrapin_queries_waiting 0\n"), "{metrics}");
            }
        }));
        enough.store(true, Ordering::Relaxed);
        for converter in converters {
            converter.join().unwrap();
        }
        asked.unwrap_or_else(|failed| resume_unwind(failed));
    });
}

#[test]
fn a_length_over_the_limit_is_refused_before_anything_is_read() {
    let server = TestServer::start(&["--max-body", "10k"]);
    for path in ["/api/interpreter", "/api/convert", "/feedback", "/score"] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: test\r\nContent-Length: 10241\r\n\r\n");
        let answer = HttpAnswer::read(server.send(head.as_bytes()));
        assert_eq!(answer.status, 413, "{path}");
        assert!(answer.text().contains("longer than 10240 bytes"), "{}", answer.text());
        assert!(answer.headers.contains("connection: close"), "{}", answer.headers);
    }
}

#[test]
fn a_packed_body_is_taken_within_the_same_limit() {
    let server = TestServer::over(Town::with_triples(), &["--max-body", "100k"]);
    let packed = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let ask = |path: &str, headers: &str, body: &[u8]| {
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
        );
        HttpAnswer::read(server.send(&[head.as_bytes(), body].concat()))
    };
    const GZIP: &str = "Content-Encoding: gzip\r\n";
    assert_eq!(ask("/api/interpreter", GZIP, &packed(CAFES)).ids(), [1, 2, 3, 4]);
    let sparql = format!("{GZIP}Content-Type: application/sparql-query\r\n");
    assert_eq!(ask("/sparql", &sparql, &packed("ASK {}")).status, 200);
    let question = json!({"query": CAFES}).to_string();
    assert_eq!(ask("/feedback", GZIP, &packed(&question)).status, 200);
    let bomb = ask("/api/interpreter", GZIP, &packed(&" ".repeat(50 << 20)));
    assert_eq!(bomb.status, 413, "{}", bomb.text());
    assert_eq!(ask("/api/interpreter", GZIP, CAFES.as_bytes()).status, 400);
    let other = ask("/api/interpreter", "Content-Encoding: br\r\n", b"x");
    assert_eq!(other.status, 415);
    assert!(other.headers.contains("accept-encoding: gzip"), "{}", other.headers);
}

#[test]
fn what_is_not_in_utf8_is_refused() {
    let server = TestServer::start(&[]);
    let answers = [
        server.get("/api/interpreter?data=node%5Bname=%22caf%E9%22%5D;out;"),
        server.ask("POST", "/api/interpreter", FORM, "data=node%5Bname=%22caf%E9%22%5D;out;"),
        HttpAnswer::read(server.send(
            b"POST /api/interpreter HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Length: 22\r\n\r\nnode[name=\"caf\xe9\"];out;",
        )),
    ];
    for answer in answers {
        assert_eq!(answer.status, 400);
        assert!(answer.text().contains("Error</strong>: encoding error: Invalid UTF-8"), "{}", answer.text());
    }
}

#[test]
fn long_addresses_are_read_and_longer_ones_refused() {
    let server = TestServer::start(&[]);
    let query = format!("[out:json];{}node(1);out;", " ".repeat(48 << 10));
    let answer = server.get(&format!("/api/interpreter?data={}", query.replace(' ', "+")));
    assert_eq!((answer.status, answer.ids()), (200, vec![1]));
    let headers = format!("X-Long: {}\r\n", "x".repeat(100 << 10));
    assert_eq!(server.ask("GET", "/healthz", &headers, "").status, 431);
    assert_eq!(server.get(&format!("/api/interpreter?data={}", "+".repeat(70_000))).status, 414);
}

#[test]
fn a_server_that_drains_says_so_and_ends_what_runs() {
    let mut server = TestServer::start(&["--drain-delay", "3", "--grace", "30", "--max-queries", "2"]);
    assert_eq!((server.get("/readyz").status, server.get("/healthz").status), (200, 200));
    let running = server.leave_unread(&endless_query(5));
    until("the query runs", || server.get("/api/status").text().lines().count() > 6);
    server.signal("-TERM");
    let told = Instant::now();
    until("it is not ready any more", || server.get("/readyz").status == 503);
    assert_eq!(server.get("/healthz").status, 200, "nobody shall restart it");
    let refused = HttpAnswer::read(server.leave_unread(CAFES));
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert!(refused.headers.contains("retry-after: "), "{}", refused.headers);
    assert!(refused.headers.contains("connection: close"), "{}", refused.headers);
    // Running queries continue to their own end.
    let answer = HttpAnswer::read(running);
    assert!(answer.text().contains("Query timed out"), "{}", answer.text());
    assert!(server.child.wait().unwrap().success());
    let took = told.elapsed();
    assert!(took > Duration::from_millis(2_900) && took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let mut server = TestServer::start(&["--grace", "60"]);
    let _running = server.leave_unread(&endless_query(60));
    until("the query runs", || server.get("/api/status").text().lines().count() > 6);
    server.signal("-TERM");
    std::thread::sleep(Duration::from_millis(300));
    assert!(server.child.try_wait().unwrap().is_none(), "it waits for the query");
    server.signal("-TERM");
    let told = Instant::now();
    server.child.wait().unwrap();
    assert!(told.elapsed() < Duration::from_secs(5), "{:?}", told.elapsed());
}

#[test]
fn a_request_for_scores_keeps_to_its_time() {
    let server = TestServer::start(&["--max-time", "2"]);
    let score = |body: Value| -> Vec<Value> {
        let answer = server.ask("POST", "/score", JSON, &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.text());
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        answer["results"].as_array().unwrap().clone()
    };
    let good = "node[amenity=cafe];out;";
    let endless = endless_query(600);
    let begun = Instant::now();
    let results = score(json!({"predictions": [good, endless, endless, good], "references": [good, good, good, good]}));
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    assert_eq!(results.len(), 4);
    assert_eq!((&results[0]["ex"], &results[0]["error"]), (&json!(1), &Value::Null), "{}", results[0]);
    for result in &results[1..] {
        assert_eq!((&result["ex"], &result["error"]), (&json!(0), &json!("runtime_error_timeout")), "{result}");
    }
    // With a timeout for each query, one query does not use up the time of others.
    let results = score(json!({
        "predictions": [endless, good], "references": [good, good], "timeout": 0.5
    }));
    assert_eq!((&results[0]["error"], &results[1]["ex"]), (&json!("runtime_error_timeout"), &json!(1)));
    let wrong = json!({"predictions": [], "references": [], "timeout": -1}).to_string();
    assert_eq!(server.ask("POST", "/score", JSON, &wrong).status, 400);
}

#[test]
fn feedback_keeps_to_its_time() {
    let server = TestServer::start(&["--max-time", "1"]);
    let names: String = (0..60_000).map(|n| format!("{{{{geocodeArea:Ladle}}}}->.a{n};")).collect();
    let filters: String = (0..40_000).map(|n| format!("[k{n}=v]")).collect();
    for query in [names, format!("node{filters};out;")] {
        let begun = Instant::now();
        let answer = server.ask("POST", "/feedback", JSON, &json!({"query": query}).to_string());
        assert_eq!(answer.status, 200, "{}", answer.text());
        // Parsing has no time limit and is slow in a debug build.
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}

#[test]
#[cfg(unix)]
fn only_a_file_is_served() {
    let town = Town::new();
    let pipe = town.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (path, kind) in [(pipe, "a named pipe"), (town.path(""), "a folder"), ("/dev/null".into(), "a device")] {
        for command in ["serve", "info"] {
            let done = terrapin().arg(command).arg(&path).timeout(Duration::from_secs(10)).output().unwrap();
            let said = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.code().is_some_and(|code| code != 0), "{command} {}: {said}", path.display());
            assert!(said.contains(&format!("it is {kind}, not a file")), "{said}");
        }
    }
}
