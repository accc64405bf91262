//! An error that ends a query from within a function of values, where no error can be returned.

use std::sync::{Arc, OnceLock};

use terrapin_budget::{self as budget, Exceeded};
use terrapin_sparql_syntax::error::Error;

/// Where one query keeps the error that ended it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refusal(Arc<OnceLock<Error>>);

impl Refusal {
    /// Ends the query with an error. The first one counts.
    pub fn end(&self, error: Error) -> ! {
        // It outlives the work that is unwound.
        let _ = budget::unwatched(|| self.0.set(error));
        budget::stop(Exceeded::Cancelled)
    }

    /// What the query came to, or the error that ended it.
    pub fn or<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        match self.0.get() {
            Some(error) => Err(error.clone()),
            None => result,
        }
    }
}
