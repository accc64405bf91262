//! Defines the errors of a query: the reference's four classes and texts. Adds the position, which the reference lacks.

use std::fmt;

use super::Span;
use super::code::Code;

/// The reference's classes of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// `encoding error`: the received bytes are not a text.
    Encoding,
    /// `parse error`: the text is not in the language.
    Parse,
    /// `static error`: a value is not allowed in its statement.
    Static,
    /// `runtime error`: the query cannot be run or exceeded a limit.
    Runtime,
}

impl Class {
    /// Returns `encoding error`, `parse error`, `static error` or `runtime error`.
    pub fn name(self) -> &'static str {
        match self {
            Class::Encoding => "encoding error",
            Class::Parse => "parse error",
            Class::Static => "static error",
            Class::Runtime => "runtime error",
        }
    }
}

/// One error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The error's class.
    pub class: Class,
    /// The code, for programs.
    pub code: Code,
    /// The line in the reference's message, from 1; 0 if unknown.
    pub line: u32,
    /// The position in the text, if known.
    pub span: Option<Span>,
    /// The reference's text, without class and line.
    pub message: String,
    /// A suggested correction or action.
    pub help: Option<String>,
}

/// Prints the error like the reference: `line 1: parse error: ...`. Errors about the text as a whole and about a run
/// have no line.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(self.class, Class::Parse | Class::Static) {
            write!(f, "line {}: ", self.line)?;
        }
        write!(f, "{}: {}", self.class.name(), self.message)
    }
}

/// A query that was rejected or stopped: at least one error, in the reference's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The errors.
    pub diagnostics: Vec<Diagnostic>,
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Failure { diagnostics: vec![diagnostic] }
    }
}

impl Failure {
    /// Returns whether the cause is not the query: a damaged snapshot, unwritable temporary files or a failure of the
    /// program.
    pub fn is_fault(&self) -> bool {
        let faults = [Code::Damaged, Code::Temporary, Code::Internal];
        self.diagnostics.iter().any(|diagnostic| faults.contains(&diagnostic.code))
    }

    /// Returns the suggested action of the first error that has one.
    pub fn help(&self) -> Option<&str> {
        self.diagnostics.iter().find_map(|diagnostic| diagnostic.help.as_deref())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.diagnostics.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{d}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}
