//! What can go wrong with a SPARQL query of a benchmark, and what a server would have answered.

use serde::{Deserialize, Serialize};

use crate::record::FailureClass;
use terrapin_sparql::{Class, Code, Error};

/// A query that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The class it falls into.
    pub class: FailureClass,
    /// What was wrong.
    pub text: String,
}

impl Failed {
    /// A failure of a class.
    pub fn new(class: FailureClass, text: impl Into<String>) -> Failed {
        Failed { class, text: text.into() }
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        let class = match (error.class, error.code) {
            (Class::Syntax, _) => FailureClass::Syntax,
            (Class::Unsupported, _) => FailureClass::Unsupported,
            (Class::Limit, Code::Timeout | Code::Cancelled) => FailureClass::Timeout,
            (Class::Limit, _) => FailureClass::TooLarge,
            (Class::Internal, _) => FailureClass::Internal,
        };
        let place = error.place.map(|place| format!("line {}, column {}: ", place.line, place.column));
        Failed { class, text: place.unwrap_or_default() + &error.message }
    }
}
