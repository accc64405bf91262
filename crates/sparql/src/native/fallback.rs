//! Why a pattern is solved by the evaluator.

use std::fmt;

use super::limits::{MOST_SLOTS, MOST_STEPS};

/// What in a query has no program, so that the whole of it is the evaluator's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// The query is about certain ones of the snapshot's graphs.
    Graphs,
    /// DESCRIBE, which is the evaluator's as a whole.
    Describe,
    /// A pattern of this kind, as it is written.
    Pattern(&'static str),
    /// A part of an EXISTS that would be solved apart, and then not see the values around the EXISTS.
    Apart,
    /// COUNT(DISTINCT *).
    DistinctCount,
    /// An aggregate that there is no fold of.
    Aggregate,
    /// An EXISTS that is a part of a larger calculation.
    NestedExists,
    /// A function that only has a value in a whole query.
    Function,
    /// More variables than a block has slots.
    Variables,
    /// More steps than a program may have.
    Steps,
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fallback::Graphs => f.write_str("the query is about certain graphs"),
            Fallback::Describe => f.write_str("it is a DESCRIBE"),
            Fallback::Pattern(kind) => write!(f, "{kind} stands in it"),
            Fallback::Apart => {
                f.write_str("a MINUS, an OPTIONAL or a subquery in an EXISTS would have to see the values around it")
            }
            Fallback::DistinctCount => f.write_str("COUNT(DISTINCT *) stands in it"),
            Fallback::Aggregate => f.write_str("an aggregate stands in it that is not known"),
            Fallback::NestedExists => f.write_str("an EXISTS stands in a calculation"),
            Fallback::Function => f.write_str("a function in it (BNODE) needs the whole query"),
            Fallback::Variables => write!(f, "a group has more than {MOST_SLOTS} variables"),
            Fallback::Steps => write!(f, "it would take more than {MOST_STEPS} steps"),
        }
    }
}
