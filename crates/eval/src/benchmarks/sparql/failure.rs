//! Classifies the engine's errors of a benchmark's SPARQL queries.

use crate::record::{FailedQuery, FailureClass};
use terrapin_sparql::{SparqlCode, SparqlError, SparqlErrorClass};

impl From<SparqlError> for FailedQuery<FailureClass> {
    fn from(error: SparqlError) -> Self {
        let class = match (error.class, error.code) {
            (SparqlErrorClass::Syntax, _) => FailureClass::Syntax,
            (SparqlErrorClass::Unsupported, _) => FailureClass::Unsupported,
            (SparqlErrorClass::Limit, SparqlCode::Timeout | SparqlCode::Cancelled) => FailureClass::Timeout,
            (SparqlErrorClass::Limit, _) => FailureClass::TooLarge,
            (SparqlErrorClass::Internal, _) => FailureClass::Internal,
        };
        let place = error.span.map(|_| format!("line {}, column {}: ", error.line, error.column));
        FailedQuery::new(class, place.unwrap_or_default() + &error.message)
    }
}
