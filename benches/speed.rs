//! Measures loading, opening and querying: `cargo bench`.
//!
//! Uses the extract of Malta of March 2024: either the one in TERRAPIN_SHARED (default `../shared`) with the recorded
//! queries there, or the one fetched by `make demo` with the demo's queries.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use terrapin::load::Quiet;
use terrapin::load::{LoadOptions, load};
use terrapin::osm::Osm;
use terrapin::overpass;
use terrapin::overpass::Limits;
use terrapin::snapshot::Snapshot;

struct BenchInputs {
    extract: PathBuf,
    queries: Vec<String>,
}

impl BenchInputs {
    fn find() -> Option<BenchInputs> {
        let top = Path::new(env!("CARGO_MANIFEST_DIR"));
        let shared = std::env::var_os("TERRAPIN_SHARED").map_or_else(|| top.join("../shared"), PathBuf::from);
        let extract = shared.join("data/osm/malta-2024.osm.pbf");
        if extract.exists() {
            let vectors = shared.join("conformance/overpass/malta-2024.dev.jsonl.gz");
            return Some(BenchInputs { extract, queries: recorded(&vectors) });
        }
        let extract = top.join("target/demo/malta-latest.osm.pbf");
        let mut queries: Vec<PathBuf> =
            std::fs::read_dir(top.join("demo/queries")).ok()?.filter_map(|e| Some(e.ok()?.path())).collect();
        queries.sort();
        let queries = queries.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect();
        extract.exists().then_some(BenchInputs { extract, queries })
    }
}

/// Returns the queries of a file of recorded answers, except those that the reference could not finish.
fn recorded(path: &Path) -> Vec<String> {
    let mut text = String::new();
    let file = std::fs::File::open(path).expect("the vectors lie beside the extract");
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).expect("readable vectors");
    let vectors = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a vector a line"));
    vectors
        .filter(|v| {
            let error = v["error"].as_str().unwrap_or_default();
            !error.contains("timed out") && !error.contains("run out of memory")
        })
        .filter_map(|v| v["query"].as_str().map(str::to_owned))
        .collect()
}

fn ask(osm: &Osm, query: &str) {
    // Rejected queries are part of the mix.
    let _ = overpass::parse(query).and_then(|script| overpass::run(osm, &script, &Limits::default(), &mut io::sink()));
}

fn open(path: &Path) -> Osm {
    Osm::open(Arc::new(Snapshot::open(path).expect("a snapshot"))).expect("elements")
}

fn speed(c: &mut Criterion) {
    let Some(data) = BenchInputs::find() else {
        println!("skipped: no extract; `make demo` fetches one");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("malta.terrapin");
    let options = LoadOptions { osm: Some(data.extract.clone()), memory: 4 << 30, ..LoadOptions::new(out.clone()) };

    let mut group = c.benchmark_group("load");
    group.sample_size(10).measurement_time(Duration::from_secs(20));
    group.throughput(Throughput::Bytes(std::fs::metadata(&data.extract).map_or(0, |m| m.len())));
    group.bench_function("malta", |b| b.iter(|| load(&options, &Quiet).expect("it loads")));
    group.finish();

    c.bench_function("open/one node", |b| b.iter(|| ask(&open(&out), "node(1);out;")));

    let mut group = c.benchmark_group("query");
    group.sample_size(10).measurement_time(Duration::from_secs(20));
    group.throughput(Throughput::Elements(data.queries.len() as u64));
    let osm = open(&out);
    group.bench_function("mix, warm", |b| b.iter(|| data.queries.iter().for_each(|query| ask(&osm, query))));
    group.bench_function("mix, cold", |b| {
        b.iter(|| {
            let osm = open(&out);
            data.queries.iter().for_each(|query| ask(&osm, query));
        });
    });
    group.finish();
}

criterion_group!(benches, speed);
criterion_main!(benches);
