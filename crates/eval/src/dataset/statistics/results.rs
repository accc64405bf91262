//! Counts the results of the queries on a snapshot.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;

use super::super::answer::GoldEngine;
use super::super::pairs::GoldPair;
use super::distribution::Distribution;
use super::locations::ResultLocations;

/// The results of queries on a snapshot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResultStatistics {
    /// The digest of the snapshot.
    pub snapshot: String,
    /// The number of queries that were run.
    pub queries: usize,
    /// The number of queries without an answer, by their errors' first words.
    pub failed: BTreeMap<String, usize>,
    /// The number of queries without results.
    pub empty: usize,
    /// The number of results of each query with an answer, by the number of digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<Distribution>,
    /// The number of results of each query with at least one result, by the number of digits; `None` without
    /// such a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_empty: Option<Distribution>,
}

/// Runs the pairs' queries once each, concurrently in the current pool. `done` is called after each.
///
/// With `with_locations`, also counts where the elements of the answers lie.
pub fn results(
    engine: &GoldEngine<'_>,
    pairs: &[GoldPair],
    with_locations: bool,
    done: &(dyn Fn() + Sync),
) -> (ResultStatistics, ResultLocations) {
    let places = Mutex::new(ResultLocations::default());
    let run = |pair: &GoldPair| {
        let answer = engine.ask(pair).map_err(|failure| kind_of(&failure.text));
        if let (Ok(answer), true) = (&answer, with_locations) {
            let own = match answer.rows {
                true => ResultLocations::of_rows(answer.number),
                false => ResultLocations::of(engine.engine.osm(), &answer.elements),
            };
            // A sum does not depend on the order. A panic elsewhere leaves it valid.
            places.lock().unwrap_or_else(PoisonError::into_inner).add(own);
        }
        done();
        answer.map(|answer| answer.number)
    };
    let runnable: Vec<&GoldPair> = pairs.iter().filter(|pair| pair.is_run_here()).collect();
    let answers: Vec<Result<u64, String>> = runnable.par_iter().map(|pair| run(pair)).collect();
    let mut failed = BTreeMap::new();
    answers.iter().filter_map(|answer| answer.as_ref().err()).for_each(|kind| {
        *failed.entry(kind.clone()).or_insert(0) += 1;
    });
    let numbers = || answers.iter().filter_map(|answer| answer.as_ref().ok()).copied();
    let statistics = ResultStatistics {
        snapshot: engine.engine.digest().to_owned(),
        queries: answers.len(),
        failed,
        empty: numbers().filter(|number| *number == 0).count(),
        results: Distribution::by_digits(numbers()),
        without_empty: Distribution::by_digits(numbers().filter(|number| *number > 0)),
    };
    (statistics, places.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the kind of an error: for SPARQL its class, for OverpassQL the words of the reference before the details.
fn kind_of(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    for kind in ["parse error", "static error", "runtime error", "no place of this name", "no bounding box was given"] {
        if first.contains(kind) {
            return kind.to_owned();
        }
    }
    first.split(':').next().unwrap_or(first).chars().take(40).collect()
}
