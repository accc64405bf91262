//! What a benchmark is to everything else: how it scores an instance, and its entry in the registry.

use terrapin_base::stack::caught;
use terrapin_geocoder::Places;
use terrapin_osm::Osm;
use terrapin_sparql::Environment;

use crate::cache::Cache;
use crate::metric::Metric;
use crate::record::{Instance, Outcome, Record};

/// How a benchmark scores one instance.
pub trait Benchmark: Sync {
    /// Scores an instance. What goes wrong with its queries is part of what comes out; a panic is a fault of the engine.
    fn evaluate(&self, instance: &Instance) -> Outcome;

    /// What comes out of an instance that [`Benchmark::evaluate`] panicked on: no score, and `message` as the
    /// prediction's error.
    fn failed(&self, instance: &Instance, message: String) -> Outcome;

    /// Scores an instance. Never fails: a fault of the engine in one of them must not lose the others.
    fn score(&self, instance: &Instance) -> Outcome {
        caught(|| self.evaluate(instance)).unwrap_or_else(|message| self.failed(instance, message))
    }
}

/// Numbers of a whole run by their names.
pub type Corpus = fn(&[Instance], &[Record]) -> Vec<(&'static str, f64)>;

/// A benchmark as the registry has it.
#[derive(Debug)]
pub struct Registration {
    /// Its name in `run.json`.
    pub name: &'static str,
    /// Its metrics, in the order of tables.
    pub metrics: fn() -> Vec<&'static Metric>,
    /// What is computed of a whole run and is no mean of its instances' scores, such as BLEU: names and numbers, in per cent.
    pub corpus: Corpus,
    /// The benchmark that scores the instances of one of its runs again with what is there.
    pub recompute: for<'a> fn(Data<'a>) -> Box<dyn Benchmark + 'a>,
}

/// For benchmarks all of whose numbers are means.
pub(super) fn nothing(_: &[Instance], _: &[Record]) -> Vec<(&'static str, f64)> {
    Vec::new()
}

/// What there is to score a run again.
#[derive(Clone, Copy)]
pub struct Data<'a> {
    /// What came out of the run: how queries were compared shows there.
    pub outcomes: &'a [Outcome],
    /// The data to run OverpassQL on; without it queries are only compared.
    pub osm: Option<&'a Osm>,
    /// What SPARQL is asked of.
    pub triples: Option<&'a Environment>,
    /// The digest of the snapshot; empty without one.
    pub snapshot: &'a str,
    /// The time of the data, in seconds since 1970.
    pub now: i64,
    /// Where names lead.
    pub places: &'a dyn Places,
    /// Results of queries that were run before.
    pub cache: &'a dyn Cache,
}
