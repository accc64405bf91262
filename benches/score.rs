//! Measures how many pairs `/score` scores: `cargo bench --bench score [-- SECONDS]`. Default: 10 seconds for each row.
//!
//! Eight clients, each with a keep-alive connection, send one pair per request and wait for its answer. Then one client
//! and eight clients send JSON lines. The pairs are short queries (a node by its id, a tag in a small box) with half of
//! the predictions wrong, and those of the Malta benchmark. The snapshot is loaded from `malta-2016.osm.pbf` in
//! TERRAPIN_SHARED (default `../shared`). The clients run on the same machine and use a part of its processor time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const CLIENTS: usize = 8;
/// The number of pairs of a row, which is repeated.
const PAIRS: usize = 2000;

/// A server that is ended when this is dropped.
struct ScoreBenchServer {
    child: Child,
    address: String,
}

impl ScoreBenchServer {
    fn over(snapshot: &Path) -> ScoreBenchServer {
        let mut child = Command::new(env!("CARGO_BIN_EXE_terrapin"))
            .arg("serve")
            .arg(snapshot)
            .args(["--bind", "127.0.0.1:0", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let ready: Value = serde_json::from_str(&line).expect("JSON");
        let url = ready["url"].as_str().expect("an address");
        ScoreBenchServer { child, address: url.trim_start_matches("http://").trim_end_matches('/').to_owned() }
    }
}

impl Drop for ScoreBenchServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A keep-alive connection.
struct BenchClient {
    stream: BufReader<TcpStream>,
}

impl BenchClient {
    fn to(server: &ScoreBenchServer) -> BenchClient {
        let stream = TcpStream::connect(&server.address).expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        BenchClient { stream: BufReader::new(stream) }
    }

    /// Sends a request and returns the body of its answer.
    fn ask(&mut self, path: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.stream.get_mut().write_all(&[head.as_bytes(), body].concat()).expect("it is sent");
        let (mut length, mut status) = (None, String::new());
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).expect("a head");
            if status.is_empty() {
                status.clone_from(&line);
            }
            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().ok(),
                _ if line.trim_end().is_empty() => break,
                _ => {}
            }
        }
        let mut whole = Vec::new();
        match length {
            Some(length) => {
                whole.resize(length, 0);
                self.stream.read_exact(&mut whole).expect("a body");
            }
            None => loop {
                let mut size = String::new();
                self.stream.read_line(&mut size).expect("a chunk");
                let size = usize::from_str_radix(size.trim_end(), 16).expect("its size");
                let start = whole.len();
                whole.resize(start + size + 2, 0);
                self.stream.read_exact(&mut whole[start..]).expect("a chunk");
                whole.truncate(start + size);
                if size == 0 {
                    break;
                }
            },
        }
        assert!(status.contains(" 200 "), "{status}{}", String::from_utf8_lossy(&whole));
        whole
    }
}

type Pairs = Vec<(String, String)>;

/// Measures eight clients with one pair per request.
fn one_by_one(server: &ScoreBenchServer, what: &str, pairs: &[(String, String)], similarity: bool, time: Duration) {
    let body = |(gold, pred): &(String, String)| {
        json!({"references": [gold], "predictions": [pred], "similarity": similarity}).to_string().into_bytes()
    };
    let bodies: Vec<Vec<u8>> = pairs.iter().map(body).collect();
    // One run before the measurement decodes the pages.
    let mut first = BenchClient::to(server);
    for body in &bodies {
        first.ask("/score", "application/json", body);
    }
    let barrier = Barrier::new(CLIENTS);
    let mut took: Vec<Duration> = thread::scope(|scope| {
        let client = |number: usize| {
            let (bodies, barrier) = (&bodies, &barrier);
            scope.spawn(move || {
                let (mut client, mut took) = (BenchClient::to(server), Vec::new());
                barrier.wait();
                let begun = Instant::now();
                for body in bodies.iter().cycle().skip(number * bodies.len() / CLIENTS) {
                    let asked = Instant::now();
                    client.ask("/score", "application/json", body);
                    took.push(asked.elapsed());
                    if begun.elapsed() >= time {
                        break;
                    }
                }
                took
            })
        };
        let clients: Vec<_> = (0..CLIENTS).map(client).collect();
        clients.into_iter().flat_map(|client| client.join().expect("a client")).collect()
    });
    took.sort_unstable();
    let at = |part: f64| took[((took.len() - 1) as f64 * part) as usize].as_secs_f64() * 1000.0;
    println!(
        "{what:<34} {CLIENTS} clients {:>9.0} a second, p50 {:.2} ms, p99 {:.2} ms, most {:.1} ms",
        took.len() as f64 / time.as_secs_f64(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

/// Measures a number of clients that send all pairs in one request of JSON lines.
fn by_lines(server: &ScoreBenchServer, what: &str, pairs: &[(String, String)], similarity: bool, clients: usize) {
    let line = |(gold, pred): &(String, String)| format!("{}\n", json!({"gold": gold, "pred": pred}));
    let body: String = pairs.iter().map(line).collect();
    let path = format!("/score?similarity={similarity}");
    let begun = Instant::now();
    thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                let answer = BenchClient::to(server).ask(&path, "application/x-ndjson", body.as_bytes());
                assert_eq!(answer.iter().filter(|byte| **byte == b'\n').count(), pairs.len());
            });
        }
    });
    let pairs = (clients * pairs.len()) as f64;
    println!("{what:<34} {clients} of lines {:>8.0} a second", pairs / begun.elapsed().as_secs_f64());
}

/// A random generator with the same numbers in every run.
struct ScoreBenchRandom(u64);

impl ScoreBenchRandom {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Creates pairs of short queries. In every second pair the prediction is another query.
fn short(make: impl Fn(&mut ScoreBenchRandom) -> String) -> Pairs {
    let mut random = ScoreBenchRandom(7);
    (0..PAIRS)
        .map(|n| {
            let gold = make(&mut random);
            let pred = if n % 2 == 0 { gold.clone() } else { make(&mut random) };
            (gold, pred)
        })
        .collect()
}

fn main() {
    let seconds = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(10);
    let time = Duration::from_secs(seconds);
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("TERRAPIN_SHARED").map_or_else(|| top.join("../shared"), PathBuf::from);
    let extract = shared.join("data/osm/malta-2016.osm.pbf");
    if !extract.exists() {
        println!("skipped for want of shared data: {}", extract.display());
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let snapshot = folder.path().join("malta.terrapin");
    let options =
        terrapin::load::LoadOptions { osm: Some(extract), ..terrapin::load::LoadOptions::new(snapshot.clone()) };
    terrapin::load::load(&options, &terrapin::load::Quiet).expect("it loads");
    let server = ScoreBenchServer::over(&snapshot);

    let mut client = BenchClient::to(&server);
    let named = client.ask("/api/interpreter", "text/plain", b"[out:json];node[name];out ids 2000;");
    let named: Value = serde_json::from_slice(&named).expect("JSON");
    let ids: Vec<i64> =
        named["elements"].as_array().expect("elements").iter().filter_map(|node| node["id"].as_i64()).collect();
    let by_id = short(|random| format!("[out:json];node({});out;", ids[random.below(ids.len() as u64) as usize]));
    let in_box = short(|random| {
        let (south, west) = (35.8 + random.below(20_000) as f64 / 1e5, 14.3 + random.below(25_000) as f64 / 1e5);
        format!("[out:json];node[highway=bus_stop]({south},{west},{},{});out;", south + 0.01, west + 0.01)
    });
    let benchmark = |name: &str| -> Vec<String> {
        let text = std::fs::read_to_string(shared.join("conformance/malta-benchmark").join(name));
        text.map(|text| text.lines().map(str::to_owned).collect()).unwrap_or_default()
    };
    let malta: Pairs = benchmark("gold.query").into_iter().zip(benchmark("pred.query")).collect();
    for similarity in [false, true] {
        println!("{}", if similarity { "all metrics:" } else { "without similarity:" });
        for (what, pairs) in [("node(id)", &by_id), ("a tag in a small box", &in_box), ("the Malta benchmark", &malta)]
        {
            if pairs.is_empty() {
                continue;
            }
            one_by_one(&server, what, pairs, similarity, time);
            for clients in [1, CLIENTS] {
                by_lines(&server, what, pairs, similarity, clients);
            }
        }
    }
}
