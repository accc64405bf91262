//! Answers that other runs have cached.

use super::answer::Answer;
use super::ask::ask;
use crate::cache::{Cache, Key, get_or_run};
use crate::record::{Failed, FailureClass};
use terrapin_budget::Limits;
use terrapin_sparql::Environment;

/// What is cached of a query, or what running it gives.
///
/// # Errors
/// The query has no answer.
pub fn ask_cached(
    cache: &dyn Cache,
    snapshot: &str,
    environment: &Environment,
    query: &str,
    limits: &Limits,
) -> Result<Answer, Failed<FailureClass>> {
    get_or_run(cache, &Key { snapshot, language: "SPARQL", query }, || ask(environment, query, limits))
}
