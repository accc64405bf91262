//! Uses the answers cached by other runs.

use super::answer::Answer;
use super::ask::ask;
use crate::cache::{Cache, Key, get_or_run};
use crate::record::{Failed, FailureClass};
use terrapin_budget::Limits;
use terrapin_sparql::Environment;

/// Returns the cached answer of a query or runs it.
///
/// # Errors
/// Returns an error if the query has no answer.
pub fn ask_cached(
    cache: &dyn Cache,
    snapshot: &str,
    environment: &Environment,
    query: &str,
    limits: &Limits,
) -> Result<Answer, Failed<FailureClass>> {
    get_or_run(cache, &Key { snapshot, language: "SPARQL", query }, || ask(environment, query, limits))
}
