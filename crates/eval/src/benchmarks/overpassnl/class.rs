//! Classifies the error texts of a server.

use crate::record::ErrorClass;

/// Returns the class of a server's text: the first of the published tests that matches. The tests search the whole
/// text, so the order of the tests decides among several errors, not the order of the errors.
///
/// `text` is not yet escaped for HTML; no test depends on the difference.
pub fn class_of(text: &str) -> Option<ErrorClass> {
    // All tests contain this text, and hardly any answer does.
    if !text.contains("error:") {
        return None;
    }
    TESTS.iter().find(|(parts, _)| parts.iter().all(|part| text.contains(part))).map(|(_, class)| *class)
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
    use crate::record::FailureKind as _;

    #[test]
    fn the_first_test_that_holds_decides() {
        let class = |text| class_of(text).map(ErrorClass::name);
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
}
