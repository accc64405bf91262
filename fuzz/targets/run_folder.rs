//! The folder of a run and the files that it is made from. An input replaces one of these files; the others are valid.

use std::path::Path;
use std::sync::OnceLock;

use terrapin::eval::about::About;
use terrapin::eval::benchmarks::jsonl;
use terrapin::eval::input::extract::{PredictionFormat, read_predictions};
use terrapin::eval::input::published::FieldMap;
use terrapin::eval::record::{Instance, ResultRecord, StoredOutcome};
use terrapin::eval::runs::{
    EvalRun, Journal, RunJournal, compare, comparison_html, merge, other_run, read_summary, verify_summary,
};
use terrapin::geocoder::PlaceTable;

/// The files of the folder, by the input's first byte.
const FILES: [&str; 7] =
    ["run.json", "instances.jsonl", "results.jsonl", "map.jsonl", "timings.jsonl", "places.json", "summary.json"];
/// The other kinds of input: lines to score, which are also parsed as places, and the journal.
const LINES: usize = 7;
const JOURNAL: usize = 8;
const KINDS: usize = 9;

pub const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "null",
    "true",
    ":",
    ",",
    "\n",
    "\"line\":1",
    "\"gold\":\"x\"",
    "\"pred\":\"x\"",
    "\"lang\":\"sparql\"",
    "1e308",
    "-1",
    "NaN",
    "\"shard\":{\"index\":1,\"count\":2}",
    "\"\\ud800\"",
    "\"benchmark\":",
    "\"records\":",
    "\"points\":[[1,2]]",
    "\"ms\":1.5",
    "\"error\":",
    "[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":",
];

fn run() -> &'static EvalRun {
    static RUN: OnceLock<EvalRun> = OnceLock::new();
    RUN.get_or_init(|| {
        let instance = |line| Instance {
            line,
            gold: "node(1);out;".to_owned(),
            pred: "node(2);out;".to_owned(),
            ..Instance::default()
        };
        let instances: Vec<Instance> = (1..4).map(instance).collect();
        let outcome = |instance: &Instance| StoredOutcome {
            record: ResultRecord::of(instance),
            ms: 1.5,
            ..StoredOutcome::default()
        };
        let outcomes = instances.iter().map(outcome).collect();
        EvalRun { about: About::default(), instances, outcomes, places: Default::default() }
    })
}

/// Returns a folder with a complete run.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = super::town::folder();
            run().write(folder.path()).expect("a run is written");
            folder
        })
        .path()
}

pub fn seeds() -> Vec<Vec<u8>> {
    let files = FILES.iter().enumerate().map(|(kind, name)| {
        let text = std::fs::read(folder().join(name)).expect("a file of a run");
        [vec![kind as u8], text].concat()
    });
    let lines = "{\"gold\":\"node(1);out;\",\"pred\":\"node(2);out;\",\"id\":7,\"bbox\":[1,2,3,4]}\n{\"gold\":\"ASK{}\",\"pred\":\"ASK{?s ?p ?o}\",\"lang\":\"sparql\"}\n";
    let mut all: Vec<Vec<u8>> = files.collect();
    let table = "id,reference,prediction\n7,node(1);out;,\"```node(\"\"2\"\");out;```\"\n";
    for text in [lines, table, "It is\n```overpassql\nnode(1);out;\n```\n\"node(2);out;\"\n"] {
        all.push([&[LINES as u8], text.as_bytes()].concat());
    }
    let place = super::town::folder();
    let journal = RunJournal::open(&place.path().join("journal"), &run().about, &run().instances).expect("a journal");
    journal.append(&run().outcomes).expect("it is written");
    drop(journal);
    if let Ok(text) = std::fs::read(place.path().join("journal/lines")) {
        all.push([vec![JOURNAL as u8], text].concat());
    }
    all
}

pub fn check(input: &[u8]) {
    let Some((first, rest)) = input.split_first() else { return };
    let kind = usize::from(*first) % KINDS;
    if kind == LINES {
        let path = super::town::file("lines.jsonl", rest);
        let _ = jsonl::read(&path, &[], &FieldMap::default());
        for forms in [
            &[][..],
            &[PredictionFormat::Json, PredictionFormat::Fenced],
            &[PredictionFormat::Csv, PredictionFormat::Quoted],
            &[PredictionFormat::Fenced, PredictionFormat::Quoted],
        ] {
            let _ = read_predictions(&path, forms, None);
        }
        let _ = PlaceTable::parse(rest);
        return;
    }
    if kind == JOURNAL {
        let journal = folder().join("journal");
        let _ = std::fs::create_dir_all(&journal);
        std::fs::write(journal.join("lines"), rest).expect("written");
        if let Ok(journal) = RunJournal::open(&journal, &run().about, &run().instances) {
            let _ = journal.known();
        }
        return;
    }
    let path = folder().join(FILES[kind]);
    let whole = std::fs::read(&path).expect("a file of a run");
    std::fs::write(&path, rest).expect("written");
    read(folder());
    std::fs::write(&path, whole).expect("written");
}

fn read(folder: &Path) {
    let stored = read_summary(folder);
    match EvalRun::read(folder) {
        Ok(read) => {
            let summary = read.summary();
            let recomputed = serde_json::to_value(&summary).expect("JSON");
            if let Ok(stored) = stored {
                let _ = verify_summary("summary.json", &stored, &recomputed, &[]);
            }
            if let Ok(compared) = compare(run(), &read) {
                comparison_html(run(), &read, &compared, compared.changes.first());
            }
            let _ = other_run(folder, &run().about, &run().instances);
            let _ = merge(vec![read.clone(), run().clone()]);
        }
        Err(error) => drop(error.to_string()),
    }
}
