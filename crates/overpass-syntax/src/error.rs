//! Defines the errors of a query: the reference's four classes and texts. Adds the position, which the reference lacks.

use std::fmt;

use super::SourceSpan;
use super::code::OverpassCode;

/// The reference's classes of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OverpassErrorClass {
    /// `encoding error`: the received bytes are not a text.
    Encoding,
    /// `parse error`: the text is not in the language.
    Parse,
    /// `static error`: a value is not allowed in its statement.
    Static,
    /// `runtime error`: the query cannot be run or exceeded a limit.
    Runtime,
}

impl OverpassErrorClass {
    /// Returns `encoding error`, `parse error`, `static error` or `runtime error`.
    pub fn name(self) -> &'static str {
        match self {
            OverpassErrorClass::Encoding => "encoding error",
            OverpassErrorClass::Parse => "parse error",
            OverpassErrorClass::Static => "static error",
            OverpassErrorClass::Runtime => "runtime error",
        }
    }
}

/// One error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The error's class.
    pub class: OverpassErrorClass,
    /// The code, for programs.
    pub code: OverpassCode,
    /// The line in the reference's message, from 1; 0 if unknown.
    pub line: u32,
    /// The position in the text, if known.
    pub span: Option<SourceSpan>,
    /// The reference's text, without class and line.
    pub message: String,
    /// A suggested correction or action.
    pub help: Option<String>,
}

/// Prints the error like the reference: `line 1: parse error: ...`. Errors about the text as a whole and about a run
/// have no line.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(self.class, OverpassErrorClass::Parse | OverpassErrorClass::Static) {
            write!(f, "line {}: ", self.line)?;
        }
        write!(f, "{}: {}", self.class.name(), self.message)
    }
}

/// A query that was rejected or stopped: at least one error, in the reference's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverpassFailure {
    /// The errors.
    pub diagnostics: Vec<Diagnostic>,
}

impl From<Diagnostic> for OverpassFailure {
    fn from(diagnostic: Diagnostic) -> Self {
        OverpassFailure { diagnostics: vec![diagnostic] }
    }
}

impl OverpassFailure {
    /// Returns whether the cause is not the query: a damaged snapshot, unwritable temporary files or a failure of the
    /// program.
    pub fn is_fault(&self) -> bool {
        let faults = [OverpassCode::Damaged, OverpassCode::Temporary, OverpassCode::Internal];
        self.diagnostics.iter().any(|diagnostic| faults.contains(&diagnostic.code))
    }

    /// Returns the suggested action of the first error that has one.
    pub fn help(&self) -> Option<&str> {
        self.diagnostics.iter().find_map(|diagnostic| diagnostic.help.as_deref())
    }
}

impl fmt::Display for OverpassFailure {
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

impl std::error::Error for OverpassFailure {}
