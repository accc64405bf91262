//! Tools for making a benchmark: pairs of a question and its query are checked against a snapshot before publication.
//!
//! - `pairs` reads the pairs.
//! - `answer` runs a gold query and stores a compact form of its answer.
//! - `duplicates` finds repeated pairs within and between splits.
//! - `volatile` finds queries that depend on the day or on chance.
//! - `measures` computes the difficulty of a pair.
//! - `check` combines these checks.
//! - `pack` writes the folder to publish.
//! - `drift` compares answers between snapshots.

mod answer;
mod check;
mod description;
mod drift;
mod duplicates;
mod measures;
mod pack;
mod pairs;
mod volatile;

pub use answer::{Answer, Cut, Element, Engine, Failure};
pub use check::{Checked, CheckedPair, check};
pub use description::{Author, Description};
pub use drift::{Drift, DriftTotals, PairDrift, Side, drift};
pub use duplicates::duplicates;
pub use measures::{MEASURES, Measure, measures};
pub use pack::Pack;
pub use pairs::{Pair, read_pairs};

use serde::Serialize;

/// A possible fault of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The kind.
    pub kind: Kind,
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

impl Finding {
    fn of(pair: &Pair, kind: Kind, message: impl Into<String>) -> Finding {
        Finding { kind, split: pair.split.clone(), line: pair.line, id: pair.id.clone(), message: message.into() }
    }
}

/// The kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
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
    /// A limit cut an ordered answer: among equal rows, those left are arbitrary.
    CutInOrder,
}

impl Kind {
    /// All kinds, worst first.
    pub const ALL: [Kind; 12] = [
        Kind::Fails,
        Kind::NotDeterministic,
        Kind::Empty,
        Kind::Cut,
        Kind::Relative,
        Kind::Random,
        Kind::NoQuestion,
        Kind::LeakQuestion,
        Kind::LeakQuery,
        Kind::DuplicateQuestion,
        Kind::DuplicateQuery,
        Kind::CutInOrder,
    ];

    /// Returns the name in files and options.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Fails => "fails",
            Kind::NotDeterministic => "not-deterministic",
            Kind::Empty => "empty",
            Kind::Cut => "cut",
            Kind::Relative => "relative",
            Kind::Random => "random",
            Kind::NoQuestion => "no-question",
            Kind::LeakQuestion => "leak-question",
            Kind::LeakQuery => "leak-query",
            Kind::DuplicateQuestion => "duplicate-question",
            Kind::DuplicateQuery => "duplicate-query",
            Kind::CutInOrder => "cut-in-order",
        }
    }

    /// Reports whether the finding prevents a publication. The authors judge the others.
    pub fn is_error(self) -> bool {
        !matches!(self, Kind::LeakQuery | Kind::DuplicateQuestion | Kind::DuplicateQuery | Kind::CutInOrder)
    }
}

impl std::str::FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Kind, String> {
        let names = || Kind::ALL.map(Kind::name).join(", ");
        Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| format!("expected one of {}", names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_one_name() {
        for kind in Kind::ALL {
            assert_eq!(kind.name().parse::<Kind>(), Ok(kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.name()));
        }
    }
}
