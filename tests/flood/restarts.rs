//! Clients before a server that is killed and started again at random times. Every whole answer is the one that was
//! recorded before, one that the kill breaks off is never taken for a whole one, and no temporary file is left.

use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::FloodScale;
use super::client::{FloodClient, ReadPace, once};
use super::common::attacks;
use super::common::server::TestServer;
use super::tally::Tally;
use super::watch::MemorySample;

/// The memory limit of the server, and the margin of a process above it.
const MEMORY: u64 = 1 << 30;
const BESIDES: u64 = 64 << 20;
/// How long a restarted server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(60);

const TEXT: &str = "text/plain";
const SPARQL: &str = "application/sparql-query";

/// Path, content type and query: some fit into a buffer, the others are streamed and put aside for slow clients.
const QUERIES: &[(&str, &str, &str)] = &[
    ("/api/interpreter", TEXT, "[out:json];node(1);out;"),
    ("/api/interpreter", TEXT, "[out:json];node[amenity=cafe](35.89,14.5,35.91,14.53);out 20;"),
    ("/api/interpreter", TEXT, "[out:json];way[highway](35.7,14.1,36.1,14.6);out geom;"),
    ("/api/interpreter", TEXT, "[out:xml];nwr(35.89,14.49,35.92,14.53);out meta geom;"),
    ("/api/interpreter", TEXT, "[out:json];node[amenity](35.7,14.1,36.1,14.6);node(around:200);out ids qt;"),
    ("/sparql", SPARQL, "ASK { ?s wdt:P31 wd:Q3184121 }"),
    ("/sparql", SPARQL, "SELECT ?s ?p ?o { ?s wdt:P31 wd:Q3184121 . ?s ?p ?o } ORDER BY ?s ?p ?o LIMIT 60000"),
];

/// A request and the body of its answer.
struct Recorded {
    request: Vec<u8>,
    body: Vec<u8>,
}

/// How clients read, and how many do so.
const READERS: [(&str, u8); 3] = [("whole", 16), ("slowly", 6), ("killed while they read", 8)];

/// Numbers that look random, the same for the same seed (Marsaglia, "Xorshift RNGs", 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        for (left, shift) in [(true, 13), (false, 7), (true, 17)] {
            self.0 ^= if left { self.0 << shift } else { self.0 >> shift };
        }
        self.0 % bound
    }
}

/// The counts and maxima of all restarts.
#[derive(Default)]
struct Restarts {
    kills: u64,
    /// Kills before the server reported that it is ready.
    early: u64,
    /// From the start of the process to its first answer, at most.
    slowest: Duration,
    /// The largest number of files in the folder for temporary files right after a kill.
    files: usize,
    memory: u64,
    descriptors: usize,
    threads: u64,
}

impl Restarts {
    fn see(&mut self, held: Option<MemorySample>) {
        let Some(held) = held else { return };
        self.memory = self.memory.max(held.memory);
        self.descriptors = self.descriptors.max(held.descriptors);
        self.threads = self.threads.max(held.threads);
    }
}

fn command(snapshot: &Path, bind: &str, folder: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("terrapin"));
    command.arg("serve").arg(snapshot).args(["--bind", bind, "--json", "--memory", "1GiB"]);
    // Little in memory for each, so that files are written.
    command.arg("--spool-dir").arg(folder).env("TMPDIR", folder).stderr(Stdio::null()).stdout(Stdio::piped());
    command
}

/// The number of files that have names in a folder.
fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

fn kill(mut server: Child) {
    // SIGKILL.
    server.kill().expect("a process");
    server.wait().expect("a process");
}

/// Records the answers of an undisturbed server. Also returns its address and its memory at rest.
fn record(snapshot: &Path, folder: &Path) -> (Vec<Recorded>, SocketAddr, MemorySample) {
    let server = TestServer::launch(command(snapshot, "127.0.0.1:0", folder));
    let ask = |(path, content_type, text): &(&str, &str, &str)| {
        let headers = format!("Content-Type: {content_type}\r\n");
        let answer = server.ask("POST", path, &headers, text);
        assert_eq!(answer.status, 200, "{text}: {}", answer.text());
        Recorded { request: attacks::post(path, &headers, text.as_bytes()), body: answer.body }
    };
    let recorded = QUERIES.iter().map(ask).collect();
    let held = MemorySample::now(server.child.id(), Instant::now()).expect("a process");
    (recorded, server.address, held)
}

/// Asks until it is over.
fn read(number: u8, reader: usize, to: SocketAddr, recorded: &[Recorded], over: &AtomicBool, tally: &Tally) {
    let mut client = FloodClient::new(Ipv4Addr::new(127, 0, 6, number + 1), to, over);
    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ u64::from(number) << 32);
    while !client.is_over() {
        let Recorded { request, body } = &recorded[random.below(recorded.len() as u64) as usize];
        let how = match reader {
            0 => ReadPace::Whole,
            1 => ReadPace::Slowly,
            _ if random.below(2) == 0 => ReadPace::Leaving(Duration::from_millis(random.below(300))),
            _ => ReadPace::Cut(1 + random.below(body.len() as u64)),
        };
        let start = Instant::now();
        let answered = client.compare(request, Some(body), how).map(|mut answered| {
            // Errors have other bodies.
            answered.as_expected |= answered.status != 200;
            answered
        });
        if !client.is_over() {
            tally.add(answered, start.elapsed());
        }
        client.rest(Duration::from_millis(20));
    }
}

/// Ends the clients.
struct End<'o>(&'o AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Kills and restarts the server until the time is up; returns the last one, which runs.
fn restart(snapshot: &Path, folder: &Path, to: SocketAddr, time: Duration) -> (Child, Restarts) {
    let begun = Instant::now();
    let (mut random, mut restarts) = (Random(0x2545_F491_4F6C_DD1D), Restarts::default());
    loop {
        let started = Instant::now();
        let mut server = command(snapshot, &to.to_string(), folder).spawn().expect("a process");
        if random.below(4) == 0 {
            std::thread::sleep(Duration::from_millis(random.below(150)));
            restarts.early += 1;
        } else {
            let mut line = String::new();
            BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
            assert!(line.contains("\"url\""), "no server on its old address: {line}");
            while once(to, "/healthz") != Some(200) {
                assert!(started.elapsed() < PATIENCE, "the restarted server does not answer");
                std::thread::sleep(Duration::from_millis(20));
            }
            restarts.slowest = restarts.slowest.max(started.elapsed());
            let until = Instant::now() + Duration::from_millis(500 + random.below(6000));
            while Instant::now() < until {
                restarts.see(MemorySample::now(server.id(), begun));
                std::thread::sleep(Duration::from_millis(100));
            }
            if begun.elapsed() >= time {
                return (server, restarts);
            }
        }
        kill(server);
        restarts.kills += 1;
        restarts.files = restarts.files.max(files(folder));
    }
}

pub fn stand(snapshot: &Path, scale: &FloodScale) {
    let folder = tempfile::tempdir().expect("a folder");
    let (recorded, to, before) = record(snapshot, folder.path());
    let over = AtomicBool::new(false);
    let tallies: [Tally; READERS.len()] = Default::default();
    let (server, restarts) = std::thread::scope(|threads| {
        let mut number = 0;
        for (reader, ((_, count), tally)) in READERS.iter().zip(&tallies).enumerate() {
            for _ in 0..*count {
                let (own, over, recorded) = (number, &over, &recorded);
                threads.spawn(move || read(own, reader, to, recorded, over, tally));
                number += 1;
            }
        }
        // Also where a restart fails: the clients are waited for.
        let _end = End(&over);
        restart(snapshot, folder.path(), to, scale.time)
    });
    let now = || MemorySample::now(server.id(), Instant::now()).expect("the last server is gone");
    let deadline = Instant::now() + Duration::from_secs(45);
    while now().descriptors > before.descriptors && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(100));
    }
    let after = now();
    let answered = recorded.iter().all(|Recorded { request, body }| {
        let over = AtomicBool::new(false);
        let answered = FloodClient::new(Ipv4Addr::LOCALHOST, to, &over).compare(request, Some(body), ReadPace::Whole);
        answered.is_some_and(|answered| answered.status == 200 && answered.whole && answered.as_expected)
    });
    kill(server);

    let mut text = format!("\na server that is killed, {} s\n", scale.time.as_secs());
    let Restarts { kills, early, slowest, memory, descriptors, threads, .. } = restarts;
    let sizes: Vec<String> = recorded.iter().map(|recorded| format!("{} KB", recorded.body.len() >> 10)).collect();
    let _ = writeln!(text, "  answers of {}", sizes.join(", "));
    let _ = writeln!(text, "  {kills} kills, {early} of them while it starts; up again after {slowest:.1?} at most");
    for ((name, count), tally) in READERS.iter().zip(&tallies) {
        let _ = writeln!(text, "  {count:>2} {name:<24} {tally}");
    }
    let _ = writeln!(text, "  at most {} MiB, {descriptors} descriptors, {threads} threads", memory >> 20);
    let _ = writeln!(text, "  before {before}\n  after  {after}");
    super::report(&text);

    assert!(answered, "after the last restart an answer differs");
    let [whole, slowly, killed] = &tallies;
    assert!(kills > 0 && whole.count("200") > 0, "nothing was answered, or nothing killed");
    let expected = ["200", "200 broken off", "429", "503", "504", "none"];
    for (tally, what) in [(whole, "whole"), (slowly, "slowly"), (killed, "killed")] {
        assert_eq!(tally.besides(&expected), [""; 0], "{what}");
    }
    assert_eq!((restarts.files, files(folder.path())), (0, 0), "temporary files are left");
    assert!(memory <= MEMORY + BESIDES, "{} MiB", memory >> 20);
    assert!(after.descriptors <= before.descriptors, "descriptors are left");
}
