//! Tests that output is the same every time: answers of two processes with different numbers of threads, snapshots of
//! the same triples loaded in two orders, and ORDER BY over values of all kinds, which must be a total order.
//!
//! The answers are those of a sample of the shared queries over the snapshot in TERRAPIN_WIKIDATA. TERRAPIN_ALL=1 runs
//! all queries, ten thousand ORDER BYs and the whole subsets, which takes half an hour in an optimised build.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::place::shared;
use crate::common::skip;
use crate::common::wikidata;
use flate2::read::GzDecoder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use terrapin::budget::Limits;
use terrapin::load::Quiet;
use terrapin::load::{LoadOptions, load};
use terrapin::snapshot::Snapshot;
use terrapin::sparql::results::{AnswerWriter, Formats, ResultWriter};
use terrapin::sparql::{Environment, SparqlBounds, SparqlCode, SparqlError, SparqlErrorClass, SparqlSettings, prepare};

/// Returns the answer's bytes. They do not depend on time, because the limit is on work.
fn ask(environment: &Environment, text: &str) -> Result<Vec<u8>, SparqlError> {
    let limits = Limits {
        deadline: Some(Instant::now() + Duration::from_secs(120)),
        memory: Some(2 << 30),
        work: Some(20_000_000),
        ..Limits::default()
    };
    let mut bytes = Vec::new();
    let mut writer = ResultWriter::new(&mut bytes, Formats::default());
    prepare(text, &SparqlSettings::default())?.run(
        environment,
        &SparqlBounds { limits, rows: Some(300_000) },
        &mut writer,
    )?;
    writer.finish().expect("bytes in memory");
    Ok(bytes)
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Returns queries with their names: a sample, or all with TERRAPIN_ALL.
fn queries() -> Vec<(String, String)> {
    let mut queries = Vec::new();
    for name in ["conformance/sparql/vectors.jsonl.gz", "data/instruct-to-sparql/queries.jsonl.gz"] {
        let Ok(file) = File::open(shared().join(name)) else { continue };
        let mut text = String::new();
        GzDecoder::new(file).read_to_string(&mut text).expect("a gzip file");
        for (n, line) in text.lines().enumerate().filter(|(n, _)| skip::all() || n % 80 == 11) {
            let line: Value = serde_json::from_str(line).expect("a JSON object a line");
            queries.push((format!("{name} {n}"), line["query"].as_str().unwrap_or_default().to_owned()));
        }
    }
    queries
}

fn environment(path: &Path) -> Environment {
    let snapshot = Arc::new(Snapshot::open(path).expect("it opens"));
    Environment::open(&snapshot).expect("it is whole").expect("it has triples")
}

/// Returns a digest for each query, of its answer or its error. Queries that time out have none.
fn digests(path: &Path) -> BTreeMap<String, String> {
    let environment = environment(path);
    let mut digests = BTreeMap::new();
    for (name, text) in queries() {
        match ask(&environment, &text) {
            Ok(bytes) => digests.insert(name, digest(&bytes)),
            Err(error) if (error.class, error.code) == (SparqlErrorClass::Limit, SparqlCode::Timeout) => None,
            Err(error) => digests.insert(name, digest(error.to_string().as_bytes())),
        };
    }
    digests
}

/// If this variable is set, the test is the child process and only prints; the parent compares.
const CHILD: &str = "TERRAPIN_PRINT_DIGESTS";

#[test]
fn two_processes_and_numbers_of_threads_answer_the_same() {
    let Some(path) = wikidata::path() else { return };
    if queries().is_empty() {
        skip::skipped(skip::Need::Shared, "no queries in the shared data");
        return;
    }
    if std::env::var_os(CHILD).is_some() {
        for (name, digest) in digests(&path) {
            println!("digest\t{name}\t{digest}");
        }
        return;
    }
    let child = |threads: &str| {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args([
            "sparql::determinism::two_processes_and_numbers_of_threads_answer_the_same",
            "--exact",
            "--nocapture",
        ]);
        command.env("TERRAPIN_WIKIDATA", &path).env(CHILD, "1").env("RAYON_NUM_THREADS", threads);
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).expect("text");
        // The test harness prints text before the first line without a line break.
        let parts = lines.lines().filter_map(|line| line.split_once("digest\t")?.1.split_once('\t'));
        parts.map(|(name, digest)| (name.to_owned(), digest.to_owned())).collect::<BTreeMap<_, _>>()
    };
    let (one, two) = (child("1"), child("2"));
    let differ: Vec<&String> =
        one.iter().filter(|(name, d)| two.get(*name).is_some_and(|e| e != *d)).map(|(n, _)| n).collect();
    println!("{} queries, {} and {} of them not stopped by the clock", queries().len(), one.len(), two.len());
    assert!(differ.is_empty(), "{} differ: {:?}", differ.len(), &differ[..differ.len().min(20)]);
    assert!(!one.is_empty());
}

fn load_rdf(rdf: Vec<PathBuf>, out: &Path, threads: usize) -> String {
    let options = LoadOptions { rdf, memory: 2 << 30, ..LoadOptions::new(out.to_owned()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| load(&options, &Quiet)).expect("it loads").digest
}

#[test]
fn the_order_of_loading_does_not_show() {
    let names = ["br-municipalities", "full-entities", "kgtk-arnold", "wd50k"];
    let files: Vec<PathBuf> =
        names.iter().map(|name| shared().join(format!("data/wikidata/subset-{name}.nt.gz"))).collect();
    if !skip::all() || !files.iter().all(|file| file.exists()) {
        skip::skipped(
            skip::Need::Time,
            "set TERRAPIN_ALL to load Wikidata's subsets twice (tests/snapshot/rdf.rs does so with less)",
        );
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let forwards = load_rdf(files.clone(), &folder.path().join("a.terrapin"), 2);
    let backwards = load_rdf(files.into_iter().rev().collect(), &folder.path().join("b.terrapin"), 1);
    println!("{forwards} in both orders");
    assert_eq!(forwards, backwards);
}

/// A pseudo-random generator with a fixed sequence.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// Returns a term of any kind in SPARQL's notation. Blank nodes are in the data only.
fn term(dice: &mut Dice) -> String {
    let n = dice.below(40) as i64 - 20;
    let xsd = |kind: &str| format!("^^<http://www.w3.org/2001/XMLSchema#{kind}>");
    match dice.below(18) {
        0 => format!("\"{n}\"{}", xsd("integer")),
        1 => format!("\"{}.{}\"{}", n, dice.below(100), xsd("decimal")),
        2 => format!("\"{n}e{}\"{}", dice.below(5), xsd("double")),
        3 => format!("\"{}\"{}", dice.of(&["NaN", "INF", "-INF", "-0", "0"]), xsd(dice.of(&["double", "float"]))),
        4 => format!("\"{n}\"{}", xsd(dice.of(&["int", "long", "byte", "nonNegativeInteger"]))),
        5 => format!("\"{}\"{}", dice.of(&["true", "false", "1", "0", "maybe"]), xsd("boolean")),
        6 => format!(
            "\"20{:02}-0{}-1{}T0{}:00:00{}\"{}",
            dice.below(30),
            1 + dice.below(9),
            dice.below(9),
            dice.below(9),
            dice.of(&["Z", "", "+05:00", "-14:00"]),
            xsd("dateTime")
        ),
        7 => format!(
            "\"20{:02}-0{}-1{}{}\"{}",
            dice.below(30),
            1 + dice.below(9),
            dice.below(9),
            dice.of(&["Z", "", "+05:00"]),
            xsd("date")
        ),
        8 => format!("\"0{}:00:00{}\"{}", dice.below(9), dice.of(&["Z", "", "+05:00"]), xsd("time")),
        9 => format!("\"P{}{}\"{}", dice.below(40), dice.of(&["Y", "M", "D"]), xsd("duration")),
        10 => format!("\"{}\"{}", dice.of(&["2000", "-0044", "2000Z"]), xsd("gYear")),
        11 => format!("\"word {n}\""),
        12 => format!("\"{}\"@{}", dice.of(&["a", "b", "é", ""]), dice.of(&["en", "de", "en-gb"])),
        13 => format!("<http://example.org/{n}>"),
        14 => format!("<http://www.wikidata.org/entity/Q{}>", dice.below(50)),
        15 => format!("\"x{n}\"^^<http://example.org/kind>"),
        16 => format!("\"not a number\"{}", xsd(dice.of(&["integer", "decimal", "dateTime", "date"]))),
        _ => format!("\"99999999999999999999{}\"{}", dice.below(9), xsd("integer")),
    }
}

/// Returns a query that sorts; `%` is replaced by the values.
fn sorting(dice: &mut Dice) -> String {
    let key = |dice: &mut Dice| {
        let key = dice.of(&[
            "?x",
            "?y",
            "(?x + ?y)",
            "(str(?x))",
            "(-?x)",
            "(?x < ?y)",
            "(datatype(?x))",
            "(coalesce(?y, ?x))",
            "(if(bound(?y), ?y, 1))",
        ]);
        match dice.below(3) {
            0 => format!("DESC({key})"),
            1 => format!("ASC({key})"),
            _ => key.to_owned(),
        }
    };
    let order = format!("ORDER BY {} {}", key(dice), key(dice));
    let limit = match dice.below(4) {
        0 => format!("LIMIT {}", dice.below(50)),
        1 => format!("LIMIT {} OFFSET {}", dice.below(50), dice.below(20)),
        _ => String::new(),
    };
    let source = match dice.below(3) {
        0 => "VALUES ?x { % } OPTIONAL { ?s <http://example.org/p> ?y FILTER (?y = ?x) }",
        1 => "VALUES ?x { % } OPTIONAL { ?x <http://example.org/p> ?y }",
        _ => {
            "?s <http://example.org/p> ?x OPTIONAL { ?x <http://example.org/p> ?y } VALUES ?z { % }  FILTER (?z != ?x)"
        }
    };
    match dice.below(5) {
        0 => format!("SELECT DISTINCT ?x ?y {{ {source} }} {order} {limit}"),
        1 => format!(
            "SELECT ?x (COUNT(*) AS ?n) (MIN(?y) AS ?least) (MAX(?y) AS ?most) {{ {source} }} GROUP BY ?x ORDER BY ?least DESC(?most) ?n {limit}"
        ),
        2 => format!("SELECT * {{ {{ SELECT ?x ?y {{ {source} }} {order} {limit} }} FILTER (bound(?x)) }} {order}"),
        3 => format!("SELECT ?x ?y ?s {{ {source} }} {order} {limit}"),
        _ => format!("SELECT (SAMPLE(?x) AS ?a) (GROUP_CONCAT(?x) AS ?b) {{ {source} }} GROUP BY ?y {limit}"),
    }
}

#[test]
fn orders_over_values_of_all_kinds_are_total() {
    let mut dice = Dice(20);
    let folder = tempfile::tempdir().expect("a folder");
    let mut lines = String::new();
    for n in 0..150 {
        let subject = if n % 7 == 0 { format!("_:b{n}") } else { format!("<http://example.org/{n}>") };
        let object = if n % 5 == 0 { format!("_:b{}", dice.below(150) / 7 * 7) } else { term(&mut dice) };
        lines.push_str(&format!("{subject} <http://example.org/p> {object} .\n"));
    }
    let file = folder.path().join("mixed.nt");
    std::fs::write(&file, &lines).expect("a file");
    let out = folder.path().join("mixed.terrapin");
    load_rdf(vec![file], &out, 2);
    let environment = environment(&out);

    let rounds = if skip::all() { 10_000 } else { 60 };
    let (mut rows, mut stopped) = (0, 0);
    for round in 0..rounds {
        let query = sorting(&mut dice);
        let mut values: Vec<String> = (0..[3, 40, 300][dice.below(3)]).map(|_| term(&mut dice)).collect();
        let one = ask(&environment, &query.replace('%', &values.join(" ")));
        // With ORDER BY or LIMIT, the order of the input must not affect the output, even among equal keys.
        values.reverse();
        let two = ask(&environment, &query.replace('%', &values.join(" ")));
        match (one, two) {
            (Ok(one), Ok(two)) => {
                let streams = !query.contains("ORDER") && !query.contains("LIMIT");
                assert!(streams || one == two, "{round}: {query}\n{values:?}");
                rows += one.len();
            }
            (Err(one), Err(two)) => {
                assert_eq!(one.class, SparqlErrorClass::Limit, "{query}: {one}");
                assert_eq!(one.class, two.class, "{query}: {two}");
                stopped += 1;
            }
            (one, two) => panic!("{query}: {:?} {:?}", one.err(), two.err()),
        }
    }
    println!("{rounds} queries, {stopped} stopped by a limit, {rows} bytes of answers");
    assert!(stopped * 10 < rounds);
}
