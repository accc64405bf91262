//! The JSON of diagnostics. Each interface has names and optional fields of its own, which clients rely on:
//!
//! | interface | class | absent values | advice | position |
//! |---|---|---|---|---|
//! | `terrapin query --json`, Python | yes | left out | `help` | `position`, and `line` as in the message |
//! | `terrapin feedback`, `/feedback`, `/score` | yes | `null` | `hint` | `line`, `column`, `near` |
//! | the tool `check_query` | no | left out | `hint` | `line`, `column`, `near` |

use serde::{Serialize, Serializer};

use super::{Diagnostic, LocatedDiagnostic, TextPosition};

/// Returns the JSON of `terrapin query --json` and of Python for a diagnostic of the query `text`.
pub fn query_json(diagnostic: &Diagnostic, text: &str) -> impl Serialize {
    #[derive(Serialize)]
    struct QueryProblem<'a> {
        class: &'static str,
        code: &'static str,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        position: Option<TextPosition>,
        #[serde(skip_serializing_if = "Option::is_none")]
        help: Option<&'a str>,
    }
    QueryProblem {
        class: diagnostic.class.name(),
        code: diagnostic.code,
        message: &diagnostic.message,
        line: Some(diagnostic.line).filter(|line| *line > 0),
        position: diagnostic.position(text),
        help: diagnostic.help.as_deref(),
    }
}

/// Serializes to the JSON of `terrapin feedback`, `/feedback` and `/score`.
impl Serialize for LocatedDiagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct FeedbackProblem<'a> {
            class: &'static str,
            code: &'static str,
            message: &'a str,
            line: Option<usize>,
            column: Option<usize>,
            near: Option<&'a str>,
            hint: Option<&'a str>,
        }
        let Diagnostic { class, code, message, help, .. } = &self.diagnostic;
        let (line, column, near) = (self.line(), self.column(), self.near.as_deref());
        FeedbackProblem { class: class.name(), code, message, line, column, near, hint: help.as_deref() }
            .serialize(serializer)
    }
}

// The JSON of the tool `check_query`. Documentation would become a part of the tool's schema.
#[allow(missing_docs)]
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckProblem {
    /// The error code for programs.
    code: String,
    message: String,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// The character in the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    /// The text at this position, marked by >> and <<.
    #[serde(skip_serializing_if = "Option::is_none")]
    near: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl From<LocatedDiagnostic> for CheckProblem {
    fn from(located: LocatedDiagnostic) -> Self {
        let (line, column) = (located.line(), located.column());
        let LocatedDiagnostic { diagnostic: Diagnostic { code, message, help, .. }, near, .. } = located;
        CheckProblem { code: code.to_owned(), message, line, column, near, hint: help }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DiagnosticClass, SourceSpan};

    fn json(value: &impl Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }

    /// The fields and their order, as `docs/` and clients have them.
    #[test]
    fn each_interface_has_its_fields() {
        let text = "[out:json];\nö nod(1);out;";
        let bare = Diagnostic::new(DiagnosticClass::Runtime, "work", "too much");
        let full = Diagnostic::new(DiagnosticClass::Parse, "unknown-statement", "Unknown type \"nod\"")
            .in_line(1)
            .spanning(SourceSpan { start: 15, end: 18 })
            .help("node");
        assert_eq!(
            json(&query_json(&full, text)),
            "{\"class\":\"parse error\",\"code\":\"unknown-statement\",\"message\":\"Unknown type \\\"nod\\\"\",\
             \"line\":1,\"position\":{\"start\":15,\"end\":18,\"line\":2,\"column\":3},\"help\":\"node\"}"
        );
        assert_eq!(
            json(&query_json(&bare, text)),
            "{\"class\":\"runtime error\",\"code\":\"work\",\"message\":\"too much\"}"
        );
        let (full, bare) = (LocatedDiagnostic::new(full, text), LocatedDiagnostic::new(bare, text));
        assert_eq!(
            json(&full),
            "{\"class\":\"parse error\",\"code\":\"unknown-statement\",\"message\":\"Unknown type \\\"nod\\\"\",\
             \"line\":2,\"column\":3,\"near\":\"[out:json];\\nö >>nod<<(1);out;\",\"hint\":\"node\"}"
        );
        assert_eq!(
            json(&bare),
            "{\"class\":\"runtime error\",\"code\":\"work\",\"message\":\"too much\",\
             \"line\":null,\"column\":null,\"near\":null,\"hint\":null}"
        );
        assert_eq!(
            json(&CheckProblem::from(full)),
            "{\"code\":\"unknown-statement\",\"message\":\"Unknown type \\\"nod\\\"\",\
             \"line\":2,\"column\":3,\"near\":\"[out:json];\\nö >>nod<<(1);out;\",\"hint\":\"node\"}"
        );
        assert_eq!(json(&CheckProblem::from(bare)), "{\"code\":\"work\",\"message\":\"too much\"}");
    }
}
