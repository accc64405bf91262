//! Conversion of errors to Python exceptions; the classes are defined in `terrapin_osm.errors`.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use terrapin_diagnostic::{Diagnostic, DiagnosticClass, for_people, query_json};
use terrapin_engine::Stop;
use terrapin_overpass::{OverpassCode, OverpassFailure};
use terrapin_snapshot::Error;

/// A rejected or aborted query: its problems, with positions in the query text that was run.
#[derive(Debug)]
pub struct RefusedQuery {
    problems: Vec<Diagnostic>,
    text: String,
}

impl RefusedQuery {
    /// Creates the error from a list of problems.
    pub fn new(problems: Vec<Diagnostic>, text: impl Into<String>) -> RefusedQuery {
        RefusedQuery { problems, text: text.into() }
    }

    /// Creates the error from an OverpassQL failure.
    pub fn of(failure: OverpassFailure, text: impl Into<String>) -> RefusedQuery {
        RefusedQuery::new(failure.erase(), text)
    }

    /// Creates the error from a limit reached while parsing, from damaged data, or from a panic.
    pub fn stopped(stopped: impl Into<Stop>, text: impl Into<String>) -> RefusedQuery {
        let (code, message) = match stopped.into() {
            Stop::Exceeded(exceeded) => (OverpassCode::from(exceeded), format!("{exceeded}, while it was read")),
            Stop::Damaged(damage) => (OverpassCode::Damaged, damage.to_string()),
            Stop::Panicked(panic) => (OverpassCode::Internal, format!("An internal error happened: {panic}")),
        };
        let help = (code == OverpassCode::Damaged)
            .then(|| "Run `terrapin verify` on the snapshot and load it again.".to_owned());
        let diagnostic = Diagnostic::new(DiagnosticClass::Runtime, code.name(), message);
        RefusedQuery::new(vec![Diagnostic { help, ..diagnostic }], text)
    }

    /// Creates the error for a string that is not valid Unicode.
    pub fn unreadable(why: &str, text: impl Into<String>) -> RefusedQuery {
        let (class, code) = (DiagnosticClass::Parse, OverpassCode::UnexpectedToken.name());
        RefusedQuery::new(vec![Diagnostic::new(class, code, why)], text)
    }

    /// Returns the exception object.
    ///
    /// # Errors
    /// Returns an error if the Python part of the package is missing or incomplete.
    pub fn exception<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let problems: Vec<_> = self.problems.iter().map(|problem| query_json(problem, &self.text)).collect();
        let problems = serde_json::json!(problems).to_string();
        let shown = for_people(&self.problems, &self.text, "query", false);
        class(py, "_query_error")?.call1((problems, &self.text, shown))
    }

    /// Returns the exception as an error to raise.
    pub fn raise(&self, py: Python<'_>) -> PyErr {
        self.exception(py).map_or_else(|error| error, PyErr::from_value)
    }
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("terrapin_osm.errors")?.getattr(name)
}

/// Returns a `SnapshotError` with a machine-readable code, for a snapshot or a source file.
pub fn snapshot(py: Python<'_>, code: &str, message: &str) -> PyErr {
    let raised = class(py, "SnapshotError").and_then(|class| class.call1((code, message)));
    raised.map_or_else(|error| error, PyErr::from_value)
}

/// Returns the `SnapshotError` of an unreadable or damaged snapshot file.
pub fn of_file(py: Python<'_>, error: &Error) -> PyErr {
    let code = match error {
        Error::Io { .. } => "snapshot-unreadable",
        Error::Foreign { .. } => "snapshot-foreign",
        Error::Version { .. } => "snapshot-version",
        _ => "snapshot-damaged",
    };
    snapshot(py, code, &error.to_string())
}

/// Returns a `RuntimeError` for errors without a class of their own.
pub fn other(message: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(message.to_string())
}
