//! Ends a query with an error from within a SPARQL function, where no error can be returned.

use std::sync::{Arc, OnceLock};

use terrapin_budget::{self as budget, ExceededLimit};
use terrapin_sparql_syntax::error::SparqlError;

/// Stores the error that ended a query.
#[derive(Debug, Clone, Default)]
pub(crate) struct QueryRefusal(Arc<OnceLock<SparqlError>>);

impl QueryRefusal {
    /// Ends the query with an error. Only the first error is stored.
    pub fn end(&self, error: SparqlError) -> ! {
        // The error outlives the work that is unwound, so it is not charged to the budget.
        let _ = budget::unwatched(|| self.0.set(error));
        budget::stop(ExceededLimit::Cancelled)
    }

    /// Returns the stored error if there is one, otherwise `result`.
    pub fn or<T>(&self, result: Result<T, SparqlError>) -> Result<T, SparqlError> {
        match self.0.get() {
            Some(error) => Err(error.clone()),
            None => result,
        }
    }
}
