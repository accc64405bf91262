//! Conversion of errors to Python exceptions; the classes are defined in `terrapin_osm.errors`.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use terrapin_engine::Stop;
use terrapin_overpass::{Diagnostic, OverpassCode, OverpassErrorClass, OverpassFailure};
use terrapin_problem::{QueryProblem, for_people, to_json};
use terrapin_snapshot::Error;

/// A rejected or aborted query: its problems, with positions in the query text that was run.
#[derive(Debug)]
pub struct RefusedQuery {
    problems: Vec<QueryProblem>,
    text: String,
}

impl RefusedQuery {
    /// Creates the error from a list of problems.
    pub fn new(problems: Vec<QueryProblem>, text: impl Into<String>) -> RefusedQuery {
        RefusedQuery { problems, text: text.into() }
    }

    /// Creates the error from an OverpassQL failure.
    pub fn of(failure: OverpassFailure, text: impl Into<String>) -> RefusedQuery {
        RefusedQuery::new(terrapin_problem::all(failure), text)
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
        let diagnostic = Diagnostic { class: OverpassErrorClass::Runtime, code, line: 0, span: None, message, help };
        RefusedQuery::new(vec![diagnostic.into()], text)
    }

    /// Creates the error for a string that is not valid Unicode.
    pub fn unreadable(why: &str, text: impl Into<String>) -> RefusedQuery {
        let (class, code, message) = (OverpassErrorClass::Parse, OverpassCode::UnexpectedToken, why.to_owned());
        RefusedQuery::new(vec![Diagnostic { class, code, line: 0, span: None, message, help: None }.into()], text)
    }

    /// Returns the exception object.
    ///
    /// # Errors
    /// Returns an error if the Python part of the package is missing or incomplete.
    pub fn exception<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let problems: Vec<_> = self.problems.iter().map(|problem| to_json(problem, &self.text)).collect();
        let problems = serde_json::Value::from(problems).to_string();
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
