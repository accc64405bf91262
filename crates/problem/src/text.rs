//! Errors as people read them.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::place::span_in;
use super::{Class, Code, Problem, overpass};

/// A parser that recovers can find hundreds of errors in a broken text; people read the first.
const SHOWN: usize = 10;
/// Characters of a message or hint that people read; programs get all of it.
const READ: usize = 300;

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

/// Text that quotes somebody's input must not steer the reader's terminal, nor fill it.
fn printable(text: &str) -> String {
    let mut chars = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
    let mut out: String = chars.by_ref().take(READ).collect();
    if chars.next().is_some() {
        out.push_str(" ...");
    }
    out
}
