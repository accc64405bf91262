//! The error taxonomy of Instruct-to-SPARQL (CHIIR 2025, table 1) as a second set of class names for failed queries.

use terrapin_sparql::Dialect;
use terrapin_sparql::syntax::{self, SparqlCode};

use super::failure::FailureClass;
use super::strict::StrictResults;

/// The classes of the table that a local engine can have. The others do not occur: a failed resolution of coordinates
/// (`GeoSpatial error`) and an access to a missing resource (`NullPointer`) are faults of the public endpoint.
pub const UNDEFINED_PREFIX: &str = "undefined prefix";
/// A text that is not SPARQL.
pub const PARSE: &str = "parse exception";
/// Illegal characters.
pub const LEXICAL: &str = "lexical exception";
/// An invalid use of variables in SELECT.
pub const NON_AGGREGATE: &str = "non-aggregate error";
/// Excessive depth.
pub const STACK_OVERFLOW: &str = "stack overflow";
/// The time limit.
pub const TIMEOUT: &str = "timeout";
/// The memory limit.
pub const OUT_OF_MEMORY: &str = "out of memory";
/// Failures that the table does not have: unsupported functions and services, faults of the engine.
pub const OTHER: &str = "other";

/// Returns the class of an error of the parser.
pub fn class_of_code(code: SparqlCode) -> &'static str {
    match code {
        SparqlCode::UnknownPrefix => UNDEFINED_PREFIX,
        SparqlCode::BadToken | SparqlCode::BadEscape | SparqlCode::BadIri | SparqlCode::LanguageTag => LEXICAL,
        SparqlCode::Aggregate => NON_AGGREGATE,
        SparqlCode::TooDeep => STACK_OVERFLOW,
        _ => PARSE,
    }
}

/// Returns the class of a failed prediction, with the query as run; `None` if it has an answer.
pub fn published_error(strict: &StrictResults, query: &str) -> Option<&'static str> {
    Some(match strict.error? {
        FailureClass::Timeout => TIMEOUT,
        FailureClass::TooLarge => OUT_OF_MEMORY,
        FailureClass::Unsupported | FailureClass::Internal => OTHER,
        // An endpoint gets the text as it is.
        FailureClass::NoQuery | FailureClass::Label | FailureClass::Syntax => {
            syntax::parse(query, Dialect::Auto).map_or_else(|error| class_of_code(error.code), |_| PARSE)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_the_table_have_its_classes() {
        let of = |error, query| published_error(&StrictResults { error: Some(error), ..Default::default() }, query);
        let syntax = |query| of(FailureClass::Syntax, query).unwrap();
        assert_eq!(syntax("SELECT ?x { ?x nope:P31 ?y }"), UNDEFINED_PREFIX);
        assert_eq!(syntax("SELECT ?x { ?x wdt:P31 \"\\q\" }"), LEXICAL);
        assert_eq!(syntax("SELECT ?x { ?x wdt:P31"), PARSE);
        assert_eq!(of(FailureClass::NoQuery, "").unwrap(), PARSE);
        assert_eq!(of(FailureClass::Timeout, "").unwrap(), TIMEOUT);
        assert_eq!(of(FailureClass::TooLarge, "").unwrap(), OUT_OF_MEMORY);
        assert_eq!(published_error(&StrictResults::default(), ""), None);
    }
}
