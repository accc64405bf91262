//! What can be wrong with a SPARQL query: a class, a stable code, the place in the text, and what to do about it.

use std::fmt;

pub use super::code::Code;

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Where a query went wrong, which also decides what a server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// The text is not in the language: a server answers 400.
    Syntax,
    /// The query is in the language, but needs what a snapshot cannot give: a live endpoint, an unknown function.
    Unsupported,
    /// A limit was reached: time, memory, work or rows.
    Limit,
    /// The data could not be read, or something that should not happen did.
    Internal,
}

impl Class {
    /// `syntax error`, `not supported`, `limit reached` or `internal error`.
    pub fn name(self) -> &'static str {
        match self {
            Class::Syntax => "syntax error",
            Class::Unsupported => "not supported",
            Class::Limit => "limit reached",
            Class::Internal => "internal error",
        }
    }
}

/// A place in a query's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Position {
    /// First byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Position {
    /// The place of the bytes from `start` to `end` of `text`.
    pub fn new(text: &str, start: usize, end: usize) -> Self {
        let start = start.min(text.len());
        let before = text.get(..start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Position {
            start,
            end: end.min(text.len()),
            line: before.bytes().filter(|b| *b == b'\n').count() + 1,
            column: before.get(line_start..).unwrap_or("").chars().count() + 1,
        }
    }
}

/// Why a query was refused or stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Its class.
    pub class: Class,
    /// What programs know it by.
    pub code: Code,
    /// Where in the text it is, where that is known.
    pub place: Option<Position>,
    /// What is wrong.
    pub message: String,
    /// What was probably meant, or what to do.
    pub help: Option<String>,
}

impl Error {
    /// An error without a place.
    pub fn new(class: Class, code: Code, message: impl Into<String>) -> Self {
        Error { class, code, place: None, message: message.into(), help: None }
    }

    /// The same with a place.
    #[must_use]
    pub fn at(mut self, place: Position) -> Self {
        self.place = Some(place);
        self
    }

    /// The same with advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Error {
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

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters() {
        let place = Position::new("a\näö x", 7, 8);
        assert_eq!((place.line, place.column), (2, 4));
    }
}
