//! What can go wrong with a SPARQL query of a benchmark.

use serde::{Deserialize, Serialize};

use super::failed::Class;

/// Why a query has no result to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The system gave no query.
    NoQuery,
    /// A label in the labelled form that leads nowhere.
    Label,
    /// A text that is not in the language.
    Syntax,
    /// A query that needs what a snapshot does not have: a live endpoint, an unknown function.
    Unsupported,
    /// The query ran out of its time.
    Timeout,
    /// The answer became too large.
    TooLarge,
    /// The data could not be read, or a fault of the engine.
    Internal,
}

impl FailureClass {
    /// All classes.
    pub const ALL: [FailureClass; 7] = [
        FailureClass::NoQuery,
        FailureClass::Label,
        FailureClass::Syntax,
        FailureClass::Unsupported,
        FailureClass::Timeout,
        FailureClass::TooLarge,
        FailureClass::Internal,
    ];

    /// Whether an endpoint answers 400, the one status that the published evaluation takes for invalid syntax. A label
    /// stays in the text, which is then no query.
    pub fn is_bad_request(self) -> bool {
        matches!(self, FailureClass::NoQuery | FailureClass::Label | FailureClass::Syntax)
    }
}

impl Class for FailureClass {
    const FAULT: Self = FailureClass::Internal;

    /// The name in files, such as `too_large`.
    fn name(self) -> &'static str {
        match self {
            FailureClass::NoQuery => "no_query",
            FailureClass::Label => "label",
            FailureClass::Syntax => "syntax",
            FailureClass::Unsupported => "unsupported",
            FailureClass::Timeout => "timeout",
            FailureClass::TooLarge => "too_large",
            FailureClass::Internal => "internal",
        }
    }

    /// Not where time and memory decide, which can be another run's luck, nor after a fault.
    fn lasts(self) -> bool {
        !matches!(self, FailureClass::Timeout | FailureClass::TooLarge | FailureClass::Internal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_are_written() {
        for class in FailureClass::ALL {
            assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{}\"", class.name()));
        }
    }
}
