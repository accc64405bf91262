//! Solves patterns as nested loops over term numbers, without an allocation per solution and step: joins, OPTIONAL,
//! UNION, MINUS, VALUES, GRAPH, filters, DISTINCT, groups and ORDER BY. A library evaluates expressions that are not
//! compiled here.
//!
//! ```text
//! error.rs       errors of compiling
//! compile.rs     converts a planned pattern to a program: blocks of steps over slots
//! values.rs      compiles expressions
//! scope.rs       the slots of a block
//! layout.rs      the parts of a block before they are ordered
//! limits.rs      the maximum size of a program
//! program.rs     the parts of a program
//! operand.rs     terms and slots as operands
//! kept.rs        a program that is run again
//! machine.rs     runs a program
//! frame.rs       the state of a running block
//! sorted.rs      ORDER BY below the top of a query
//! groups.rs      distinct solutions, groups and their aggregates
//! table.rs       stored solutions with lookup: the build side of a hash join
//! condition.rs   filters and values of expressions
//! forms.rs       lexical forms in expressions
//! comparison.rs  comparisons of numbers and dates by their codes
//! constants.rs   membership in a list of constants
//! calculation.rs arithmetic
//! text.rs        tests of texts against constants
//! decode.rs      converts numbers to terms
//! explain.rs     formats a run for `--explain`
//! ```
//!
//! The order of solutions is that of the loops and is the same on every machine.

mod calculation;
mod comparison;
mod compile;
mod condition;
mod constants;
mod decode;
mod error;
mod explain;
mod forms;
mod frame;
mod groups;
mod kept;
mod layout;
mod limits;
mod machine;
mod operand;
mod program;
mod scope;
mod sorted;
mod table;
mod text;
mod values;

pub(super) use compile::compile;
pub(super) use decode::Decoder;
pub(super) use explain::explain;
pub(super) use kept::ProgramCache;
pub(super) use machine::solve;
pub(super) use program::Program;
