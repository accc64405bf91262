//! Errors in SPARQL queries: a class, a stable code, a position in the text, and advice.

use std::fmt;

pub use super::code::SparqlCode;

pub(crate) type Result<T> = std::result::Result<T, SparqlError>;

/// The class of an error, which also determines the status code of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SparqlErrorClass {
    /// The text is not in the language; a server returns 400.
    Syntax,
    /// The query is valid but needs something that a snapshot does not have, such as a live endpoint or an unknown
    /// function.
    Unsupported,
    /// A limit was reached: time, memory, work or rows.
    Limit,
    /// The data cannot be read, or an internal error.
    Internal,
}

impl SparqlErrorClass {
    /// Returns `syntax error`, `not supported`, `limit reached` or `internal error`.
    pub fn name(self) -> &'static str {
        match self {
            SparqlErrorClass::Syntax => "syntax error",
            SparqlErrorClass::Unsupported => "not supported",
            SparqlErrorClass::Limit => "limit reached",
            SparqlErrorClass::Internal => "internal error",
        }
    }
}

/// A position in a query's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QueryPosition {
    /// First byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl QueryPosition {
    /// Creates the position of the bytes from `start` to `end` of `text`.
    pub fn new(text: &str, start: usize, end: usize) -> Self {
        let start = start.min(text.len());
        let before = text.get(..start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        QueryPosition {
            start,
            end: end.min(text.len()),
            line: before.bytes().filter(|b| *b == b'\n').count() + 1,
            column: before.get(line_start..).unwrap_or("").chars().count() + 1,
        }
    }
}

/// The reason why a query was rejected or aborted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparqlError {
    /// The class.
    pub class: SparqlErrorClass,
    /// The machine-readable code.
    pub code: SparqlCode,
    /// The position in the text, if known.
    pub place: Option<QueryPosition>,
    /// The message.
    pub message: String,
    /// Advice: the probable intention, or a remedy.
    pub help: Option<String>,
}

impl SparqlError {
    /// Creates an error without a position.
    pub fn new(class: SparqlErrorClass, code: SparqlCode, message: impl Into<String>) -> Self {
        SparqlError { class, code, place: None, message: message.into(), help: None }
    }

    /// Sets the position.
    #[must_use]
    pub fn at(mut self, place: QueryPosition) -> Self {
        self.place = Some(place);
        self
    }

    /// Sets the advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for SparqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place {
            write!(f, "line {}, column {}: ", place.line, place.column)?;
        }
        write!(f, "{}: {}", self.class.name(), self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SparqlError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters() {
        let place = QueryPosition::new("a\näö x", 7, 8);
        assert_eq!((place.line, place.column), (2, 4));
    }
}
