//! Reasons to solve a pattern with the evaluator.

use std::fmt;

use super::limits::{MOST_SLOTS, MOST_STEPS};

/// A feature that the compiler does not support. The evaluator then solves the whole query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// The query is restricted to some of the snapshot's graphs.
    Graphs,
    /// A DESCRIBE query.
    Describe,
    /// A pattern of this kind.
    Pattern(&'static str),
    /// A part of an EXISTS that would be solved separately, and would then not see the values around the EXISTS.
    Apart,
    /// COUNT(DISTINCT *).
    DistinctCount,
    /// An aggregate without an implementation here.
    Aggregate,
    /// More variables than the slots of a block.
    Variables,
    /// More steps than allowed in a program.
    Steps,
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fallback::Graphs => f.write_str("the query selects its graphs with FROM or a parameter"),
            Fallback::Describe => f.write_str("the query is a DESCRIBE"),
            Fallback::Pattern(kind) => write!(f, "the query contains {kind}"),
            Fallback::Apart => {
                f.write_str("a MINUS, an OPTIONAL or a subquery in an EXISTS needs the bindings outside it")
            }
            Fallback::DistinctCount => f.write_str("the query contains COUNT(DISTINCT *)"),
            Fallback::Aggregate => f.write_str("the query contains an unknown aggregate"),
            Fallback::Variables => write!(f, "a group has more than {MOST_SLOTS} variables"),
            Fallback::Steps => write!(f, "the plan has more than {MOST_STEPS} steps"),
        }
    }
}
