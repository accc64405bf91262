//! What running the queries of an instance gave, whatever language they are in.

use super::execution::Execution;
use super::failed::Class;
use super::strict::Strict;

/// What running both queries gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ran<'a> {
    /// How many results the gold gave; what stands for an error is below 0 or nothing.
    pub ref_n: Option<i64>,
    /// The same of the prediction.
    pub pred_n: Option<i64>,
    /// The name of the class of the prediction's failure.
    pub error: Option<&'static str>,
    /// What the prediction's failure said.
    pub error_text: Option<&'a str>,
    /// The name of the class of the gold's failure.
    pub ref_error: Option<&'static str>,
    /// Whether a limit cut the results of either query.
    pub limited: bool,
    /// The first results that the prediction lacks.
    pub missing: &'a [String],
    /// The first results that only the prediction has.
    pub extra: &'a [String],
}

impl Ran<'_> {
    /// Whether the gold query ran and gave something: only such an instance tells a good prediction from an empty one.
    pub fn has_signal(&self) -> bool {
        self.ref_n.is_some_and(|n| n > 0)
    }

    /// Whether both queries ran and gave nothing.
    pub fn is_nothing_twice(&self) -> bool {
        (self.ref_n, self.pred_n) == (Some(0), Some(0))
    }
}

impl Execution {
    /// The same in any language.
    pub fn ran(&self) -> Ran<'_> {
        Ran {
            ref_n: self.ref_n,
            pred_n: self.pred_n,
            error: self.error.map(Class::name),
            error_text: self.error_text.as_deref(),
            ref_error: self.ref_error.map(Class::name),
            limited: self.limited,
            missing: &self.missing,
            extra: &self.extra,
        }
    }
}

impl Strict {
    /// The same in any language.
    pub fn ran(&self) -> Ran<'_> {
        let rows = |n: Option<u64>| n.and_then(|n| i64::try_from(n).ok());
        Ran {
            ref_n: rows(self.ref_n),
            pred_n: rows(self.pred_n),
            error: self.error.map(Class::name),
            error_text: self.error_text.as_deref(),
            ref_error: self.ref_error.map(Class::name),
            limited: self.limited,
            missing: &self.missing,
            extra: &self.extra,
        }
    }
}
