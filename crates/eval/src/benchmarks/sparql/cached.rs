//! Uses the answers cached by other runs.

use super::answer::SparqlAnswer;
use super::ask::ask;
use crate::cache::{CacheKey, ResultCache, get_or_run};
use crate::record::{FailedQuery, FailureClass};
use terrapin_budget::Limits;
use terrapin_sparql::Environment;

/// Returns the cached answer of a query or runs it.
///
/// # Errors
/// Returns an error if the query has no answer.
pub fn ask_cached(
    cache: &dyn ResultCache,
    snapshot: &str,
    environment: &Environment,
    query: &str,
    limits: &Limits,
) -> Result<SparqlAnswer, FailedQuery<FailureClass>> {
    get_or_run(cache, &CacheKey { snapshot, language: "SPARQL", query }, || ask(environment, query, limits))
}
