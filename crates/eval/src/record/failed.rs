//! A query without a result to compare: a class and a text, in every language.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use terrapin_base::stack::caught;

/// A class of failures. The classes of a language are an enumeration, in the order of lists.
pub trait Class: Copy + Ord + Serialize + DeserializeOwned {
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
#[serde(bound = "C: Class")]
pub struct Failed<C> {
    /// The class.
    pub class: C,
    /// The error text.
    pub text: String,
}

impl<C: Class> Failed<C> {
    /// Returns a failure of a class.
    pub fn new(class: C, text: impl Into<String>) -> Failed<C> {
        Failed { class, text: text.into() }
    }

    /// Runs one query and converts a panic to a failure, so that a fault of the engine does not lose the other
    /// results.
    ///
    /// # Errors
    /// Returns an error if the query failed.
    pub fn guard<T>(run: impl FnOnce() -> Result<T, Failed<C>>) -> Result<T, Failed<C>> {
        caught(run).unwrap_or_else(|text| Err(Failed::new(C::FAULT, text)))
    }
}
