//! What a query is answered to, and within which bounds.

use oxrdf::{Term, Triple, Variable};
use terrapin_budget::Limits;

/// Takes an answer as it comes. Errors are the reader's: it went away.
pub trait Sink {
    /// The variables of a SELECT, before its first solution.
    ///
    /// # Errors
    /// The answer cannot be taken.
    fn variables(&mut self, variables: &[Variable]) -> std::io::Result<()>;
    /// A solution: a value for each variable.
    ///
    /// # Errors
    /// The answer cannot be taken.
    fn solution(&mut self, values: &[Option<Term>]) -> std::io::Result<()>;
    /// The answer of an ASK.
    ///
    /// # Errors
    /// The answer cannot be taken.
    fn boolean(&mut self, value: bool) -> std::io::Result<()>;
    /// A triple of a CONSTRUCT or DESCRIBE.
    ///
    /// # Errors
    /// The answer cannot be taken.
    fn triple(&mut self, triple: &Triple) -> std::io::Result<()>;
}

/// Bounds of an answer's size and of everything else.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    /// Time, memory, work, cancellation.
    pub limits: Limits,
    /// Most solutions or triples that an answer may have.
    pub rows: Option<u64>,
}

/// What a finished query tells about itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Solutions or triples that went out.
    pub rows: u64,
    /// Units of work: triples looked at.
    pub work: u64,
}
