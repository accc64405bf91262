//! A query without a result to compare: a class and a text, in every language.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use terrapin_base::stack::caught;

/// A class of failures. The classes of a language are an enumeration, in the order of lists.
pub trait FailureKind: Copy + Ord + Serialize + DeserializeOwned {
    /// The class for a fault of the engine.
    const FAULT: Self;

    /// Returns the name in files.
    fn name(self) -> &'static str;

    /// Reports whether the same query on the same data always fails like this, so that other runs may reuse the
    /// failure.
    fn lasts(self) -> bool;
}

/// A query that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "C: FailureKind")]
pub struct FailedQuery<C> {
    /// The class.
    pub class: C,
    /// The error text.
    pub text: String,
}

impl<C: FailureKind> FailedQuery<C> {
    /// Returns a failure of a class.
    pub fn new(class: C, text: impl Into<String>) -> FailedQuery<C> {
        FailedQuery { class, text: text.into() }
    }

    /// Runs one query and converts a panic to a failure, so that a fault of the engine does not lose the other
    /// results.
    ///
    /// # Errors
    /// Returns an error if the query failed.
    pub fn guard<T>(run: impl FnOnce() -> Result<T, FailedQuery<C>>) -> Result<T, FailedQuery<C>> {
        caught(run).unwrap_or_else(|text| Err(FailedQuery::new(C::FAULT, text)))
    }
}
