//! OverpassNL (TACL 2024): execution accuracy of predicted OverpassQL, as the authors' evaluation computes it.
//!
//! A line goes through [`prepare`](prepare::prepare), is run, is read as their code reads a server's answer
//! (`answer`), and the two results are compared ([`crate::eval::metrics::execution`]). What this gives equals what
//! their code gives on a server with the same data; the habits of that code that move numbers are kept and are named
//! where they are.

mod answer;
mod class;
mod engine;
mod prepare;
mod similarity;

pub use answer::Failed;
pub use class::ErrorClass;
pub use prepare::{Refusal, prepare, wants_bbox};
pub use similarity::{Similarity, similarity, without_shortcuts};

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;

use crate::eval::metrics::execution::{Results, Score, Sides, score};
use crate::osm::Osm;
use crate::places::Places;

/// How many ids of missing and of extra elements a record lists.
const SAMPLE: usize = 10;

/// A line of the benchmark.
#[derive(Debug, Clone, Copy)]
pub struct Instance<'a> {
    /// Its line in the files, from 1.
    pub line: usize,
    /// The query that is right.
    pub gold: &'a str,
    /// The query that a system gave.
    pub pred: &'a str,
    /// What `{{bbox}}` stands for.
    pub bbox: Option<&'a str>,
}

/// What came out for one line. The names are those of the published results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// The line, from 1.
    pub line: usize,
    /// The gold query as it was run, or as it was given where it could not be prepared.
    #[serde(rename = "ref")]
    pub gold: String,
    /// The predicted query as it was run, or as it was given where it could not be prepared.
    pub pred: String,
    /// How many elements the gold gave, or its count; -1 or -2 for an error; `null` where it was not run because the
    /// prediction could not be prepared.
    pub ref_n: Option<i64>,
    /// The same of the prediction; `null` where the gold could not be prepared.
    pub pred_n: Option<i64>,
    /// The prediction's error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorClass>,
    /// What the error said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// The gold's error: it should have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ref_error: Option<ErrorClass>,
    /// What the gold's error said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ref_error_text: Option<String>,
    /// Whether the results are the same and not empty.
    pub ex: u8,
    /// The share of common elements in the larger result.
    pub ex_soft: f64,
    /// Milliseconds that preparing, running and comparing took: the one field that differs between runs.
    pub ms: f64,
    /// The first elements that the prediction lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The first elements that only the prediction has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<String>,
}

/// The totals over all lines.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Totals {
    /// Lines.
    pub n: usize,
    /// Per cent of lines with the same results.
    pub ex: f64,
    /// Mean of `ex_soft`, in per cent.
    pub ex_soft: f64,
    /// Predictions with an error, by class; classes without any are left out.
    pub errors: BTreeMap<ErrorClass, usize>,
    /// Gold queries with an error, by class: there should be none.
    pub ref_errors: BTreeMap<ErrorClass, usize>,
    /// Gold queries without results, where neither query had an error.
    pub ref_empty: usize,
    /// Predictions without results, where neither query had an error.
    pub pred_empty: usize,
}

/// The summary of a run, with what it depends on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// `overpassnl`.
    pub benchmark: &'static str,
    /// The totals.
    #[serde(flatten)]
    pub totals: Totals,
    /// The snapshot's digest.
    pub snapshot: String,
    /// Name and version of the engine.
    pub engine: &'static str,
}

impl Summary {
    /// The summary of all records of a run.
    pub fn of(records: &[Record], snapshot: &str) -> Summary {
        Summary {
            benchmark: "overpassnl",
            totals: totals(records),
            snapshot: snapshot.to_owned(),
            engine: concat!("terrapin ", env!("CARGO_PKG_VERSION")),
        }
    }
}

/// For people: a line a number.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Totals { n, ex, ex_soft, errors, ref_errors, ref_empty, pred_empty } = &self.totals;
        let mut line = |name: &str, value: &dyn fmt::Display| writeln!(f, "{name:<14} {value}");
        line("EX", &format_args!("{ex:.2}"))?;
        line("EX_soft", &format_args!("{ex_soft:.2}"))?;
        line("lines", n)?;
        for (name, classes) in [("errors", errors), ("gold errors", ref_errors)] {
            line(name, &classes.values().sum::<usize>())?;
            for (class, count) in classes {
                line("", &format_args!("{count} {}", class.name()))?;
            }
        }
        line("empty", pred_empty)?;
        line("gold empty", ref_empty)?;
        line("snapshot", &self.snapshot)?;
        line("engine", &self.engine)
    }
}

/// Runs all instances on the threads of the current pool and gives their records in order. `done` is called, from any
/// thread, after each.
pub fn run(osm: &Osm, instances: &[Instance<'_>], places: &dyn Places, done: &(dyn Fn() + Sync)) -> Vec<Record> {
    instances
        .par_iter()
        .with_max_len(1)
        .map(|instance| {
            let record = run_one(instance, places, &|query| engine::run(osm, query));
            done();
            record
        })
        .collect()
}

/// Adds up the records.
pub fn totals(records: &[Record]) -> Totals {
    let mut totals = Totals { n: records.len(), ..Totals::default() };
    let (mut ex, mut ex_soft) = (0_u64, 0.0);
    for record in records {
        ex += u64::from(record.ex);
        ex_soft += record.ex_soft;
        for (class, classes) in [(record.error, &mut totals.errors), (record.ref_error, &mut totals.ref_errors)] {
            if let Some(class) = class {
                *classes.entry(class).or_default() += 1;
            }
        }
        if record.error.is_none() && record.ref_error.is_none() {
            totals.ref_empty += usize::from(record.ref_n == Some(0));
            totals.pred_empty += usize::from(record.pred_n == Some(0));
        }
    }
    if !records.is_empty() {
        totals.ex = 100.0 * ex as f64 / records.len() as f64;
        totals.ex_soft = 100.0 * ex_soft / records.len() as f64;
    }
    totals
}

type Engine<'a> = &'a dyn Fn(&str) -> Result<Results, Failed>;

fn run_one(instance: &Instance<'_>, places: &dyn Places, engine: Engine<'_>) -> Record {
    let start = Instant::now();
    let mut record = evaluate(instance, places, engine);
    record.ms = (start.elapsed().as_secs_f64() * 1e4).round() / 10.0;
    record
}

fn evaluate(instance: &Instance<'_>, places: &dyn Places, engine: Engine<'_>) -> Record {
    let mut record = Record {
        line: instance.line,
        gold: instance.gold.to_owned(),
        pred: instance.pred.to_owned(),
        ref_n: None,
        pred_n: None,
        error: None,
        error_text: None,
        ref_error: None,
        ref_error_text: None,
        ex: 0,
        ex_soft: 0.0,
        ms: 0.0,
        missing: Vec::new(),
        extra: Vec::new(),
    };
    let gold = prepare(instance.gold, instance.bbox, places);
    let pred = prepare(instance.pred, instance.bbox, places);
    if let Err(refusal) = &gold {
        record.ref_n = Some(refusal.class.count());
        record.ref_error = Some(refusal.class);
        record.ref_error_text = Some(refusal.message.clone());
    }
    if let Err(refusal) = &pred {
        record.pred_n = Some(refusal.class.count());
        record.error = Some(refusal.class);
        record.error_text = Some(refusal.message.clone());
    }
    for (prepared, text) in [(&gold, &mut record.gold), (&pred, &mut record.pred)] {
        if let Ok(prepared) = prepared {
            text.clone_from(prepared);
        }
    }
    let (Ok(gold), Ok(pred)) = (gold, pred) else { return record };

    let gold_results = guarded(engine, &gold);
    // The same text gives the same results.
    let pred_results = if pred == gold { gold_results.clone() } else { guarded(engine, &pred) };
    record.ref_n = Some(number(&gold_results));
    record.pred_n = Some(number(&pred_results));
    if let Err(failed) = &gold_results {
        record.ref_error = Some(failed.class);
        record.ref_error_text = Some(failed.text.clone());
    }
    if let Err(failed) = &pred_results {
        record.error = Some(failed.class);
        record.error_text = Some(failed.text.clone());
    }
    if let (Ok(gold), Ok(pred)) = (&gold_results, &pred_results) {
        let Score { ex, ex_soft } = score(gold, pred);
        record.ex = ex;
        record.ex_soft = ex_soft;
        if let (Results::Elements(gold), Results::Elements(pred)) = (gold, pred) {
            let sides = Sides::of(gold, pred);
            record.missing = sides.missing.iter().take(SAMPLE).map(ToString::to_string).collect();
            record.extra = sides.extra.iter().take(SAMPLE).map(ToString::to_string).collect();
        }
    }
    record
}

fn number(results: &Result<Results, Failed>) -> i64 {
    match results {
        Ok(results) => results.number(),
        Err(failed) => failed.class.count(),
    }
}

/// A fault of the engine in one query must not lose the other lines' results.
fn guarded(engine: Engine<'_>, query: &str) -> Result<Results, Failed> {
    catch_unwind(AssertUnwindSafe(|| engine(query))).unwrap_or_else(|_| {
        Err(Failed {
            class: ErrorClass::UnknownError,
            text: "the engine failed on this query: a fault of it".to_owned(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::metrics::execution::Key;
    use crate::places::Table;

    /// Takes the number of nodes that a query is to give from the query.
    fn engine(query: &str) -> Result<Results, Failed> {
        let digits = query.rsplit(';').find_map(|part| part.strip_prefix("nodes=")).unwrap_or("none");
        match digits {
            "panic" => panic!("on purpose"),
            "none" => Err(Failed { class: ErrorClass::ParseError, text: "line 1: parse error: x".to_owned() }),
            digits => Ok(Results::elements(
                (1..=digits.parse().unwrap()).map(|id| Key { kind: "node".to_owned(), id }).collect(),
            )),
        }
    }

    fn record(gold: &str, pred: &str) -> Record {
        let instance = Instance { line: 7, gold, pred, bbox: None };
        run_one(&instance, &Table::default(), &engine)
    }

    #[test]
    fn a_line_and_the_totals() {
        let half = record(";nodes=20;", ";nodes=40;");
        assert_eq!((half.ref_n, half.pred_n, half.ex, half.ex_soft), (Some(20), Some(40), 0, 0.5));
        assert_eq!(half.extra.len(), SAMPLE);
        assert_eq!(half.extra.first().map(String::as_str), Some("node/21"));
        let wrong = record(";nodes=2;", "x");
        assert_eq!((wrong.pred_n, wrong.error), (Some(-1), Some(ErrorClass::ParseError)));
        let fault = record(";nodes=2;", ";nodes=panic;");
        assert_eq!((fault.pred_n, fault.error), (Some(-2), Some(ErrorClass::UnknownError)));
        let nowhere = record(";nodes=2;", "{{geocodeArea:X}};nodes=2;");
        assert_eq!((nowhere.ref_n, nowhere.pred_n, nowhere.error), (None, Some(-1), Some(ErrorClass::Nominatim)));
        let empty = record(";nodes=2;", ";nodes=0;");
        let same = record(";nodes=3;", ";nodes=3;");
        let totals = totals(&[half, wrong, fault, nowhere, empty, same]);
        assert_eq!((totals.n, totals.ex, totals.ex_soft), (6, 100.0 / 6.0, 25.0));
        assert_eq!((totals.ref_empty, totals.pred_empty), (0, 1));
        assert_eq!(
            serde_json::to_string(&totals.errors).unwrap(),
            r#"{"nominatim":1,"parse_error":1,"unknown_error":1}"#
        );
    }
}
