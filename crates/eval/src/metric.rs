//! Metrics: names and meanings of the numbers in a record.

use super::record::ResultRecord;

/// A metric: its names, its meaning, and its source in a record.
#[derive(Debug)]
pub struct Metric {
    /// The name in `results.jsonl`.
    pub name: &'static str,
    /// The name in the papers.
    pub title: &'static str,
    /// The meaning and range, as a sentence.
    pub meaning: &'static str,
    /// It needs the execution of the queries.
    pub needs_run: bool,
    /// A lower score is better.
    pub lower_is_better: bool,
    /// Its source in a record.
    pub source: ScoreSource,
}

/// The source of a metric's score in a record.
#[derive(Debug, Clone, Copy)]
pub enum ScoreSource {
    /// A named score under the metric's name.
    Named,
    /// A separate part of the record; `None` if it has no score.
    Part(fn(&ResultRecord) -> Option<f64>),
}

impl Metric {
    /// Returns a metric of the query texts.
    pub const fn of_texts(
        name: &'static str,
        title: &'static str,
        meaning: &'static str,
        source: ScoreSource,
    ) -> Metric {
        Metric { name, title, meaning, needs_run: false, lower_is_better: false, source }
    }

    /// Returns a metric of the queries' results.
    pub const fn of_results(
        name: &'static str,
        title: &'static str,
        meaning: &'static str,
        source: ScoreSource,
    ) -> Metric {
        Metric { name, title, meaning, needs_run: true, lower_is_better: false, source }
    }

    /// Returns the score of a record, 0 to 1, if it has one.
    pub fn score(&self, record: &ResultRecord) -> Option<f64> {
        match self.source {
            ScoreSource::Named => record.scores.get(self.name),
            ScoreSource::Part(of) => of(record),
        }
    }
}
