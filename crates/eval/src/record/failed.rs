//! A query that has no result to compare: in every language a class and what was said.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use terrapin_base::stack::caught;

/// A class of failures. One language's classes are an enumeration, in the order in which they are listed.
pub trait Class: Copy + Ord + Serialize + DeserializeOwned {
    /// The class of a fault of the engine.
    const FAULT: Self;

    /// The name in files.
    fn name(self) -> &'static str;

    /// Whether the same query on the same data always falls into it, so that other runs may use it, too.
    fn lasts(self) -> bool;
}

/// A query that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "C: Class")]
pub struct Failed<C> {
    /// The class it falls into.
    pub class: C,
    /// What was wrong.
    pub text: String,
}

impl<C: Class> Failed<C> {
    /// A failure of a class.
    pub fn new(class: C, text: impl Into<String>) -> Failed<C> {
        Failed { class, text: text.into() }
    }

    /// What comes of one query, of which a panic is a failure: a fault of the engine in it must not lose the other
    /// lines' results.
    ///
    /// # Errors
    /// The query failed.
    pub fn guard<T>(run: impl FnOnce() -> Result<T, Failed<C>>) -> Result<T, Failed<C>> {
        caught(run).unwrap_or_else(|text| Err(Failed::new(C::FAULT, text)))
    }
}
