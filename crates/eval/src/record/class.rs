//! The fourteen error classes of OverpassNL's evaluation.

use serde::{Deserialize, Serialize};

use super::failed::FailureKind;

/// The reason why a query has no result to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// A place name was not found.
    Nominatim,
    /// The text is not in the language.
    ParseError,
    /// Kept from the published evaluation, but unused.
    Timeout,
    /// `diff` or `adiff` with an unsupported output format.
    StaticErrorDiff,
    /// An invalid timestamp.
    StaticErrorTimestamp,
    /// An invalid regular expression.
    StaticErrorRe,
    /// The query timed out.
    RuntimeErrorTimeout,
    /// The server did not answer in time; unused for an engine in the same process.
    ServerErrorTimeout,
    /// An impossible `convert`.
    StaticErrorConvert,
    /// An answer of more than 2,000,000,000 characters.
    MemoryError,
    /// A bounding box that is out of range or incomplete.
    StaticErrorBbox,
    /// A value that a statement rejects.
    StaticErrorAttributeValue,
    /// A `{{date:...}}` that cannot be parsed.
    RelativeDate,
    /// Everything else: texts that the published code cannot parse as an answer.
    UnknownError,
}

impl ErrorClass {
    /// All classes, in the published order.
    pub const ALL: [ErrorClass; 14] = [
        ErrorClass::Nominatim,
        ErrorClass::ParseError,
        ErrorClass::Timeout,
        ErrorClass::StaticErrorDiff,
        ErrorClass::StaticErrorTimestamp,
        ErrorClass::StaticErrorRe,
        ErrorClass::RuntimeErrorTimeout,
        ErrorClass::ServerErrorTimeout,
        ErrorClass::StaticErrorConvert,
        ErrorClass::MemoryError,
        ErrorClass::StaticErrorBbox,
        ErrorClass::StaticErrorAttributeValue,
        ErrorClass::RelativeDate,
        ErrorClass::UnknownError,
    ];

    /// Returns the number for "no results" in the published output: -2 for `unknown_error`, else -1.
    pub fn count(self) -> i64 {
        if self == ErrorClass::UnknownError { -2 } else { -1 }
    }
}

impl FailureKind for ErrorClass {
    const FAULT: Self = ErrorClass::UnknownError;

    /// Returns the published name, such as `static_error_re`.
    fn name(self) -> &'static str {
        match self {
            ErrorClass::Nominatim => "nominatim",
            ErrorClass::ParseError => "parse_error",
            ErrorClass::Timeout => "timeout",
            ErrorClass::StaticErrorDiff => "static_error_diff",
            ErrorClass::StaticErrorTimestamp => "static_error_timestamp",
            ErrorClass::StaticErrorRe => "static_error_re",
            ErrorClass::RuntimeErrorTimeout => "runtime_error_timeout",
            ErrorClass::ServerErrorTimeout => "server_error_timeout",
            ErrorClass::StaticErrorConvert => "static_error_convert",
            ErrorClass::MemoryError => "memory_error",
            ErrorClass::StaticErrorBbox => "static_error_bbox",
            ErrorClass::StaticErrorAttributeValue => "static_error_attribute_value",
            ErrorClass::RelativeDate => "relative_date",
            ErrorClass::UnknownError => "unknown_error",
        }
    }

    /// Errors that depend on time, or have an unknown cause, are not permanent.
    fn lasts(self) -> bool {
        use ErrorClass::{RuntimeErrorTimeout, ServerErrorTimeout, Timeout, UnknownError};
        !matches!(self, Timeout | RuntimeErrorTimeout | ServerErrorTimeout | UnknownError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_are_written() {
        for class in ErrorClass::ALL {
            assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{}\"", class.name()));
        }
    }
}
