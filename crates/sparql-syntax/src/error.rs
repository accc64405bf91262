//! Errors in SPARQL queries: a class, a stable code, a position in the text, and advice.

use std::fmt;

use terrapin_diagnostic::{Diagnostic, DiagnosticClass, DiagnosticCode};

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

/// The reason why a query was rejected or aborted.
pub type SparqlError = Diagnostic<SparqlCode>;

impl DiagnosticCode for SparqlCode {
    type Class = SparqlErrorClass;

    fn name(self) -> &'static str {
        SparqlCode::name(self)
    }

    fn shared(class: SparqlErrorClass) -> DiagnosticClass {
        match class {
            SparqlErrorClass::Syntax => DiagnosticClass::Parse,
            SparqlErrorClass::Unsupported => DiagnosticClass::Static,
            SparqlErrorClass::Limit | SparqlErrorClass::Internal => DiagnosticClass::Runtime,
        }
    }

    /// Writes `line 1, column 2: syntax error: ... (advice)`.
    fn write(error: &SparqlError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if error.span.is_some() {
            write!(f, "line {}, column {}: ", error.line, error.column)?;
        }
        write!(f, "{}: {}", error.class.name(), error.message)?;
        match &error.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}
