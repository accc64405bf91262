//! Tests the memory and time limits of queries with queries that are made to exceed them: over HTTP, by the memory of
//! the server's process and the clock.
//!
//! By default the tests use extracts that load in a second, with limits so low that the queries reach them. With
//! TERRAPIN_ALL they use the largest extracts available and the usual limits of servers. Both need the shared data.
//! Delays are checked in the release profile only.

mod common;

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use common::attacks::{self, WORLD};
use common::server::TestServer;
use common::skip;
use common::terrapin;

/// Bytes by which the process may grow beyond the budget.
const MARGIN: u64 = 64 << 20;
/// Maximum delay of an answer beyond the time limit.
const LATE: Duration = Duration::from_millis(300);

/// The data and the limits of a run.
struct BudgetScale {
    osm: &'static str,
    triples: &'static [&'static str],
    memory: u64,
    time: Duration,
}

const SMALL: BudgetScale = BudgetScale {
    osm: "malta-2016",
    triples: &["subset-br-municipalities"],
    memory: 64 << 20,
    time: Duration::from_secs(2),
};

const LARGE: BudgetScale = BudgetScale {
    osm: "patchwork-world",
    triples: &["subset-br-municipalities", "subset-full-entities", "subset-kgtk-arnold", "subset-wd50k"],
    memory: 512 << 20,
    time: Duration::from_secs(10),
};

fn scale() -> &'static BudgetScale {
    if skip::all() { &LARGE } else { &SMALL }
}

/// Starts a server over a snapshot of shared data, or returns `None` if the data is not available.
fn server(load: &[(&str, String)]) -> Option<(TestServer, tempfile::TempDir)> {
    let shared = std::env::var_os("TERRAPIN_SHARED").map_or_else(|| PathBuf::from("../shared"), PathBuf::from);
    let folder = tempfile::tempdir().expect("a folder");
    let snapshot = folder.path().join("a.terrapin");
    let mut command = terrapin();
    command.arg("load").arg("--out").arg(&snapshot);
    for (option, file) in load {
        let file = shared.join(file);
        if !file.exists() {
            skip::skipped(skip::Need::Shared, format_args!("{} is not there", file.display()));
            return None;
        }
        command.arg(option).arg(file);
    }
    command.assert().success();
    let (memory, time) = (scale().memory.to_string(), scale().time.as_secs().to_string());
    let bounds = ["--max-memory", &memory, "--max-time", &time, "--max-queries", "2"];
    Some((TestServer::of(&snapshot, &bounds), folder))
}

/// Returns the anonymous memory of the process in bytes.
fn anonymous(server: &TestServer) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("its memory");
    line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).expect("a number") << 10
}

/// Sends a request, reads the whole answer, and returns its status. The answer may be large or incomplete.
fn status(server: &TestServer, path: &str, content_type: &str, body: &str) -> u16 {
    let mut stream = server.connect();
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: {content_type}\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .expect("a request");
    let (mut head, mut rest) = ([0; 12], [0; 64 << 10]);
    stream.read_exact(&mut head).expect("a status");
    while stream.read(&mut rest).is_ok_and(|n| n > 0) {}
    String::from_utf8_lossy(&head[9..]).parse().expect("a number")
}

/// Runs a request and watches the process meanwhile. Returns the status, the growth in bytes, and the duration.
fn watched(server: &TestServer, ask: impl FnOnce() -> u16) -> (u16, u64, Duration) {
    let before = anonymous(server);
    let (most, done) = (AtomicU64::new(before), AtomicBool::new(false));
    let (status, took) = std::thread::scope(|threads| {
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                most.fetch_max(anonymous(server), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        // Stops the watching thread even if the request panics; the scope waits for that thread.
        let _done = CompletionFlag(&done);
        let start = Instant::now();
        (ask(), start.elapsed())
    });
    (status, most.load(Ordering::Relaxed).saturating_sub(before), took)
}

struct CompletionFlag<'d>(&'d AtomicBool);

impl Drop for CompletionFlag<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs each query and checks its answer against the limits.
fn hold(server: &TestServer, path: &str, content_type: &str, queries: &[(&str, String)]) {
    let mut wrong = Vec::new();
    for (name, query) in queries {
        let (status, grew, took) = watched(server, || status(server, path, content_type, query));
        let late = took.saturating_sub(scale().time);
        println!("{name:<36} {status} {:>6} ms {:>5} MiB", took.as_millis(), grew >> 20);
        if ![200, 400, 500, 504].contains(&status) {
            wrong.push(format!("{name}: status {status}"));
        }
        if grew > scale().memory + MARGIN {
            wrong.push(format!("{name}: grew by {} MiB", grew >> 20));
        }
        if late > LATE && !cfg!(debug_assertions) {
            wrong.push(format!("{name}: {} ms late", late.as_millis()));
        }
    }
    assert_eq!(server.ask("GET", "/healthz", "", "").status, 200);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn overpass_queries_keep_within_their_bounds() {
    let Some((server, _folder)) = server(&[("--osm", format!("data/osm/{}.osm.pbf", scale().osm))]) else { return };
    // Fill the caches of the snapshot first: their memory does not count as that of a query.
    for query in [";out count;", "[name~\"a\"];out meta geom;", "[name];out meta geom;"] {
        server.query(&format!("[maxsize:2000000000];nwr{WORLD}{query}"));
    }
    hold(&server, "/api/interpreter", "text/plain", &attacks::overpass());
}

#[test]
fn sparql_queries_keep_within_their_bounds() {
    let files: Vec<_> = scale().triples.iter().map(|file| ("--rdf", format!("data/wikidata/{file}.nt.gz"))).collect();
    let Some((server, _folder)) = server(&files) else { return };
    hold(&server, "/sparql", "application/sparql-query", &attacks::sparql());
}
