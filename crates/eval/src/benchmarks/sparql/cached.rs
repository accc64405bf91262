//! Uses the answers cached by other runs.

use super::answer::SparqlAnswer;
use super::ask::ask;
use crate::cache::{CacheKey, ResultCache, get_or_run};
use crate::record::{FailedQuery, FailureClass};
use terrapin_budget::Limits;
use terrapin_sparql::{Dialect, Environment};

/// Returns the cached answer of a query or runs it.
///
/// # Errors
/// Returns an error if the query has no answer.
pub fn ask_cached(
    cache: &dyn ResultCache,
    snapshot: &str,
    environment: &Environment,
    query: &str,
    dialect: Dialect,
    limits: &Limits,
) -> Result<SparqlAnswer, FailedQuery<FailureClass>> {
    let language = match dialect {
        Dialect::Auto => "SPARQL",
        Dialect::Wdqs => "SPARQL wdqs",
        Dialect::Qlever => "SPARQL qlever",
        Dialect::Standard => "SPARQL standard",
    };
    get_or_run(cache, &CacheKey { snapshot, language, query }, || ask(environment, query, dialect, limits))
}
