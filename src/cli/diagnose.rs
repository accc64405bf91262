//! Errors, rendered: for people with the source line underlined, for programs as one JSON object.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde_json::json;

use super::error::{Error, Exit};
use super::problem::{Code, Problem};
use crate::overpass::{self, Class};

/// A parser that recovers can find hundreds of errors in a broken text; people read the first.
const SHOWN: usize = 10;
/// Characters of a message or hint that people read; programs get all of it.
const READ: usize = 300;

/// Writes an error to standard error; a closed standard error is nobody's concern.
pub fn report(error: &Error, as_json: bool) {
    let styled = is_coloured();
    let text = match error {
        Error::ClosedPipe => return,
        _ if as_json => to_json(error).to_string(),
        Error::Query { text, origin, problems } => for_people(problems, text, origin, styled),
        Error::Other { message, .. } => format!("error: {message}"),
    };
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Whether standard error shows colours: a terminal does, unless it or its user says that it does not
/// (<https://no-color.org>).
pub fn is_coloured() -> bool {
    coloured(io::stderr().is_terminal(), std::env::var_os("NO_COLOR"), std::env::var_os("TERM"))
}

fn coloured(terminal: bool, no_color: Option<OsString>, term: Option<OsString>) -> bool {
    terminal && no_color.is_none_or(|value| value.is_empty()) && term.is_none_or(|term| term != "dumb")
}

/// A failure with each offending source line underlined.
pub fn for_people(problems: &[Problem], text: &str, origin: &str, styled: bool) -> String {
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    let shown: Vec<&Problem> = own(problems, text).take(SHOWN).collect();
    let mut out: Vec<String> = shown.iter().map(|problem| one(problem, text, origin, &renderer)).collect();
    match problems.len() - shown.len() {
        0 => {}
        1 => out.push("1 more error is probably a consequence (--json shows it)".to_owned()),
        more => out.push(format!("{more} more errors are probably consequences (--json shows them)")),
    }
    out.join("\n")
}

/// The errors that are not likely to be a consequence of the one before: after a parse error, those in a later line that
/// are no end of the text.
fn own<'a>(problems: &'a [Problem], text: &'a str) -> impl Iterator<Item = &'a Problem> {
    let end = Code::Overpass(overpass::Code::UnexpectedEnd);
    let mut line = None;
    problems.iter().filter(move |problem| {
        let start = span_in(problem, text).map_or(0, |span| span.start);
        let found = text.as_bytes()[..start].iter().filter(|&&b| b == b'\n').count();
        let follows = line.is_some_and(|line| found <= line || problem.code == end);
        if !follows && problem.class == Class::Parse {
            line = Some(found);
        }
        !follows
    })
}

fn one(problem: &Problem, text: &str, origin: &str, renderer: &Renderer) -> String {
    let title =
        Level::ERROR.with_name(problem.class.name()).primary_title(printable(&problem.message)).id(problem.code.name());
    let mut group = match span_in(problem, text) {
        Some(span) => title
            .element(Snippet::source(text).line_start(1).path(origin).annotation(AnnotationKind::Primary.span(span))),
        None => annotate_snippets::Group::with_title(title),
    };
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(printable(help)));
    }
    renderer.render(&[group])
}

/// The span of a problem, made to lie in the text and on the borders of its characters; where only a line is
/// known, that line.
fn span_in(problem: &Problem, text: &str) -> Option<Range<usize>> {
    if let Some(span) = problem.span {
        let is_border = |&at: &usize| text.is_char_boundary(at);
        let start = (0..=span.start.min(text.len())).rev().find(is_border).unwrap_or(0);
        let end = (span.end.min(text.len())..=text.len()).find(is_border).unwrap_or(text.len());
        return Some(start..end.max(start));
    }
    let line = (problem.line as usize).checked_sub(1)?;
    let mut start = 0;
    for (i, content) in text.split_inclusive('\n').enumerate() {
        if i == line {
            let content = content.trim_end();
            return Some(start..start + content.len());
        }
        start += content.len();
    }
    None
}

/// Text that quotes somebody's input must not steer the reader's terminal, nor fill it.
fn printable(text: &str) -> String {
    let mut chars = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
    let mut out: String = chars.by_ref().take(READ).collect();
    if chars.next().is_some() {
        out.push_str(" ...");
    }
    out
}

/// The object that `--json` gives for an error.
pub fn to_json(error: &Error) -> serde_json::Value {
    match error {
        Error::Query { text, problems, .. } => json!({"error": {
            "code": "query",
            "exit": Exit::Refused as u8,
            "message": problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
            "diagnostics": problems.iter().map(|problem| problem_json(problem, text)).collect::<Vec<_>>(),
        }}),
        Error::Other { exit, code, message } => {
            json!({"error": {"code": code, "exit": *exit as u8, "message": message}})
        }
        Error::ClosedPipe => serde_json::Value::Null,
    }
}

fn problem_json(problem: &Problem, text: &str) -> serde_json::Value {
    let mut object = json!({
        "class": problem.class.name(),
        "code": problem.code.name(),
        "message": problem.message,
    });
    if problem.line > 0 {
        object["line"] = problem.line.into();
    }
    if problem.span.is_some()
        && let Some(span) = span_in(problem, text)
    {
        let before = &text[..span.start];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        object["position"] = json!({
            "start": span.start,
            "end": span.end,
            "line": before.matches('\n').count() + 1,
            "column": text[line_start..span.start].chars().count() + 1,
        });
    }
    if let Some(help) = &problem.help {
        object["help"] = help.as_str().into();
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overpass::syntax::Span;

    fn problem(line: u32, span: Option<(usize, usize)>, message: &str) -> Problem {
        Problem {
            class: Class::Parse,
            code: Code::Overpass(overpass::Code::UnknownStatement),
            line,
            span: span.map(|(start, end)| Span { start, end }),
            message: message.into(),
            help: Some("did you mean `node`?".into()),
        }
    }

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        let of = |terminal, no_color: Option<&str>, term: &str| {
            coloured(terminal, no_color.map(OsString::from), Some(OsString::from(term)))
        };
        assert!(of(true, None, "xterm") && of(true, Some(""), "xterm"));
        assert!(!of(false, None, "xterm") && !of(true, Some("1"), "xterm") && !of(true, None, "dumb"));
    }

    #[test]
    fn the_source_is_underlined() {
        let text = "[out:json];\nnod(1);out;";
        let shown = for_people(&[problem(2, Some((12, 15)), "Unknown type \"nod\"")], text, "query", false);
        assert!(shown.contains("parse error[unknown-statement]: Unknown type \"nod\""), "{shown}");
        assert!(
            shown.contains("query:2:1") && shown.contains("^^^") && shown.contains("did you mean `node`?"),
            "{shown}"
        );
    }

    #[test]
    fn positions_outside_the_text_and_inside_characters_do_no_harm() {
        let text = "nöde(1);";
        for span in [(2, 3), (100, 200), (7, 3), (0, 0), (8, 8)] {
            let problems = vec![problem(1, Some(span), "bad \u{1b}[31m")];
            assert!(!for_people(&problems, text, "query", false).contains('\u{1b}'));
            to_json(&Error::Query { text: text.into(), origin: "query".into(), problems });
        }
        assert_eq!(span_in(&problem(7, None, ""), text), None);
        assert_eq!(span_in(&problem(1, None, ""), text), Some(0..9));
    }

    #[test]
    fn programs_get_line_and_column() {
        let text = "[out:json];\nö nod(1);out;";
        let problems = vec![problem(2, Some((15, 18)), "Unknown type \"nod\"")];
        let json = to_json(&Error::Query { text: text.into(), origin: "query".into(), problems });
        assert_eq!(json["error"]["diagnostics"][0]["position"]["column"], 3);
        assert_eq!(json["error"]["diagnostics"][0]["position"]["line"], 2);
    }
}
