//! The interface of a benchmark: scoring an instance, and its entry in the registry.

use terrapin_base::stack::caught;
use terrapin_engine::Engine;
use terrapin_geocoder::PlaceSource;

use crate::cache::ResultCache;
use crate::metric::Metric;
use crate::record::{Instance, ResultRecord, StoredOutcome};

/// A benchmark, which scores instances.
pub trait Benchmark: Sync {
    /// Scores an instance. Errors of its queries are part of the outcome; a panic is a fault of the engine.
    fn evaluate(&self, instance: &Instance) -> StoredOutcome;

    /// Returns the outcome of an instance on which [`Benchmark::evaluate`] panicked: no score, and `message` as the
    /// prediction's error.
    fn failed(&self, instance: &Instance, message: String) -> StoredOutcome;

    /// Scores an instance. Never fails, so that a fault of the engine in one instance does not lose the others.
    fn score(&self, instance: &Instance) -> StoredOutcome {
        caught(|| self.evaluate(instance)).unwrap_or_else(|message| self.failed(instance, message))
    }
}

/// Computes named numbers of a whole run.
pub type Corpus = fn(&[Instance], &[ResultRecord]) -> Vec<(&'static str, f64)>;

/// An entry of the registry.
#[derive(Debug)]
pub struct Registration {
    /// Its name in `run.json`.
    pub name: &'static str,
    /// Its metrics, in the order of tables.
    pub metrics: fn() -> Vec<&'static Metric>,
    /// Numbers of a whole run that are not means of instance scores, such as BLEU: names and values in per cent.
    pub corpus: Corpus,
    /// Returns the benchmark that scores the instances of a run again with the given data.
    pub recompute: for<'a> fn(ScoringInputs<'a>) -> Box<dyn Benchmark + 'a>,
}

/// Returns no numbers, for benchmarks with means only.
pub(super) fn nothing(_: &[Instance], _: &[ResultRecord]) -> Vec<(&'static str, f64)> {
    Vec::new()
}

/// The data for scoring a run again.
#[derive(Clone, Copy)]
pub struct ScoringInputs<'a> {
    /// The outcomes of the run, which show how queries were compared.
    pub outcomes: &'a [StoredOutcome],
    /// The snapshot; without it, queries are only compared.
    pub engine: Option<&'a Engine>,
    /// The geocoded places.
    pub places: &'a dyn PlaceSource,
    /// The cache of results.
    pub cache: &'a dyn ResultCache,
}
