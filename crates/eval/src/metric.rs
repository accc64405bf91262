//! Metrics: what a number of a record is called and what it says.

use super::record::Record;

/// A metric: its names, its meaning, and where a record has it.
#[derive(Debug)]
pub struct Metric {
    /// As in `results.jsonl`.
    pub name: &'static str,
    /// As in the papers.
    pub title: &'static str,
    /// What it says, with its range: a sentence.
    pub meaning: &'static str,
    /// Whether queries have to be run for it.
    pub needs_run: bool,
    /// Where a record has it.
    pub source: ScoreSource,
}

/// Where a record has the score of a metric.
#[derive(Debug, Clone, Copy)]
pub enum ScoreSource {
    /// Among its named scores, under the metric's name.
    Named,
    /// In a part of its own; nothing where that gives no score.
    Part(fn(&Record) -> Option<f64>),
}

impl Metric {
    /// A metric that the queries alone give.
    pub const fn of_texts(
        name: &'static str,
        title: &'static str,
        meaning: &'static str,
        source: ScoreSource,
    ) -> Metric {
        Metric { name, title, meaning, needs_run: false, source }
    }

    /// A metric of what the queries give.
    pub const fn of_results(
        name: &'static str,
        title: &'static str,
        meaning: &'static str,
        source: ScoreSource,
    ) -> Metric {
        Metric { name, title, meaning, needs_run: true, source }
    }

    /// The score, 0 to 1, of a record that has one.
    pub fn score(&self, record: &Record) -> Option<f64> {
        match self.source {
            ScoreSource::Named => record.scores.get(self.name),
            ScoreSource::Part(of) => of(record),
        }
    }
}
