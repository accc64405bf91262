//! What is wrong with a query of either language, as the commands tell it.

use std::fmt;

use crate::overpass::syntax::Span;
use crate::overpass::{self, Class, Diagnostic, Failure};
use crate::sparql;

/// What programs know a problem by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// Of a query in OverpassQL.
    Overpass(overpass::Code),
    /// Of a query in SPARQL.
    Sparql(sparql::Code),
}

impl Code {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Code::Overpass(code) => code.name(),
            Code::Sparql(code) => code.name(),
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its class, for both languages in the words of one.
    pub class: Class,
    /// What programs know it by.
    pub code: Code,
    /// The line, from 1; 0 where none is known.
    pub line: u32,
    /// Where in the text it is, where that is known.
    pub span: Option<Span>,
    /// What is wrong.
    pub message: String,
    /// What was probably meant, or what to do.
    pub help: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.class != Class::Runtime {
            write!(f, "line {}: ", self.line)?;
        }
        write!(f, "{}: {}", self.class.name(), self.message)
    }
}

impl From<Diagnostic> for Problem {
    fn from(diagnostic: Diagnostic) -> Self {
        let Diagnostic { class, code, line, span, message, help } = diagnostic;
        Problem { class, code: Code::Overpass(code), line, span, message, help }
    }
}

impl From<sparql::Error> for Problem {
    fn from(error: sparql::Error) -> Self {
        Problem {
            class: match error.class {
                sparql::Class::Syntax => Class::Parse,
                sparql::Class::Unsupported => Class::Static,
                sparql::Class::Limit | sparql::Class::Internal => Class::Runtime,
            },
            code: Code::Sparql(error.code),
            line: error.place.map_or(0, |place| u32::try_from(place.line).unwrap_or(u32::MAX)),
            span: error.place.map(|place| Span { start: place.start, end: place.end }),
            message: error.message,
            help: error.help,
        }
    }
}

/// All of a failure.
pub fn all(failure: Failure) -> Vec<Problem> {
    failure.diagnostics.into_iter().map(Problem::from).collect()
}
