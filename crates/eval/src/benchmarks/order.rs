//! Order-aware scores of both languages, given if the gold query sets an order.

use std::hash::Hash;

use crate::metric::{Metric, ScoreSource};
use crate::metrics::ranking::ranking;
use crate::record::{ResultRecord, Score};
use crate::stored;

/// The metrics of ordered results.
pub static METRICS: &[Metric] = &[
    Metric::of_results(
        "ndcg",
        "nDCG",
        "The discounted gain of the prediction's results over that of the gold's order, 0 to 1; given where the gold sets \
         an order.",
        ScoreSource::Named,
    ),
    Metric::of_results(
        "mrr",
        "MRR",
        "The reciprocal rank of the gold's first result in the prediction's results, 0 to 1; given where the gold sets an \
         order.",
        ScoreSource::Named,
    ),
];

/// Adds the scores of two lists of results in their order; none if the gold list is empty.
pub fn set<T: Eq + Hash>(gold: &[T], pred: &[T], record: &mut ResultRecord) {
    if let Some(score) = ranking(gold, pred) {
        record.scores.set("ndcg", Score::Share(stored(score.ndcg)));
        record.scores.set("mrr", Score::Share(stored(score.mrr)));
    }
}
