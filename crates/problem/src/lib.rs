//! Problems of a query in either language: for people with the place underlined in the text, for programs as JSON. The
//! crate may read the texts of queries; it does not know any data, commands or HTTP.

mod json;
mod place;
mod text;

pub use json::to_json;
pub use place::{TextPosition, place};
pub use text::for_people;

use std::fmt;

use terrapin_overpass_syntax as overpass;
use terrapin_overpass_syntax::{Diagnostic, OverpassErrorClass, OverpassFailure, SourceSpan};
use terrapin_sparql_syntax as sparql;

/// The machine-readable code of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemCode {
    /// The code of a problem in OverpassQL.
    Overpass(overpass::OverpassCode),
    /// The code of a problem in SPARQL.
    Sparql(sparql::SparqlCode),
}

impl ProblemCode {
    /// Returns the name of the code.
    pub fn name(self) -> &'static str {
        match self {
            ProblemCode::Overpass(code) => code.name(),
            ProblemCode::Sparql(code) => code.name(),
        }
    }
}

/// A problem of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryProblem {
    /// The class; both languages use those of OverpassQL.
    pub class: OverpassErrorClass,
    /// The machine-readable code.
    pub code: ProblemCode,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// The span in the text, if known.
    pub span: Option<SourceSpan>,
    /// The message.
    pub message: String,
    /// Advice: the probable intention, or a remedy.
    pub help: Option<String>,
}

impl fmt::Display for QueryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(self.class, OverpassErrorClass::Parse | OverpassErrorClass::Static) {
            write!(f, "line {}: ", self.line)?;
        }
        write!(f, "{}: {}", self.class.name(), self.message)
    }
}

impl From<Diagnostic> for QueryProblem {
    fn from(diagnostic: Diagnostic) -> Self {
        let Diagnostic { class, code, line, span, message, help } = diagnostic;
        QueryProblem { class, code: ProblemCode::Overpass(code), line, span, message, help }
    }
}

impl From<sparql::SparqlError> for QueryProblem {
    fn from(error: sparql::SparqlError) -> Self {
        QueryProblem {
            class: match error.class {
                sparql::SparqlErrorClass::Syntax => OverpassErrorClass::Parse,
                sparql::SparqlErrorClass::Unsupported => OverpassErrorClass::Static,
                sparql::SparqlErrorClass::Limit | sparql::SparqlErrorClass::Internal => OverpassErrorClass::Runtime,
            },
            code: ProblemCode::Sparql(error.code),
            line: error.place.map_or(0, |place| u32::try_from(place.line).unwrap_or(u32::MAX)),
            span: error.place.map(|place| SourceSpan { start: place.start, end: place.end }),
            message: error.message,
            help: error.help,
        }
    }
}

/// Converts all diagnostics of a failure.
pub fn all(failure: OverpassFailure) -> Vec<QueryProblem> {
    failure.diagnostics.into_iter().map(QueryProblem::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(line: u32, span: Option<(usize, usize)>, message: &str) -> QueryProblem {
        QueryProblem {
            class: OverpassErrorClass::Parse,
            code: ProblemCode::Overpass(overpass::OverpassCode::UnknownStatement),
            line,
            span: span.map(|(start, end)| SourceSpan { start, end }),
            message: message.into(),
            help: Some("did you mean `node`?".into()),
        }
    }

    #[test]
    fn the_source_is_underlined() {
        let text = "[out:json];\nnod(1);out;";
        let shown = for_people(&[problem(2, Some((12, 15)), "Unknown type \"nod\"")], text, "query", false);
        assert!(shown.contains("parse error[unknown-statement]: Unknown type \"nod\""), "{shown}");
        assert!(
            shown.contains("query:2:1") && shown.contains("^^^") && shown.contains("did you mean `node`?"),
            "{shown}"
        );
    }

    #[test]
    fn positions_outside_the_text_and_inside_characters_do_no_harm() {
        let text = "nöde(1);";
        for span in [(2, 3), (100, 200), (7, 3), (0, 0), (8, 8)] {
            let problems = vec![problem(1, Some(span), "bad \u{1b}[31m")];
            assert!(!for_people(&problems, text, "query", false).contains('\u{1b}'));
            to_json(&problems[0], text);
        }
        assert_eq!(super::place::span_in(&problem(7, None, ""), text), None);
        assert_eq!(super::place::span_in(&problem(1, None, ""), text), Some(0..9));
    }

    #[test]
    fn programs_get_line_and_column() {
        let text = "[out:json];\nö nod(1);out;";
        let json = to_json(&problem(2, Some((15, 18)), "Unknown type \"nod\""), text);
        assert_eq!(json["position"]["column"], 3);
        assert_eq!(json["position"]["line"], 2);
    }
}
