//! OverpassNL (TACL 2024): scores predicted OverpassQL like the authors' evaluation.
//!
//! A line is prepared by [`prepare`](prepare::prepare) (or `prepared`, if that breaks the query), run, and parsed
//! like their code parses a server's answer (`answer`); the two results are compared ([`crate::metrics::execution`]),
//! and `similarity` compares the query texts. The scores equal those of their code on a server with the same data.
//! Quirks of that code that change numbers are kept and named in comments.

mod answer;
mod class;
mod engine;
mod execute;
mod order;
mod points;
mod prepare;
mod prepared;
mod similarity;
mod stand_ins;

pub use engine::AnswerBounds;
pub(super) use engine::run as run_query;
pub(super) use execute::execute;
pub(crate) use execute::limit_of;
pub use prepare::{prepare, wants_bbox};
pub use prepared::PreparedQuery;
pub use similarity::similarity;
pub(crate) use similarity::tree;
pub use stand_ins::without_shortcuts;

use super::common::common_metrics;
use super::registration::{Benchmark, Registration, ScoringInputs};
use super::texts;
use crate::cache::{CacheKey, ResultCache, get_or_run};
use crate::metric::Metric;
use crate::metrics::execution::ExecutionResults;
use crate::record::{Compat, ErrorClass, Execution, FailedQuery, FailureKind, Instance, ResultRecord, StoredOutcome};
use terrapin_engine::Engine;
use terrapin_geocoder::PlaceSource;

/// The entry in the registry.
pub static REGISTRATION: Registration = Registration { name: "overpassnl", metrics, corpus, recompute };

/// Returns the metrics of OverpassQL: those of the texts, then those of the results.
pub(super) fn metrics() -> Vec<&'static Metric> {
    similarity::metrics().chain(execute::METRICS).chain(common_metrics()).collect()
}

/// Computes EX and EX_soft like the published code, if it breaks any query that runs.
fn corpus(_: &[Instance], records: &[ResultRecord]) -> Vec<(&'static str, f64)> {
    let is_spoilt = |record: &ResultRecord| record.compat.as_ref().is_some_and(Compat::has_error);
    if !records.iter().any(is_spoilt) {
        return Vec::new();
    }
    let mean = |score: fn(&Execution) -> f64| {
        let scores = records.iter().filter(|record| !is_spoilt(record)).filter_map(|record| record.execution.as_ref());
        100.0 * scores.map(score).sum::<f64>() / records.len() as f64
    };
    vec![("compat.ex", mean(|execution| execution.ex.into())), ("compat.ex_soft", mean(|execution| execution.ex_soft))]
}

fn recompute(data: ScoringInputs<'_>) -> Box<dyn Benchmark + '_> {
    let ScoringInputs { outcomes, engine, places, cache } = data;
    let similarity = outcomes.iter().any(|outcome| similarity::is_compared(&outcome.record));
    Box::new(OverpassNl { engine, places, similarity, cache, bounds: AnswerBounds::default() })
}

/// The options of the benchmark.
pub struct OverpassNl<'a> {
    /// The snapshot; without it, queries are only compared.
    pub engine: Option<&'a Engine>,
    /// The geocoded places.
    pub places: &'a dyn PlaceSource,
    /// Compare queries as texts and trees.
    pub similarity: bool,
    /// The cache of results.
    pub cache: &'a dyn ResultCache,
    /// Limits of each query, in addition to those of the published evaluation.
    pub bounds: AnswerBounds,
}

impl Benchmark for OverpassNl<'_> {
    fn evaluate(&self, instance: &Instance) -> StoredOutcome {
        let mut outcome = StoredOutcome { record: ResultRecord::of(instance), ..StoredOutcome::default() };
        if self.similarity {
            outcome.record.scores = similarity(&instance.gold, &instance.pred);
            texts::set(&instance.gold, &instance.pred, instance.language(), &mut outcome.record);
        }
        if let Some(engine) = self.engine {
            let bbox = instance.bbox.as_deref();
            let prepare = |query: &str| FailedQuery::guard(|| PreparedQuery::published(query, bbox, self.places));
            let (gold, pred) = (prepare(&instance.gold), prepare(&instance.pred));
            let osm = engine.osm();
            let run = |query: &PreparedQuery| {
                cached(self.cache, engine.digest(), query, || engine::run(osm, query, &self.bounds))
            };
            execute(gold, pred, Some(osm), &run, &mut outcome);
        }
        outcome
    }

    fn failed(&self, instance: &Instance, message: String) -> StoredOutcome {
        failed(instance, self.similarity, self.engine.is_some(), message)
    }
}

/// Returns the outcome of an instance after a panic during its evaluation.
pub(super) fn failed(instance: &Instance, compared: bool, run: bool, message: String) -> StoredOutcome {
    let mut record = ResultRecord::of(instance);
    if compared {
        record.scores = similarity::unlike();
    }
    let class = ErrorClass::FAULT;
    record.execution = run.then(|| Execution {
        pred_n: Some(class.count()),
        error: Some(class),
        error_text: Some(message),
        multiset: Some(0),
        f1: Some(0.0),
        ..Execution::default()
    });
    StoredOutcome { record, ..StoredOutcome::default() }
}

/// Returns the cached results of a query or runs it.
pub(super) fn cached(
    cache: &dyn ResultCache,
    snapshot: &str,
    query: &PreparedQuery,
    run: impl FnOnce() -> Result<ExecutionResults, FailedQuery<ErrorClass>>,
) -> Result<ExecutionResults, FailedQuery<ErrorClass>> {
    get_or_run(cache, &CacheKey { snapshot, language: query.language(), query: query.text() }, run)
}
