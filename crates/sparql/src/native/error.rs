//! Errors of compiling a pattern.

use super::limits::MOST_DEPTH;
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};

/// The reason why a pattern cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompileError {
    /// More steps follow each other than allowed.
    Depth,
    /// An aggregate that does not exist.
    Aggregate(String),
    /// A pattern that earlier steps should have replaced.
    Pattern(&'static str),
}

impl From<CompileError> for SparqlError {
    fn from(error: CompileError) -> SparqlError {
        match error {
            CompileError::Depth => SparqlError::new(
                SparqlErrorClass::Unsupported,
                SparqlCode::TooLarge,
                format!("the plan has more than {MOST_DEPTH} steps in a row"),
            ),
            CompileError::Aggregate(name) => SparqlError::new(
                SparqlErrorClass::Unsupported,
                SparqlCode::UnknownFunction,
                format!("the aggregate {name} is not supported"),
            ),
            CompileError::Pattern(kind) => SparqlError::new(
                SparqlErrorClass::Internal,
                SparqlCode::Evaluation,
                format!("the plan contains {kind}"),
            ),
        }
    }
}
