//! Making a benchmark: pairs of a question and the query that answers it, held against a snapshot before they are
//! published.
//!
//! `pairs` reads them, `answer` runs a gold query and keeps what it gave in few bytes, `duplicates` finds the same pair
//! twice and in two splits, `volatile` what depends on the day or on chance, `measures` says how hard a pair is, `check`
//! puts all that together, `pack` writes what is published, `drift` says what changes from one snapshot to another.

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

/// What is wrong with a benchmark, or may be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which kind.
    pub kind: Kind,
    /// The pair's split.
    pub split: String,
    /// The pair's line in the file of its split.
    pub line: usize,
    /// The pair's name, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What there is to say of it.
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
    /// It gave other bytes the second time, or with another number of threads.
    NotDeterministic,
    /// Its answer is empty, or a count of nothing.
    Empty,
    /// A limit cut the answer, and nothing says which elements or rows it leaves.
    Cut,
    /// The answer depends on the day: `{{date:1 week}}`, `NOW()`.
    Relative,
    /// The answer is drawn by lot: `RAND()`, `UUID()`.
    Random,
    /// There is no question.
    NoQuestion,
    /// Two splits have the same question.
    LeakQuestion,
    /// Two splits have the same query.
    LeakQuery,
    /// A split has the same question twice.
    DuplicateQuestion,
    /// A split has the same query twice.
    DuplicateQuery,
    /// A limit cut an answer that is in order: rows that are equal in that order may stand on either side of the cut.
    CutInOrder,
}

impl Kind {
    /// All kinds, the worst first.
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

    /// The name in files and options.
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

    /// Whether a benchmark should not be published with it. The others are for its makers to judge.
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
