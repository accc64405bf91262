//! The results of an instance's queries in any language.

use super::execution::Execution;
use super::failed::FailureKind;
use super::strict::StrictResults;

/// The results of both queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ran<'a> {
    /// The number of gold results; negative or missing for an error.
    pub ref_n: Option<i64>,
    /// The number of predicted results; negative or missing for an error.
    pub pred_n: Option<i64>,
    /// The class name of the prediction's failure.
    pub error: Option<&'static str>,
    /// The text of the prediction's failure.
    pub error_text: Option<&'a str>,
    /// The class name of the gold query's failure.
    pub ref_error: Option<&'static str>,
    /// A limit cut the results of either query.
    pub limited: bool,
    /// The first results missing from the prediction.
    pub missing: &'a [String],
    /// The first results only in the prediction.
    pub extra: &'a [String],
}

impl Ran<'_> {
    /// Reports whether the gold query has results: only such an instance distinguishes a good prediction from an
    /// empty one.
    pub fn has_signal(&self) -> bool {
        self.ref_n.is_some_and(|n| n > 0)
    }

    /// Reports whether both queries ran with empty results.
    pub fn is_nothing_twice(&self) -> bool {
        (self.ref_n, self.pred_n) == (Some(0), Some(0))
    }
}

impl Execution {
    /// Returns the results independently of the language.
    pub fn ran(&self) -> Ran<'_> {
        Ran {
            ref_n: self.ref_n,
            pred_n: self.pred_n,
            error: self.error.map(FailureKind::name),
            error_text: self.error_text.as_deref(),
            ref_error: self.ref_error.map(FailureKind::name),
            limited: self.limited,
            missing: &self.missing,
            extra: &self.extra,
        }
    }
}

impl StrictResults {
    /// Returns the results independently of the language.
    pub fn ran(&self) -> Ran<'_> {
        let rows = |n: Option<u64>| n.and_then(|n| i64::try_from(n).ok());
        Ran {
            ref_n: rows(self.ref_n),
            pred_n: rows(self.pred_n),
            error: self.error.map(FailureKind::name),
            error_text: self.error_text.as_deref(),
            ref_error: self.ref_error.map(FailureKind::name),
            limited: self.limited,
            missing: &self.missing,
            extra: &self.extra,
        }
    }
}
