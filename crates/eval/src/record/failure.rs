//! The failures of a benchmark's SPARQL query.

use serde::{Deserialize, Serialize};

use super::failed::FailureKind;

/// The reason why a query has no result to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The system gave no query.
    NoQuery,
    /// A label of a labelled query was not found.
    Label,
    /// The text is not in the language.
    Syntax,
    /// The query needs an unsupported feature: a live endpoint, an unknown function.
    Unsupported,
    /// The query timed out.
    Timeout,
    /// The answer is too large.
    TooLarge,
    /// The data cannot be read, or a fault of the engine.
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

    /// Reports whether an endpoint answers 400, the only status that the published evaluation counts as invalid
    /// syntax. An unresolved label stays in the text, which is then not a query.
    pub fn is_bad_request(self) -> bool {
        matches!(self, FailureClass::NoQuery | FailureClass::Label | FailureClass::Syntax)
    }
}

impl FailureKind for FailureClass {
    const FAULT: Self = FailureClass::Internal;

    /// Returns the name in files, such as `too_large`.
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

    /// Failures that depend on time and memory, and faults, may not recur.
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
