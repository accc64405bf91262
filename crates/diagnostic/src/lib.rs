//! Diagnostics of a query: one type for the errors of both languages, and one for warnings. With the features `text`
//! and `json`, also their renderer for people and their JSON for programs. The crate does not know the languages, any
//! data, commands or HTTP.
//!
//! A parser uses [`Diagnostic`] with the codes of its language, and callers compare these codes. Code that displays
//! errors of both languages uses `Diagnostic` without a parameter, which [`Diagnostic::erase`] returns: its code is a
//! name, and its class is one of [`DiagnosticClass`].

mod edit;
mod position;
#[cfg(feature = "text")]
mod text;
#[cfg(feature = "json")]
mod views;
mod warning;

pub use edit::TextEdit;
pub use position::{LocatedDiagnostic, SourceSpan, TextPosition};
#[cfg(feature = "text")]
pub use text::for_people;
#[cfg(feature = "json")]
pub use views::{CheckProblem, query_json};
pub use warning::QueryWarning;

use std::fmt;

/// The code of errors about the end of the text. They are mostly consequences of an earlier error.
pub const UNEXPECTED_END: &str = "unexpected-end";

/// The classes of errors that both languages share. They are those of the Overpass API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DiagnosticClass {
    /// `encoding error`: the received bytes are not a text.
    Encoding,
    /// `parse error`: the text is not in the language.
    Parse,
    /// `static error`: a value is not allowed in its statement, or a feature is not supported.
    Static,
    /// `runtime error`: the query cannot be run or exceeded a limit.
    Runtime,
}

impl DiagnosticClass {
    /// Returns `encoding error`, `parse error`, `static error` or `runtime error`.
    pub fn name(self) -> &'static str {
        match self {
            DiagnosticClass::Encoding => "encoding error",
            DiagnosticClass::Parse => "parse error",
            DiagnosticClass::Static => "static error",
            DiagnosticClass::Runtime => "runtime error",
        }
    }
}

/// The codes of a language's errors, with the language's classes and the form of its error texts.
pub trait DiagnosticCode: Copy + Eq + fmt::Debug {
    /// The class of an error.
    type Class: Copy + Eq + fmt::Debug;

    /// Returns the name for programs.
    fn name(self) -> &'static str;

    /// Returns the shared class for a class of the language.
    fn shared(class: Self::Class) -> DiagnosticClass;

    /// Writes an error as text. By default like the Overpass API: `line 1: parse error: ...`. Errors about the text as
    /// a whole and about a run have no line.
    ///
    /// # Errors
    /// Returns the formatter's error.
    fn write(diagnostic: &Diagnostic<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = Self::shared(diagnostic.class);
        if matches!(class, DiagnosticClass::Parse | DiagnosticClass::Static) {
            write!(f, "line {}: ", diagnostic.line)?;
        }
        write!(f, "{}: {}", class.name(), diagnostic.message)
    }
}

/// The codes of both languages, by name.
impl DiagnosticCode for &'static str {
    type Class = DiagnosticClass;

    fn name(self) -> &'static str {
        self
    }

    fn shared(class: DiagnosticClass) -> DiagnosticClass {
        class
    }
}

/// An error of a query, with the codes and classes of one language or, by default, those that both share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic<C: DiagnosticCode = &'static str> {
    /// The class.
    pub class: C::Class,
    /// The code, for programs.
    pub code: C,
    /// The line in the message, from 1; 0 if unknown. For OverpassQL it is the line that the reference reports, which
    /// can be another one than that of the span.
    pub line: u32,
    /// The column in characters, from 1; 0 if unknown. Only SPARQL's messages have one.
    pub column: u32,
    /// The position in the text, if known.
    pub span: Option<SourceSpan>,
    /// The message, without class and line.
    pub message: String,
    /// Advice: the probable intention, or a remedy.
    pub help: Option<String>,
    /// The edit that the advice proposes, if it proposes a single one.
    pub edit: Option<Box<TextEdit>>,
}

impl<C: DiagnosticCode> Diagnostic<C> {
    /// Creates an error without a position.
    pub fn new(class: C::Class, code: C, message: impl Into<String>) -> Self {
        Diagnostic { class, code, line: 0, column: 0, span: None, message: message.into(), help: None, edit: None }
    }

    /// Sets line, column and span.
    #[must_use]
    pub fn at(self, position: TextPosition) -> Self {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let TextPosition { start, end, line, column } = position;
        Diagnostic { line: number(line), column: number(column), span: Some(SourceSpan { start, end }), ..self }
    }

    /// Sets the line.
    #[must_use]
    pub fn in_line(self, line: u32) -> Self {
        Diagnostic { line, ..self }
    }

    /// Sets the span.
    #[must_use]
    pub fn spanning(self, span: SourceSpan) -> Self {
        Diagnostic { span: Some(span), ..self }
    }

    /// Sets the advice.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Diagnostic { help: Some(help.into()), ..self }
    }

    /// Sets the edit that the advice proposes.
    #[must_use]
    pub fn edit(self, edit: TextEdit) -> Self {
        Diagnostic { edit: Some(Box::new(edit)), ..self }
    }

    /// Converts the code to its name and the class to the shared one.
    pub fn erase(self) -> Diagnostic {
        let Diagnostic { class, code, line, column, span, message, help, edit } = self;
        Diagnostic { class: C::shared(class), code: code.name(), line, column, span, message, help, edit }
    }
}

impl<C: DiagnosticCode> fmt::Display for Diagnostic<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        C::write(self, f)
    }
}

impl<C: DiagnosticCode> std::error::Error for Diagnostic<C> {}
