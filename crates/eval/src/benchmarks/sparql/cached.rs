//! Answers that other runs have kept.

use super::answer::Answer;
use super::ask::ask;
use super::failure::Failed;
use crate::record::FailureClass;
use crate::runs::{Cache, Key, get_or_compute};
use terrapin_sparql::Environment;

/// What is kept of a query, or what running it gives.
///
/// # Errors
/// The query has no answer.
pub fn ask_cached(cache: &dyn Cache, snapshot: &str, environment: &Environment, query: &str) -> Result<Answer, Failed> {
    let key = Key { snapshot, language: "SPARQL", query };
    // Time and memory can be another run's luck.
    let cacheable = |answer: &Result<Answer, Failed>| match answer {
        Ok(_) => true,
        Err(failed) => !matches!(failed.class, FailureClass::Timeout | FailureClass::TooLarge | FailureClass::Internal),
    };
    get_or_compute(cache, &key, cacheable, || ask(environment, query))
}
