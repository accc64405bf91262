//! Measures loading triples, opening them and finding patterns: `cargo bench --bench triples`.
//!
//! Uses the Wikidata subsets in TERRAPIN_SHARED (default `../shared`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use oxrdf::NamedNodeRef;
use spareval::{QueryEvaluator, QueryResults};
use terrapin::budget::{Budget, Limits};
use terrapin::load::Quiet;
use terrapin::load::{LoadOptions, load};
use terrapin::rdf::{Store, TripleView};
use terrapin::snapshot::Snapshot;
use terrapin::sparql::plan::{Goal, plan};
use terrapin::sparql::syntax::algebra::SparqlQuery;
use terrapin::sparql::syntax::{self, Dialect, convert};

const QUERIES: [(&str, &str); 5] = [
    ("one entity", "SELECT * { <http://www.wikidata.org/entity/Q42> ?p ?o }"),
    ("star", "SELECT * { ?s wdt:P31 wd:Q3184121 ; wdt:P625 ?where ; rdfs:label ?label }"),
    ("classes", "SELECT DISTINCT ?c { ?s wdt:P31/wdt:P279* ?c }"),
    ("of a class", "SELECT * { ?s wdt:P31/wdt:P279* wd:Q486972 }"),
    ("optional", "SELECT * { ?s wdt:P31 wd:Q3184121 OPTIONAL { ?s wdt:P1082 ?n } OPTIONAL { ?s wdt:P18 ?i } }"),
];

fn files() -> Vec<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("TERRAPIN_SHARED").map_or_else(|| top.join("../shared"), PathBuf::from);
    let names = ["full-entities", "br-municipalities"].map(|name| format!("data/wikidata/subset-{name}.nt.gz"));
    names.iter().map(|name| shared.join(name)).filter(|path| path.exists()).collect()
}

fn open(path: &Path) -> Arc<Store> {
    let snapshot = Arc::new(Snapshot::open(path).expect("a snapshot"));
    Arc::new(Store::open(&snapshot).expect("triples").expect("some"))
}

fn parse(query: &str) -> SparqlQuery {
    syntax::parse(query, Dialect::Standard).expect("a query").query
}

/// Plans and runs a query. Returns the number of solutions.
fn ask(store: &Arc<Store>, query: &SparqlQuery) -> usize {
    let mut view = TripleView::new(Arc::clone(store), Arc::new(Budget::new(&Limits::default())));
    let mut query = query.clone();
    query.pattern = plan(query.pattern, &mut view, Goal::default());
    let query = convert::query(query);
    match QueryEvaluator::new().prepare(&query).execute(&view) {
        Ok(QueryResults::Solutions(solutions)) => solutions.filter(Result::is_ok).count(),
        _ => 0,
    }
}

fn triples(c: &mut Criterion) {
    let files = files();
    if files.is_empty() {
        println!("skipped: no triples");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("x.terrapin");
    let options = LoadOptions { wikidata: files, memory: 2 << 30, ..LoadOptions::new(out.clone()) };
    let loaded = load(&options, &Quiet).expect("it loads");

    let mut group = c.benchmark_group("load triples");
    group.sample_size(10).measurement_time(Duration::from_secs(30));
    group.throughput(Throughput::Elements(loaded.manifest.triples.map_or(0, |t| t.triples)));
    group.bench_function("subsets", |b| b.iter(|| load(&options, &Quiet).expect("it loads")));
    group.finish();

    c.bench_function("open triples", |b| b.iter(|| open(&out).len()));

    let store = open(&out);
    let direct = NamedNodeRef::new_unchecked("http://www.wikidata.org/prop/direct/P31");
    let id = store.id(direct.into());
    c.bench_function("term to id", |b| b.iter(|| store.id(direct.into())));
    c.bench_function("scan a predicate", |b| b.iter(|| store.triples(None, id, None).count()));
    c.bench_function("id to term", |b| {
        b.iter(|| store.triples(None, id, None).take(1000).filter_map(|t| store.term(t[0])).count());
    });
    for (name, query) in QUERIES {
        let query = parse(query);
        c.bench_function(&format!("sparql/{name}"), |b| b.iter(|| ask(&store, &query)));
    }
}

criterion_group!(benches, triples);
criterion_main!(benches);
