//! Compares answers with those of the reference to real queries over real extracts, and counts equal ones.
//!
//! There are three levels, each including the previous one: the same outcome and the same ids; the same elements in
//! full; the same order. Each file has a minimum that is asserted, so that regressions are noticed.
//!
//! Needs the shared data (`TERRAPIN_SHARED`, by default `../shared`); skipped without it. By default a sample runs.
//! `TERRAPIN_VECTORS=all` runs every vector, `TERRAPIN_VECTORS=malta` those of files with that text in their name.
//! `TERRAPIN_VECTORS_FAILED=FILE` writes those that are not exact as JSON lines.

mod canonical;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::common::place;
use crate::common::skip;
use crate::overpass::parse_vectors::is_range_beyond_ascii;
use rayon::prelude::*;
use serde_json::{Value, json};
use terrapin::load::Quiet;
use terrapin::load::{LoadOptions, load};
use terrapin::osm::Osm;
use terrapin::overpass::Limits;
use terrapin::overpass::{parse, run};
use terrapin::snapshot::Snapshot;

/// The files of vectors. Every vector must have the same ids, elements and order.
const FILES: [&str; 9] = [
    "niue.dev",
    "niue.train",
    "niue.features",
    "monaco.dev",
    "malta-2016.dev",
    "malta-2016.train",
    "malta-2016.features",
    "malta-2024.dev",
    "malta-2024.train",
];
/// The sample has one of this number of vectors.
const SAMPLE: usize = 20;
/// Time limit; no query of the vectors takes that long on any machine.
const LONGEST: Duration = Duration::from_secs(60);

/// The result of a vector.
struct VectorOutcome {
    /// 0 if wrong, 1 for the same ids, 2 for the same elements, 3 for the same order.
    level: usize,
    why: String,
    took: Duration,
}

#[test]
fn answers_as_the_reference() {
    let shared = place::shared();
    if !shared.join("conformance").exists() {
        skip::skipped(skip::Need::Shared, "there is no shared data (set TERRAPIN_SHARED)");
        return;
    }
    let wanted = std::env::var("TERRAPIN_VECTORS").unwrap_or_default();
    let whole = !wanted.is_empty();
    let failed = std::env::var_os("TERRAPIN_VECTORS_FAILED")
        .map(|path| Mutex::new(std::fs::File::create(path).expect("a file for the failed vectors")));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut extracts: BTreeMap<&str, Arc<Osm>> = BTreeMap::new();
    let mut missed = Vec::new();
    println!(
        "{:<20} {:>7} {:>8} {:>9} {:>8} {:>9} {:>8}",
        "file", "vectors", "ids", "elements", "exact", "median", "sum"
    );
    for name in FILES {
        if whole && wanted != "all" && !name.contains(&wanted) {
            continue;
        }
        let extract = name.split('.').next().unwrap_or(name);
        let osm = extracts
            .entry(extract)
            .or_insert_with(|| snapshot(&shared.join(format!("data/osm/{extract}.osm.pbf")), folder.path()))
            .clone();
        let vectors = read(&shared.join(format!("conformance/overpass/{name}.jsonl.gz")));
        // Regular expressions that the reference's C library rejects are evaluated by code point here
        // (docs/reference/differences.md).
        let compared = |v: &Value| !is_range_beyond_ascii(v["error"].as_str().unwrap_or_default());
        let vectors = vectors.into_iter().step_by(if whole { 1 } else { SAMPLE });
        let vectors: Vec<Value> = vectors.filter(compared).collect();
        let outcomes: Vec<VectorOutcome> = vectors.par_iter().map(|v| judge(&osm, v)).collect();
        if let Some(failed) = &failed {
            let mut file = failed.lock().expect("the file");
            for (v, o) in vectors.iter().zip(&outcomes).filter(|(_, o)| o.level < 3) {
                let mut v = v.clone();
                v["level"] = json!(o.level);
                v["why"] = json!(o.why);
                writeln!(file, "{v}").expect("written");
            }
        }
        let count = outcomes.len().max(1) as f64;
        let levels = [1, 2, 3].map(|k| 100.0 * outcomes.iter().filter(|o| o.level >= k).count() as f64 / count);
        let mut times: Vec<Duration> = outcomes.iter().map(|o| o.took).collect();
        times.sort();
        let sum: Duration = times.iter().sum();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        println!(
            "{name:<20} {:>7} {:>7.2}% {:>8.2}% {:>7.2}% {:>6.2} ms {:>6.2} s",
            outcomes.len(),
            levels[0],
            levels[1],
            levels[2],
            median.as_secs_f64() * 1000.0,
            sum.as_secs_f64()
        );
        if whole {
            let mut slowest: Vec<_> = vectors.iter().zip(&outcomes).collect();
            slowest.sort_by_key(|(_, o)| std::cmp::Reverse(o.took));
            for (v, o) in slowest.iter().take(5) {
                let query: String = v["query"].as_str().unwrap_or_default().chars().take(150).collect();
                println!("    {:>8.2} ms {}", o.took.as_secs_f64() * 1000.0, query.replace('\n', " "));
            }
        }
        for (vector, outcome) in vectors.iter().zip(&outcomes).filter(|(_, outcome)| outcome.level < 3) {
            missed.push(format!("{name}: {}: {}", vector["query"], outcome.why));
        }
    }
    assert!(missed.is_empty(), "{} differ: {:#?}", missed.len(), &missed[..missed.len().min(20)]);
}

fn snapshot(extract: &Path, folder: &Path) -> Arc<Osm> {
    let name = extract.file_name().unwrap_or_default();
    let out = folder.join(name).with_extension("terrapin");
    let options = LoadOptions { osm: Some(extract.to_owned()), memory: 1 << 30, ..LoadOptions::new(out.clone()) };
    load(&options, &Quiet).expect("the extract loads");
    Arc::new(Osm::open(Arc::new(Snapshot::open(&out).expect("it opens"))).expect("its elements are there"))
}

fn read(path: &Path) -> Vec<Value> {
    let file = std::fs::File::open(path).expect("the vectors");
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    let vectors = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    // Skip vectors for which the reference ran out of time or memory: they do not test the language.
    let counts = |v: &Value| {
        let error = v["error"].as_str().unwrap_or_default();
        matches!(v["status"].as_str(), Some("ok" | "error"))
            && !error.contains("timed out")
            && !error.contains("run out of memory")
    };
    vectors.filter(counts).collect()
}

fn judge(osm: &Osm, vector: &Value) -> VectorOutcome {
    let query = vector["query"].as_str().unwrap_or_default();
    let start = Instant::now();
    let limits = Limits { deadline: Some(start + LONGEST), ..Limits::default() };
    let mut body = Vec::new();
    let result = parse(query).and_then(|script| run(osm, &script, &limits, &mut body));
    let took = start.elapsed();
    let (level, why) = match (vector["status"] == "ok", result) {
        (true, Err(failure)) => (0, format!("refused: {failure}")),
        (true, Ok(_)) => compare(vector, &String::from_utf8_lossy(&body)),
        (false, Ok(_)) => (0, "the reference refuses it".to_owned()),
        (false, Err(failure)) => {
            let text = failure.to_string();
            let wanted = vector["error"].as_str().unwrap_or_default();
            match wanted.lines().find(|line| !line.trim().is_empty() && !text.contains(line)) {
                Some(line) => (1, format!("refused in other words: {text}, not {line}")),
                None => (3, String::new()),
            }
        }
    };
    VectorOutcome { level, why, took }
}

fn compare(vector: &Value, body: &str) -> (usize, String) {
    let Some((ids, items)) = canonical::read(body) else {
        return (0, format!("unreadable: {}", body.chars().take(200).collect::<String>()));
    };
    let count = vector["count"].as_u64().unwrap_or_default();
    if vector["ids"] != canonical::digest(&ids) || items.len() as u64 != count && ids.is_empty() {
        let ours: Vec<_> = items.iter().take(2).collect();
        return (0, format!("{} elements, the reference has {count}; {ours:?}", items.len()));
    }
    let mut bag = items.clone();
    bag.sort();
    if vector["bag"] != canonical::digest(&bag) {
        let theirs: Vec<&str> = vector["body"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let ours = items.iter().find(|item| !theirs.contains(&item.as_str()));
        let other = theirs.iter().find(|item| !items.iter().any(|i| i == **item));
        return (1, format!("other content: {ours:?}, the reference {other:?}"));
    }
    if vector["elements"] != canonical::digest(&items) {
        return (2, "other order".to_owned());
    }
    (3, String::new())
}
