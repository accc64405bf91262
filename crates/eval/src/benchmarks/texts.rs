//! Comparison of the query texts that is the same in both languages: canonical form equality.

use crate::language::QueryLanguage;
use crate::metric::{Metric, ScoreSource};
use crate::metrics::canonical::canonical_equal;
use crate::record::{ResultRecord, Score};

/// Canonical form equality.
pub static METRIC: Metric = Metric::of_texts(
    "canonical",
    "canonical",
    "1 where the queries are equal but for names of sets and variables, order of commutative parts and ways of writing, \
     else 0.",
    ScoreSource::Named,
);

/// Adds the score of two queries.
pub fn set(gold: &str, pred: &str, language: QueryLanguage, record: &mut ResultRecord) {
    record.scores.set(METRIC.name, Score::Flag(canonical_equal(gold, pred, language)));
}
