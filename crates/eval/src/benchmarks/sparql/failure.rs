//! Classifies the engine's errors of a benchmark's SPARQL queries.

use crate::record::{Failed, FailureClass};
use terrapin_sparql::{Class, Code, Error};

impl From<Error> for Failed<FailureClass> {
    fn from(error: Error) -> Self {
        let class = match (error.class, error.code) {
            (Class::Syntax, _) => FailureClass::Syntax,
            (Class::Unsupported, _) => FailureClass::Unsupported,
            (Class::Limit, Code::Timeout | Code::Cancelled) => FailureClass::Timeout,
            (Class::Limit, _) => FailureClass::TooLarge,
            (Class::Internal, _) => FailureClass::Internal,
        };
        let place = error.place.map(|place| format!("line {}, column {}: ", place.line, place.column));
        Failed::new(class, place.unwrap_or_default() + &error.message)
    }
}
