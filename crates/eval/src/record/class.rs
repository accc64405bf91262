//! The fourteen error classes of OverpassNL's evaluation.

use serde::{Deserialize, Serialize};

use super::failed::Class;

/// Why a query has no result to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// A name that leads nowhere.
    Nominatim,
    /// A text that is not in the language.
    ParseError,
    /// Kept by the published evaluation, but nothing falls into it.
    Timeout,
    /// `diff` or `adiff` with an output format that cannot show it.
    StaticErrorDiff,
    /// A text that is not a timestamp.
    StaticErrorTimestamp,
    /// An invalid regular expression.
    StaticErrorRe,
    /// The query ran out of its time.
    RuntimeErrorTimeout,
    /// The server did not answer in time; nothing falls into it where the engine is in the same process.
    ServerErrorTimeout,
    /// A `convert` that is not possible.
    StaticErrorConvert,
    /// An answer of more than 2,000,000,000 characters.
    MemoryError,
    /// A box out of range or not complete.
    StaticErrorBbox,
    /// A value that a statement does not take.
    StaticErrorAttributeValue,
    /// A `{{date:...}}` that cannot be read.
    RelativeDate,
    /// Everything else: what the published code cannot read as an answer.
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

    /// The number that stands for "no results" in the published output: -2 for `unknown_error`, else -1.
    pub fn count(self) -> i64 {
        if self == ErrorClass::UnknownError { -2 } else { -1 }
    }
}

impl Class for ErrorClass {
    const FAULT: Self = ErrorClass::UnknownError;

    /// The published name, such as `static_error_re`.
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

    /// Not where the time that it took decides, nor where nobody knows what did.
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
