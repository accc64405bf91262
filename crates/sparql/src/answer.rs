//! Where a query's answer is written to, and the limits on it.

use oxrdf::{Term, Triple, Variable};
use terrapin_budget::Limits;

/// Receives an answer row by row. Errors come from the receiver, for instance because the client disconnected.
pub trait ResultSink {
    /// Receives the variables of a SELECT. Called before the first solution.
    ///
    /// # Errors
    /// Returns an error if the answer cannot be written.
    fn variables(&mut self, variables: &[Variable]) -> std::io::Result<()>;
    /// Receives a solution: a value for each variable.
    ///
    /// # Errors
    /// Returns an error if the answer cannot be written.
    fn solution(&mut self, values: &[Option<Term>]) -> std::io::Result<()>;
    /// Receives the answer of an ASK.
    ///
    /// # Errors
    /// Returns an error if the answer cannot be written.
    fn boolean(&mut self, value: bool) -> std::io::Result<()>;
    /// Receives a triple of a CONSTRUCT or DESCRIBE.
    ///
    /// # Errors
    /// Returns an error if the answer cannot be written.
    fn triple(&mut self, triple: &Triple) -> std::io::Result<()>;
}

/// Limits on a query and on the size of its answer.
#[derive(Debug, Clone, Default)]
pub struct SparqlBounds {
    /// Timeout, memory limit, work limit and cancellation.
    pub limits: Limits,
    /// Maximum number of solutions or triples in the answer.
    pub rows: Option<u64>,
}

/// Statistics of a finished query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SparqlSummary {
    /// Number of solutions or triples that were written.
    pub rows: u64,
    /// Units of work: number of triples read.
    pub work: u64,
}
