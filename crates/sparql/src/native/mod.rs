//! Solving patterns on our own: joins, OPTIONAL, UNION, MINUS, VALUES, filters, DISTINCT and groups as nested loops over
//! numbers, without a solution's allocation a step. What this does not know goes to the evaluator as a whole.
//!
//! ```text
//! fallback.rs   why there is none
//! compile.rs    a planned pattern → a program: blocks of steps over slots
//! scope.rs      the slots of a block
//! layout.rs     its parts before they have their places
//! limits.rs     how large it may be
//! program.rs    what a program is made of
//! place.rs      where values stand
//! kept.rs       a program that is run again
//! machine.rs    runs it
//! groups.rs     distinct solutions, groups and their aggregates
//! table.rs      solutions that are kept and looked up: the other side of a hash join
//! condition.rs  filters and values of expressions
//! comparison.rs those of numbers and dates, by their codes
//! constants.rs  many terms, one of which a value may be
//! calculation.rs those of numbers that are calculated
//! text.rs       those of texts by constants
//! decode.rs     numbers → terms
//! explain.rs    what a run did, in words
//! ```
//!
//! Answers are those of the evaluator; their order is the loops', the same everywhere.

mod calculation;
mod comparison;
mod compile;
mod condition;
mod constants;
mod decode;
mod explain;
mod fallback;
mod groups;
mod kept;
mod layout;
mod limits;
mod machine;
mod operand;
mod program;
mod scope;
mod table;
mod text;

pub(super) use compile::compile;
pub(super) use decode::Decoder;
pub(super) use explain::explain;
pub(super) use fallback::Fallback;
pub(super) use kept::Kept;
pub(super) use machine::solve;
pub(super) use program::Program;
