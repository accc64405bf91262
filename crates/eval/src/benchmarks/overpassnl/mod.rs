//! OverpassNL (TACL 2024): predicted OverpassQL scored as the authors' evaluation scores it.
//!
//! A line goes through [`prepare`](prepare::prepare), is run, is read as their code reads a server's answer
//! (`answer`), and the two results are compared ([`crate::metrics::execution`]); `similarity` compares the
//! queries themselves. What this gives equals what their code gives on a server with the same data; the habits of that
//! code that move numbers are kept and are named where they are.

mod answer;
mod class;
mod engine;
mod execute;
mod points;
mod prepare;
mod similarity;

pub use answer::Failed;
pub use engine::Bounds;
pub(super) use engine::run as run_query;
pub(super) use execute::{Refused, execute, guarded_prepare};
pub(super) use prepare::set_output;
pub use prepare::{Refusal, prepare, wants_bbox};
pub use similarity::{similarity, without_shortcuts};

use crate::metrics::execution::Results;
use crate::record::{ErrorClass, Execution, Instance, Outcome, Record, Similarity};
use crate::runs::{self, Cache, Key, get_or_compute};
use terrapin_geocoder::Places;
use terrapin_osm::Osm;

/// How the benchmark is run.
pub struct OverpassNl<'a> {
    /// The data to run queries on; without it only queries are compared.
    pub osm: Option<&'a Osm>,
    /// The digest of the data's snapshot.
    pub snapshot: &'a str,
    /// Where names lead.
    pub places: &'a dyn Places,
    /// Whether queries are compared as texts and trees.
    pub similarity: bool,
    /// Results of queries that were run before.
    pub cache: &'a dyn Cache,
    /// What bounds each query besides what the published evaluation allows.
    pub bounds: Bounds,
}

impl runs::Benchmark for OverpassNl<'_> {
    fn evaluate(&self, instance: &Instance) -> Outcome {
        let mut outcome = Outcome { record: Record::of(instance), ..Outcome::default() };
        if self.similarity {
            outcome.record.similarity = Some(similarity(&instance.gold, &instance.pred));
        }
        if let Some(osm) = self.osm {
            let bbox = instance.bbox.as_deref();
            let prepare = |query: &str| guarded_prepare(|| prepare(query, bbox, self.places).map_err(Refused::from));
            let (gold, pred) = (prepare(&instance.gold), prepare(&instance.pred));
            let engine =
                |query: &str| cached(self.cache, self.snapshot, query, || engine::run(osm, query, &self.bounds));
            execute(gold, pred, Some(osm), &engine, &mut outcome);
        }
        outcome
    }

    fn failed(&self, instance: &Instance, message: String) -> Outcome {
        failed(instance, self.similarity, self.osm.is_some(), message)
    }
}

/// What comes out of an instance that evaluating panicked on.
pub(super) fn failed(instance: &Instance, compared: bool, run: bool, message: String) -> Outcome {
    let mut record = Record::of(instance);
    record.similarity = compared.then(Similarity::default);
    let class = ErrorClass::UnknownError;
    record.execution = run.then(|| Execution {
        pred_n: Some(class.count()),
        error: Some(class),
        error_text: Some(message),
        multiset: Some(0),
        f1: Some(0.0),
        ..Execution::default()
    });
    Outcome { record, ..Outcome::default() }
}

/// What is kept of the query, or what running it gives.
pub(super) fn cached(
    cache: &dyn Cache,
    snapshot: &str,
    query: &str,
    run: impl FnOnce() -> Result<Results, Failed>,
) -> Result<Results, Failed> {
    // The answer's text is read as the published code reads it, within the published bounds.
    let key = Key { snapshot, language: "OverpassQL, as OverpassNL", query };
    get_or_compute(cache, &key, |results| results.as_ref().map_or_else(|failed| failed.class.lasts(), |_| true), run)
}
