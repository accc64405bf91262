//! Runs a query within its budget, and converts the errors of limits.

use std::sync::Arc;

use terrapin_budget::{self as budget, Budget, ExceededLimit, StopReason};
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_triples::ReadError;

/// Returns the error for an exceeded limit.
pub(crate) fn exceeded(exceeded: ExceededLimit) -> SparqlError {
    SparqlError::new(SparqlErrorClass::Limit, exceeded.into(), exceeded.to_string())
}

/// Converts an error of reading triples.
pub(crate) fn read(error: ReadError) -> SparqlError {
    match error {
        ReadError::Exceeded(reached) => exceeded(reached),
        ReadError::Snapshot(damage) => {
            SparqlError::new(SparqlErrorClass::Internal, SparqlCode::Snapshot, damage.to_string())
        }
        other => SparqlError::new(SparqlErrorClass::Internal, SparqlCode::Relation, other.to_string()),
    }
}

/// Runs `work` within the budget. Returns an error if the budget is exhausted or the work panics.
pub(crate) fn watched<T>(
    budget: &Arc<Budget>,
    work: impl FnOnce() -> Result<T, SparqlError>,
) -> Result<T, SparqlError> {
    budget::watched(budget, work).unwrap_or_else(|stopped| {
        Err(match stopped {
            StopReason::Exceeded(reached) => exceeded(reached),
            StopReason::Panicked(message) => SparqlError::new(
                SparqlErrorClass::Internal,
                SparqlCode::Panic,
                format!("the evaluator failed: {message}"),
            ),
        })
    })
}
