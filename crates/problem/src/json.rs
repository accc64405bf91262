//! Problems as JSON, for programs.

use serde_json::json;

use super::QueryProblem;
use super::place::{TextPosition, place};

/// Returns a problem of the query `text` as an object: `class`, `code`, `message`, and `line`, `position` and `help` if
/// known.
pub fn to_json(problem: &QueryProblem, text: &str) -> serde_json::Value {
    let mut object = json!({
        "class": problem.class.name(),
        "code": problem.code.name(),
        "message": problem.message,
    });
    if problem.line > 0 {
        object["line"] = problem.line.into();
    }
    if let Some(TextPosition { start, end, line, column }) = place(problem, text) {
        object["position"] = json!({ "start": start, "end": end, "line": line, "column": column });
    }
    if let Some(help) = &problem.help {
        object["help"] = help.as_str().into();
    }
    object
}
