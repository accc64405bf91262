//! Renders errors: for people with the source line underlined, for programs as one JSON object.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use serde_json::json;
use terrapin_diagnostic::{for_people, query_json};

use super::error::{CommandError, Exit};
use crate::base::untrusted;

/// Writes an error to standard error. A closed standard error is ignored.
pub fn report(error: &CommandError, as_json: bool) {
    let styled = is_coloured();
    let text = match error {
        CommandError::ClosedPipe => return,
        _ if as_json => untrusted::json(&to_json(error).to_string()).into_owned(),
        CommandError::Query { text, origin, problems } => for_people(problems, text, origin, styled),
        CommandError::Other { message, .. } => format!("error: {}", untrusted::lines(message)),
    };
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Returns whether standard error shows colours: if it is a terminal and neither it nor its user forbids colours
/// (<https://no-color.org>).
pub fn is_coloured() -> bool {
    coloured(io::stderr().is_terminal(), std::env::var_os("NO_COLOR"), std::env::var_os("TERM"))
}

fn coloured(terminal: bool, no_color: Option<OsString>, term: Option<OsString>) -> bool {
    terminal && no_color.is_none_or(|value| value.is_empty()) && term.is_none_or(|term| term != "dumb")
}

/// Returns the JSON object that `--json` prints for an error.
pub fn to_json(error: &CommandError) -> serde_json::Value {
    match error {
        CommandError::Query { text, problems, .. } => json!({"error": {
            "code": "query",
            "exit": Exit::Refused as u8,
            "message": problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
            "diagnostics": problems.iter().map(|problem| query_json(problem, text)).collect::<Vec<_>>(),
        }}),
        CommandError::Other { exit, code, message } => {
            json!({"error": {"code": code, "exit": *exit as u8, "message": message}})
        }
        CommandError::ClosedPipe => serde_json::Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        let of = |terminal, no_color: Option<&str>, term: &str| {
            coloured(terminal, no_color.map(OsString::from), Some(OsString::from(term)))
        };
        assert!(of(true, None, "xterm") && of(true, Some(""), "xterm"));
        assert!(!of(false, None, "xterm") && !of(true, Some("1"), "xterm") && !of(true, None, "dumb"));
    }
}
