//! Problems as text, for people.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use terrapin_base::untrusted;

use super::place::span_in;
use super::{OverpassErrorClass, ProblemCode, QueryProblem, overpass};

/// Maximum number of errors. A parser that recovers can find hundreds in a broken text.
const SHOWN: usize = 10;
/// Maximum length of a message or hint in characters; programs get all of it.
const READ: usize = 300;

/// Returns the errors of a text, with the offending places underlined.
pub fn for_people(problems: &[QueryProblem], text: &str, origin: &str, styled: bool) -> String {
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    let shown: Vec<&QueryProblem> = own(problems, text).take(SHOWN).collect();
    let mut out: Vec<String> = shown.iter().map(|problem| one(problem, text, origin, &renderer)).collect();
    match problems.len() - shown.len() {
        0 => {}
        1 => out.push("1 more error is probably a consequence (--json shows it)".to_owned()),
        more => out.push(format!("{more} more errors are probably consequences (--json shows them)")),
    }
    out.join("\n")
}

/// Returns the errors that are probably not consequences of the previous one. After a parse error these are the errors
/// in a later line, except those about the end of the text.
fn own<'a>(problems: &'a [QueryProblem], text: &'a str) -> impl Iterator<Item = &'a QueryProblem> {
    let end = ProblemCode::Overpass(overpass::OverpassCode::UnexpectedEnd);
    let mut line = None;
    problems.iter().filter(move |problem| {
        let start = span_in(problem, text).map_or(0, |span| span.start);
        let found = text.as_bytes()[..start].iter().filter(|&&b| b == b'\n').count();
        let follows = line.is_some_and(|line| found <= line || problem.code == end);
        if !follows && problem.class == OverpassErrorClass::Parse {
            line = Some(found);
        }
        !follows
    })
}

fn one(problem: &QueryProblem, text: &str, origin: &str, renderer: &Renderer) -> String {
    let title =
        Level::ERROR.with_name(problem.class.name()).primary_title(printable(&problem.message)).id(problem.code.name());
    let mut group = match span_in(problem, text) {
        Some(span) => title.element(
            Snippet::source(text)
                .line_start(1)
                .path(untrusted::line(origin))
                .annotation(AnnotationKind::Primary.span(span)),
        ),
        None => annotate_snippets::Group::with_title(title),
    };
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(printable(help)));
    }
    renderer.render(&[group])
}

/// Returns a message as one line for a terminal, without control characters and of bounded length; messages may quote
/// malicious input.
fn printable(text: &str) -> String {
    let line = untrusted::line(text);
    let mut chars = line.chars();
    let mut out: String = chars.by_ref().take(READ).collect();
    if chars.next().is_some() {
        out.push_str(" ...");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The attacks tested for `untrusted`: a forged line, a terminal title (OSC 0 of ECMA-48), a direction override
    /// (CVE-2021-42574).
    #[test]
    fn a_message_stays_one_line_and_steers_nothing() {
        assert_eq!(printable("a\r\nerror: b\u{1b}]0;x\u{7}\u{202e}c"), "a error: b ]0;x c");
        let long = printable(&"é".repeat(READ + 1));
        assert_eq!(long.chars().filter(|c| *c == 'é').count(), READ);
        assert!(long.ends_with(" ..."));
    }
}
