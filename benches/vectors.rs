//! Compares recorded queries with the reference, query by query: `cargo bench --bench vectors [-- NAME...]`.
//!
//! The files of recorded answers are in TERRAPIN_SHARED (default `../shared`); NAMEs select the files whose name
//! contains one of them. Every extract is loaded, then every file's queries run one after another in this process, in
//! several rounds. The fastest time of each query counts, because the reference's times were also measured on a quiet
//! machine. The reference's times include the start of a process. On a busy machine, the processor time of a round is
//! more meaningful. The first round, with empty caches, also prints a digest of all answers: a pure optimisation must
//! not change it.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use terrapin::load::Quiet;
use terrapin::load::{LoadOptions, load};
use terrapin::osm::Osm;
use terrapin::overpass;
use terrapin::overpass::Limits;
use terrapin::snapshot::Snapshot;

/// The number of rounds after the first.
const ROUNDS: usize = 3;
/// The number of slowest queries to print.
const SLOWEST: usize = 10;

/// A recorded query.
struct RecordedQuery {
    id: String,
    query: String,
    /// The reference's time.
    theirs: Duration,
    /// Whether the reference itself did not finish the query.
    hopeless: bool,
}

fn vectors(path: &Path) -> Vec<RecordedQuery> {
    let mut text = String::new();
    let file = std::fs::File::open(path).expect("a file that was just listed");
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).expect("readable vectors");
    let vector = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).expect("a vector a line");
        let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
        let theirs = Duration::from_secs_f64(line["ms"].as_f64().unwrap_or_default() / 1e3);
        let error = text("error");
        let hopeless = error.contains("timed out") || error.contains("run out of memory");
        RecordedQuery { id: text("id"), query: text("query"), theirs, hopeless }
    };
    text.lines().map(vector).collect()
}

/// Runs a query. An error also counts as an answer.
fn ask(osm: &Osm, query: &str, out: &mut dyn io::Write) {
    let _ = overpass::parse(query).and_then(|script| overpass::run(osm, &script, &Limits::default(), out));
}

/// Returns the processor time of this process so far, of all threads; `None` if the system does not report it.
fn processor() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The command's name, in parentheses, may contain any characters.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks()? + ticks()?) * 10))
}

/// A writer that counts and digests the bytes.
#[derive(Default)]
struct Digest {
    hasher: blake3::Hasher,
    bytes: u64,
}

impl io::Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn report(name: &str, snapshot: &Path) {
    let mut vectors = vectors(&PathBuf::from(name));
    let all = vectors.len();
    vectors.retain(|v| !v.hopeless);
    let osm = Osm::open(Arc::new(Snapshot::open(snapshot).expect("a snapshot"))).expect("elements");
    let mut digest = Digest::default();
    vectors.iter().for_each(|v| ask(&osm, &v.query, &mut digest));
    let mut best = vec![Duration::MAX; vectors.len()];
    let mut rounds = [Duration::ZERO; ROUNDS];
    let processor_before = processor();
    for round in &mut rounds {
        for (vector, best) in vectors.iter().zip(&mut best) {
            let start = Instant::now();
            ask(&osm, &vector.query, &mut io::sink());
            let took = start.elapsed();
            *round += took;
            *best = took.min(*best);
        }
    }
    let ours: Duration = best.iter().sum();
    let theirs: Duration = vectors.iter().map(|v| v.theirs).sum();
    let file = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
    println!(
        "{file}: {} vectors, {} left out, {:.1} MB",
        vectors.len(),
        all - vectors.len(),
        digest.bytes as f64 / 1e6
    );
    println!("  answers    {}", digest.hasher.finalize().to_hex());
    let round = rounds.iter().min().copied().unwrap_or_default();
    println!("  ours       {:.3} s, best round {:.3} s", ours.as_secs_f64(), round.as_secs_f64());
    if let Some(used) = processor().zip(processor_before).map(|(after, before)| after - before) {
        println!("  processor  {:.3} s a round", used.as_secs_f64() / ROUNDS as f64);
    }
    println!("  reference  {:.3} s, 1/{:.1}", theirs.as_secs_f64(), theirs.as_secs_f64() / ours.as_secs_f64());
    let mut order: Vec<usize> = (0..vectors.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(best[i]));
    let line = |&i: &usize| {
        println!("    {:9.1} ms, reference {:9.1} ms, {}", millis(best[i]), millis(vectors[i].theirs), vectors[i].id);
    };
    let slower: Vec<usize> = order.iter().copied().filter(|&i| best[i] > vectors[i].theirs).collect();
    println!("  slower than the reference: {}", slower.len());
    slower.iter().for_each(line);
    println!("  slowest:");
    order.iter().take(SLOWEST).for_each(line);
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("TERRAPIN_SHARED").map_or_else(|| top.join("../shared"), PathBuf::from);
    let Ok(folder) = std::fs::read_dir(shared.join("conformance/overpass")) else {
        println!("skipped: {} has no recorded answers", shared.display());
        return;
    };
    let mut by_extract = BTreeMap::<String, Vec<String>>::new();
    for path in folder.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let extract = name.split('.').next().unwrap_or_default().to_owned();
        if names.is_empty() || names.iter().any(|part| name.contains(part.as_str())) {
            by_extract.entry(extract).or_default().push(path.to_string_lossy().into_owned());
        }
    }
    let temporary = tempfile::tempdir().expect("a temporary folder");
    for (extract, mut files) in by_extract {
        let osm = shared.join(format!("data/osm/{extract}.osm.pbf"));
        if !osm.exists() {
            continue;
        }
        let out = temporary.path().join(format!("{extract}.terrapin"));
        let options = LoadOptions { osm: Some(osm), memory: 4 << 30, ..LoadOptions::new(out.clone()) };
        load(&options, &Quiet).expect("it loads");
        files.sort();
        files.iter().for_each(|file| report(file, &out));
    }
}
