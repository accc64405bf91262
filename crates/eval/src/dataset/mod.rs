//! Tools for making a benchmark: pairs of a question and its query are checked against a snapshot before publication.
//!
//! - `pairs` reads the pairs.
//! - `answer` runs a gold query and stores a compact form of its answer.
//! - `duplicates` finds repeated pairs within and between splits, `near` similar ones.
//! - `volatile` finds queries that depend on the day or on chance.
//! - `measures` computes the difficulty of a pair.
//! - `check` combines these checks.
//! - `audit` flags pairs for a review.
//! - `split` splits a dataset.
//! - `statistics` describes a dataset by the figures of the papers.
//! - `pack` writes the folder to publish.
//! - `drift` compares answers between snapshots.

mod answer;
mod audit;
mod check;
mod description;
mod drift;
mod duplicates;
mod measures;
mod near;
mod pack;
mod pairs;
mod split;
mod statistics;
mod volatile;

pub use answer::{AnswerLimit, GoldAnswer, GoldElement, GoldEngine, QueryFailure};
pub use audit::audit;
pub use check::{BenchmarkCheck, CheckedPair, check};
pub use description::{Author, Description};
pub use drift::{Drift, DriftSide, DriftTotals, PairDrift, drift};
pub use duplicates::duplicates;
pub use measures::{MEASURES, Measure, measures};
pub use near::{NEAR, near_duplicates};
pub use pack::Pack;
pub use pairs::{GoldPair, read_pairs, read_pairs_of};

pub use split::{SplitOptions, SplitPairs, SplitSizes, split};
pub use statistics::{
    CellCount, ComplexityClass, DatasetStatistics, Distribution, FEATURES, FeatureCount, HistogramBin, OverpassFeature,
    OverpassStatistics, ResultLocations, ResultStatistics, SparqlStatistics, complexity, results, statistics,
};

use serde::Serialize;

/// A possible fault of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BenchmarkFinding {
    /// The kind.
    pub kind: FindingKind,
    /// The pair's split.
    pub split: String,
    /// The pair's line in the file of its split.
    pub line: usize,
    /// The pair's id, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The message.
    pub message: String,
}

impl BenchmarkFinding {
    fn of(pair: &GoldPair, kind: FindingKind, message: impl Into<String>) -> BenchmarkFinding {
        BenchmarkFinding {
            kind,
            split: pair.split.clone(),
            line: pair.line,
            id: pair.id.clone(),
            message: message.into(),
        }
    }
}

/// The kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// The gold query has no answer.
    Fails,
    /// A second run or another number of threads gave different bytes.
    NotDeterministic,
    /// Its answer is empty, or a count of zero.
    Empty,
    /// A limit cut the answer without an order, so its elements or rows are arbitrary.
    Cut,
    /// The answer depends on the day: `{{date:1 week}}`, `NOW()`.
    Relative,
    /// The answer is random: `RAND()`, `UUID()`.
    Random,
    /// The pair has no question.
    NoQuestion,
    /// Two splits have the same question.
    LeakQuestion,
    /// Two splits have the same query.
    LeakQuery,
    /// A split has the same question twice.
    DuplicateQuestion,
    /// A split has the same query twice.
    DuplicateQuery,
    /// Two splits have similar questions.
    NearQuestion,
    /// Two splits have similar queries.
    NearQuery,
    /// Two different queries have the same answer.
    SameAnswer,
    /// The answer depends on the map's view: `{{bbox}}` in a pair without a box.
    MapView,
    /// The answer depends on the geocoder: `{{geocodeArea:...}}` in a pair without places.
    GeocodedName,
    /// The query names no place, so that its answer grows with the extract.
    WholeExtract,
    /// A limit cut an ordered answer: among equal rows, those left are arbitrary.
    CutInOrder,
}

impl FindingKind {
    /// All kinds, worst first.
    pub const ALL: [FindingKind; 18] = [
        FindingKind::Fails,
        FindingKind::NotDeterministic,
        FindingKind::Empty,
        FindingKind::Cut,
        FindingKind::Relative,
        FindingKind::Random,
        FindingKind::NoQuestion,
        FindingKind::LeakQuestion,
        FindingKind::LeakQuery,
        FindingKind::DuplicateQuestion,
        FindingKind::DuplicateQuery,
        FindingKind::NearQuestion,
        FindingKind::NearQuery,
        FindingKind::SameAnswer,
        FindingKind::MapView,
        FindingKind::GeocodedName,
        FindingKind::WholeExtract,
        FindingKind::CutInOrder,
    ];

    /// Returns the name in files and options.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Fails => "fails",
            FindingKind::NotDeterministic => "not-deterministic",
            FindingKind::Empty => "empty",
            FindingKind::Cut => "cut",
            FindingKind::Relative => "relative",
            FindingKind::Random => "random",
            FindingKind::NoQuestion => "no-question",
            FindingKind::LeakQuestion => "leak-question",
            FindingKind::LeakQuery => "leak-query",
            FindingKind::DuplicateQuestion => "duplicate-question",
            FindingKind::DuplicateQuery => "duplicate-query",
            FindingKind::NearQuestion => "near-question",
            FindingKind::NearQuery => "near-query",
            FindingKind::SameAnswer => "same-answer",
            FindingKind::MapView => "map-view",
            FindingKind::GeocodedName => "geocoded-name",
            FindingKind::WholeExtract => "whole-extract",
            FindingKind::CutInOrder => "cut-in-order",
        }
    }

    /// Reports whether the finding prevents a publication. The authors judge the others.
    pub fn is_error(self) -> bool {
        !matches!(
            self,
            FindingKind::LeakQuery
                | FindingKind::DuplicateQuestion
                | FindingKind::DuplicateQuery
                | FindingKind::NearQuestion
                | FindingKind::NearQuery
                | FindingKind::SameAnswer
                | FindingKind::MapView
                | FindingKind::GeocodedName
                | FindingKind::WholeExtract
                | FindingKind::CutInOrder
        )
    }
}

impl std::str::FromStr for FindingKind {
    type Err = String;

    fn from_str(name: &str) -> Result<FindingKind, String> {
        let names = || FindingKind::ALL.map(FindingKind::name).join(", ");
        FindingKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| format!("expected one of {}", names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_one_name() {
        for kind in FindingKind::ALL {
            assert_eq!(kind.name().parse::<FindingKind>(), Ok(kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.name()));
        }
    }
}
