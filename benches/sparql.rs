//! How long SPARQL queries of public sets take, warm, beside Oxigraph's persistent store: `cargo bench --bench sparql`.
//!
//! Needs TERRAPIN_SHARED (default `../shared`) and a snapshot of its four sets of triples, TERRAPIN_WIKIDATA. With
//! TERRAPIN_PYOXIGRAPH=`python3`, a Python that has pyoxigraph, and TERRAPIN_OXIGRAPH=`folder` of a store of the same
//! triples, every query is asked there, too, in turn.
//! Times are in process and end with the last solution: what a caller of either library waits for.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use oxrdf::{Term, Triple, Variable};
use serde_json::{Value, json};
use terrapin::budget::Limits;
use terrapin::rdf::Store;
use terrapin::snapshot::Snapshot;
use terrapin::sparql::{Bounds, Environment, Settings, Sink, prepare};

/// Longest time for a query, seconds.
const PATIENCE: u64 = 20;

/// Counts an answer.
#[derive(Default)]
struct Count(u64);

impl Sink for Count {
    fn variables(&mut self, _: &[Variable]) -> std::io::Result<()> {
        Ok(())
    }

    fn solution(&mut self, values: &[Option<Term>]) -> std::io::Result<()> {
        std::hint::black_box(values);
        self.0 += 1;
        Ok(())
    }

    fn boolean(&mut self, value: bool) -> std::io::Result<()> {
        self.0 = u64::from(value);
        Ok(())
    }

    fn triple(&mut self, _: &Triple) -> std::io::Result<()> {
        self.0 += 1;
        Ok(())
    }
}

/// Oxigraph in a process of its own: a query a line in, seconds and the number of solutions a line out.
struct Peer {
    child: Child,
    queries: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Peer {
    fn start() -> Option<Peer> {
        let (python, store) = (std::env::var_os("TERRAPIN_PYOXIGRAPH")?, std::env::var_os("TERRAPIN_OXIGRAPH")?);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/oxigraph.py");
        let mut child = Command::new(python)
            .arg(script)
            .arg(store)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a Python with pyoxigraph");
        let queries = child.stdin.take().expect("it is piped");
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        Some(Peer { child, queries, answers })
    }

    fn ask(&mut self, query: &str, times: usize) -> (f64, u64) {
        writeln!(self.queries, "{}", json!({"query": query, "times": times})).expect("the peer lives");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("an answer");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        (answer["seconds"].as_f64().unwrap_or(f64::NAN), answer["count"].as_u64().unwrap_or(u64::MAX))
    }
}

/// The median seconds of asking so often after one time before, and the number of solutions; nothing for an error.
fn ask(environment: &Environment, query: &str, times: usize) -> Result<(f64, u64), String> {
    let mut seconds = Vec::new();
    let mut count = 0;
    for _ in 0..=times {
        let started = Instant::now();
        let limits = Limits { deadline: Some(started + Duration::from_secs(PATIENCE)), ..Limits::default() };
        let prepared = prepare(query, &Settings::default()).map_err(|e| e.to_string())?;
        let mut sink = Count::default();
        prepared.run(environment, &Bounds { limits, rows: None }, &mut sink).map_err(|e| e.to_string())?;
        seconds.push(started.elapsed().as_secs_f64());
        count = sink.0;
    }
    seconds.remove(0);
    Ok((median(&mut seconds), count))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() {
    let shared = std::env::var_os("TERRAPIN_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let vectors = shared.join("conformance/sparql/vectors.jsonl.gz");
    let (Ok(file), Some(snapshot)) = (std::fs::File::open(&vectors), std::env::var_os("TERRAPIN_WIKIDATA")) else {
        println!("skipped: {} or TERRAPIN_WIKIDATA is not there", vectors.display());
        return;
    };
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("vectors");
    let snapshot = Arc::new(Snapshot::open(Path::new(&snapshot)).expect("a snapshot"));
    let store = Arc::new(Store::open(&snapshot).expect("triples").expect("some"));
    let environment = Environment { store, now: "2020-01-01T00:00:00Z".into(), seed: snapshot.digest().into() };
    let mut peer = Peer::start();
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let (mut ratios, mut slower, mut ours, mut theirs) = (Vec::new(), Vec::new(), 0.0, 0.0);
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).expect("a vector");
        let (Some(id), Some(query), Some(recorded)) =
            (vector["id"].as_str(), vector["query"].as_str(), vector["ms"].as_f64())
        else {
            continue;
        };
        if !wanted.is_empty() && !wanted.iter().any(|w| id.contains(w.as_str())) {
            continue;
        }
        let times = if recorded > 200.0 { 1 } else { 5 };
        let (seconds, count) = match ask(&environment, query, times) {
            Ok(answer) => answer,
            Err(error) => {
                println!("{id}: {error}");
                continue;
            }
        };
        let (peer_seconds, peer_count) = match &mut peer {
            Some(peer) => peer.ask(query, times),
            None => (recorded / 1000.0, count),
        };
        if count != peer_count {
            println!("{id}: {count} solutions here, {peer_count} there");
        }
        let ratio = peer_seconds / seconds;
        ratios.push(ratio);
        ours += seconds;
        theirs += peer_seconds;
        if ratio < 1.0 / 1.5 {
            slower.push((ratio, format!("{id}: {:.3} ms here, {:.3} there", seconds * 1e3, peer_seconds * 1e3)));
        }
    }
    let against = if peer.is_some() { "Oxigraph's store in the same run" } else { "the recorded times" };
    println!("against {against}: {} queries, {ours:.2} s here, {theirs:.2} s there", ratios.len());
    let [tenth, half, rest] = [0.1, 0.5, 0.9].map(|share| {
        ratios.sort_by(f64::total_cmp);
        ratios.get((ratios.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN)
    });
    println!("times as fast: median {half:.2}, a tenth below {tenth:.2}, a tenth above {rest:.2}");
    slower.sort_by(|a, b| a.0.total_cmp(&b.0));
    println!("{} take more than 1.5 times as long:", slower.len());
    for (_, line) in slower {
        println!("  {line}");
    }
}
