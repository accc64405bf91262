//! The fourteen error classes of OverpassNL's evaluation, and which text of a server falls into which.

use serde::{Deserialize, Serialize};

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

    /// The published name, such as `static_error_re`.
    pub fn name(self) -> &'static str {
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

    /// The number that stands for "no results" in the published output: -2 for `unknown_error`, else -1.
    pub fn count(self) -> i64 {
        if self == ErrorClass::UnknownError { -2 } else { -1 }
    }

    /// Whether the same query on the same data always falls into it: not where the time that it took decides, nor where
    /// nobody knows what did.
    pub fn lasts(self) -> bool {
        use ErrorClass::{RuntimeErrorTimeout, ServerErrorTimeout, Timeout, UnknownError};
        !matches!(self, Timeout | RuntimeErrorTimeout | ServerErrorTimeout | UnknownError)
    }

    /// The class that a server's text falls into: the first of the published tests that holds. The tests look at the
    /// whole text, so that of several errors the class, not the order, decides.
    ///
    /// `text` is what the server says before it is escaped for HTML: no test depends on the difference.
    pub fn of_text(text: &str) -> Option<ErrorClass> {
        // In all tests, and in hardly any answer.
        if !text.contains("error:") {
            return None;
        }
        TESTS.iter().find(|(parts, _)| parts.iter().all(|part| text.contains(part))).map(|(_, class)| *class)
    }
}

/// The published tests in their order: the texts that must all occur, and the class.
const TESTS: [(&[&str], ErrorClass); 11] = [
    (&["parse error:"], ErrorClass::ParseError),
    (
        &["static error: The selected output format does not support the diff or adiff mode."],
        ErrorClass::StaticErrorDiff,
    ),
    (&["static error:", "timestamp"], ErrorClass::StaticErrorTimestamp),
    (&["static error:", "Invalid regular expression"], ErrorClass::StaticErrorRe),
    (&["static error:", "Unknown attribute \"regexp\""], ErrorClass::StaticErrorRe),
    (&["runtime error:", "Query timed out in"], ErrorClass::RuntimeErrorTimeout),
    (&["static error:", "A convert statement can have"], ErrorClass::StaticErrorConvert),
    (&["static error:", "in bounding boxes must be between"], ErrorClass::StaticErrorBbox),
    (&["static error:", "bbox-query"], ErrorClass::StaticErrorBbox),
    (&["static error:", "the only allowed values are non-empty strings"], ErrorClass::StaticErrorAttributeValue),
    (&["static error:", "For the attribute"], ErrorClass::StaticErrorAttributeValue),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_test_that_holds_decides() {
        let class = |text| ErrorClass::of_text(text).map(ErrorClass::name);
        assert_eq!(class("line 1: static error: x\nline 2: parse error: y"), Some("parse_error"));
        assert_eq!(class("line 1: static error: Invalid regular expression: \"(\""), Some("static_error_re"));
        assert_eq!(
            class("line 1: static error: Unknown attribute \"regexp\" in element \"id-query\"."),
            Some("static_error_re")
        );
        assert_eq!(class("line 1: static error: Unknown attribute \"ouy\" in element \"osm-script\"."), None);
        assert_eq!(
            class("line 1: static error: For the attribute \"s\" of the element \"bbox-query\" the only allowed ..."),
            Some("static_error_bbox")
        );
        assert_eq!(
            class("line 1: static error: For the attribute \"radius\" of the element \"around\" the only ..."),
            Some("static_error_attribute_value")
        );
        assert_eq!(
            class("runtime error: Query timed out in \"query\" at line 1 after 301 seconds."),
            Some("runtime_error_timeout")
        );
        assert_eq!(class("runtime error: Query run out of memory using about 2048 MB of RAM."), None);
    }

    #[test]
    fn names_are_those_that_are_written() {
        for class in ErrorClass::ALL {
            assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{}\"", class.name()));
        }
    }
}
