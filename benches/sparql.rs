//! Compares warm SPARQL queries of public sets with Oxigraph's persistent store: `cargo bench --bench sparql`.
//!
//! Needs TERRAPIN_SHARED (default `../shared`) and a snapshot of its four sets of triples, TERRAPIN_WIKIDATA. If
//! TERRAPIN_PYOXIGRAPH=`python3` is a Python with pyoxigraph, and TERRAPIN_OXIGRAPH=`folder` a store of the same
//! triples, every query also runs there, in turn. Times are measured inside the process up to the last solution: this
//! is the time that a caller of either library waits. Both are limited to 300,000 solutions and to some seconds per
//! query. If both reach this limit, the query is not compared; if one does, it counts as having taken that long.
//! Arguments other than options select the queries whose ids contain them. Prepared queries are cached, as in the
//! server; with `--fresh`, each run has a different text. `--hard` runs the queries of `hard.tsv` instead and lists all
//! of them. In these, the time depends on the order of joins, on a filter or on the kind of query.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use oxrdf::{Term, Triple, Variable};
use serde_json::{Value, json};
use terrapin::budget::Limits;
use terrapin::rdf::Store;
use terrapin::snapshot::Snapshot;
use terrapin::sparql::{Environment, ResultSink, SparqlBounds, SparqlCode, SparqlSettings, prepare};

/// The maximum time of one run of a query, in seconds.
const PATIENCE: f64 = 5.0;
/// The maximum number of solutions.
const MOST: u64 = 300_000;

/// A sink that counts the solutions.
#[derive(Default)]
struct SolutionCount(u64);

impl ResultSink for SolutionCount {
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

/// The prefixes of the queries in `hard.tsv`, for the peer, which has none built in.
const PREFIXES: &str = "PREFIX wd: <http://www.wikidata.org/entity/> \
    PREFIX wdt: <http://www.wikidata.org/prop/direct/> \
    PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> \
    PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> ";

/// A query with its recorded result.
struct SparqlVector {
    id: String,
    query: String,
    /// The time of the recorded reference. `None` if it was stopped or rejected the query.
    ms: Option<f64>,
    count: u64,
    /// The number of runs.
    times: usize,
}

impl SparqlVector {
    fn all_recorded(path: &Path) -> Option<Vec<SparqlVector>> {
        let mut text = String::new();
        GzDecoder::new(std::fs::File::open(path).ok()?).read_to_string(&mut text).expect("vectors");
        Some(text.lines().filter_map(SparqlVector::recorded).collect())
    }

    fn all_hard() -> Vec<SparqlVector> {
        include_str!("hard.tsv").lines().filter_map(SparqlVector::hard).collect()
    }

    fn recorded(line: &str) -> Option<SparqlVector> {
        let vector: Value = serde_json::from_str(line).expect("a vector");
        let ms = vector["ms"].as_f64();
        Some(SparqlVector {
            id: vector["id"].as_str()?.to_owned(),
            query: vector["query"].as_str()?.to_owned(),
            ms,
            count: vector["count"].as_u64().unwrap_or(0),
            times: if ms.is_some_and(|ms| ms < 200.0) { 5 } else { 1 },
        })
    }

    fn hard(line: &str) -> Option<SparqlVector> {
        let (id, query) = line.split_once('\t')?;
        Some(SparqlVector { id: id.to_owned(), query: format!("{PREFIXES}{query}"), ms: None, count: 0, times: 5 })
    }
}

/// The time in seconds and the number of solutions, or the error.
type Asked = Result<(f64, u64), String>;

/// Oxigraph in its own process. It reads one query per line, and writes one line per query with the seconds and the
/// number of solutions.
struct OxigraphProcess {
    child: Child,
    queries: ChildStdin,
    answers: Receiver<String>,
}

impl Drop for OxigraphProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl OxigraphProcess {
    fn start() -> Option<OxigraphProcess> {
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
        let lines = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, answers) = channel();
        std::thread::spawn(move || lines.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Some(OxigraphProcess { child, queries, answers })
    }

    /// Runs a query. Returns `None` if it took too long; the process was then ended and started again.
    fn ask(&mut self, query: &str, times: usize) -> Option<Asked> {
        writeln!(self.queries, "{}", json!({"query": query, "times": times, "rows": MOST})).expect("the peer lives");
        let Ok(line) = self.answers.recv_timeout(Duration::from_secs_f64(PATIENCE * (times + 1) as f64)) else {
            *self = OxigraphProcess::start().expect("it was there before");
            return None;
        };
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        Some(match (answer["seconds"].as_f64(), answer["count"].as_u64()) {
            (Some(seconds), Some(count)) => Ok((seconds, count)),
            _ => Err(answer["error"].to_string()),
        })
    }
}

/// Returns the median time of `times` runs in seconds after one warm-up run, and the number of solutions. Returns
/// `None` if it took too long.
fn ask(environment: &Environment, query: &str, times: usize, fresh: bool) -> Option<Asked> {
    let mut seconds = Vec::new();
    let mut count = 0;
    for time in 0..=times {
        let query = if fresh { format!("{query}\n#{time}") } else { query.to_owned() };
        let started = Instant::now();
        let limits = Limits { deadline: Some(started + Duration::from_secs_f64(PATIENCE)), ..Limits::default() };
        let mut sink = SolutionCount::default();
        let bounds = SparqlBounds { limits, rows: Some(MOST) };
        let result =
            prepare(&query, &SparqlSettings::default()).and_then(|query| query.run(environment, &bounds, &mut sink));
        match result {
            Ok(_) => {}
            Err(error) if error.code == SparqlCode::Rows => {}
            Err(error) if error.code == SparqlCode::Timeout => return None,
            Err(error) => return Some(Err(error.to_string())),
        }
        seconds.push(started.elapsed().as_secs_f64());
        count = sink.0;
    }
    seconds.remove(0);
    Some(Ok((median(&mut seconds), count)))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The results for some queries.
#[derive(Default, Clone)]
struct PeerComparison {
    /// The speed relative to the peer, and a line that reports it.
    ratios: Vec<(f64, String)>,
    ours: f64,
    theirs: f64,
    both_stopped: usize,
    errors: usize,
}

impl PeerComparison {
    fn add(&mut self, id: &str, ours: Option<Asked>, theirs: Option<Asked>) {
        let (seconds, peer_seconds) = match (ours, theirs) {
            (None, None) => {
                self.both_stopped += 1;
                return;
            }
            (Some(Err(error)), _) | (_, Some(Err(error))) => {
                println!("{id}: {error}");
                self.errors += 1;
                return;
            }
            (Some(Ok((seconds, count))), Some(Ok((peer_seconds, peer_count)))) => {
                if count != peer_count {
                    println!("{id}: {count} solutions here, {peer_count} there");
                }
                (seconds, peer_seconds)
            }
            (Some(Ok((seconds, _))), None) => (seconds, PATIENCE),
            (None, Some(Ok((peer_seconds, _)))) => (PATIENCE, peer_seconds),
        };
        self.ours += seconds;
        self.theirs += peer_seconds;
        let line = format!("{id}: {:.3} ms here, {:.3} there", seconds * 1e3, peer_seconds * 1e3);
        self.ratios.push((peer_seconds / seconds, line));
    }

    fn print(&mut self, name: &str) {
        self.ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        let [least, tenth, half, rest] = [0.0, 0.1, 0.5, 0.9].map(|share| {
            let at = (self.ratios.len() as f64 * share) as usize;
            self.ratios.get(at).map_or(f64::NAN, |(ratio, _)| *ratio)
        });
        let slower = self.ratios.iter().filter(|(ratio, _)| *ratio < 1.0 / 1.5).count();
        println!(
            "{name}: {} queries, {:.2} s here, {:.2} s there; times as fast: median {half:.2}, a tenth below {tenth:.2}, \
             a tenth above {rest:.2}, least {least:.2}; {slower} more than 1.5 times slower; {} stopped by the limit in \
             both, {} errors",
            self.ratios.len(),
            self.ours,
            self.theirs,
            self.both_stopped,
            self.errors
        );
    }
}

fn main() {
    let shared = std::env::var_os("TERRAPIN_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let hard = std::env::args().any(|argument| argument == "--hard");
    let path = shared.join("conformance/sparql/vectors.jsonl.gz");
    let vectors = if hard { Some(SparqlVector::all_hard()) } else { SparqlVector::all_recorded(&path) };
    let (Some(vectors), Some(snapshot)) = (vectors, std::env::var_os("TERRAPIN_WIKIDATA")) else {
        println!("skipped: {} or TERRAPIN_WIKIDATA is not there", path.display());
        return;
    };
    let snapshot = Arc::new(Snapshot::open(Path::new(&snapshot)).expect("a snapshot"));
    let store = Arc::new(Store::open(&snapshot).expect("triples").expect("some"));
    let environment =
        Environment { store, elements: None, now: "2020-01-01T00:00:00Z".into(), seed: snapshot.digest().into() };
    let mut peer = OxigraphProcess::start();
    let against = if peer.is_some() { "Oxigraph's store in the same run" } else { "the recorded times" };
    println!("against {against}, at most {MOST} solutions and {PATIENCE} s a query");
    let fresh = std::env::args().any(|argument| argument == "--fresh");
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let mut groups: BTreeMap<String, PeerComparison> = BTreeMap::new();
    let mut total = PeerComparison::default();
    for SparqlVector { id, query, ms, count, times } in &vectors {
        if !wanted.is_empty() && !wanted.iter().any(|w| id.contains(w.as_str())) {
            continue;
        }
        let ours = ask(&environment, query, *times, fresh);
        let theirs = match &mut peer {
            Some(peer) => peer.ask(query, *times),
            None => ms.map(|ms| Ok((ms / 1000.0, *count))),
        };
        total.add(id, ours.clone(), theirs.clone());
        let group = id.rsplit_once('-').map_or(id.as_str(), |(group, _)| group);
        groups.entry(group.to_owned()).or_default().add(id, ours, theirs);
    }
    if !hard {
        groups.iter_mut().for_each(|(name, found)| found.print(name));
    }
    total.print("all");
    println!("the slowest beside the peer:");
    let listed = |ratio: f64| hard || ratio < 1.0;
    for (ratio, line) in total.ratios.iter().take(if hard { usize::MAX } else { 40 }).take_while(|(r, _)| listed(*r)) {
        println!("  {ratio:.2} {line}");
    }
}
