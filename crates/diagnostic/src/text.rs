//! Diagnostics as text, for people.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use terrapin_base::untrusted;

use super::{Diagnostic, DiagnosticClass, UNEXPECTED_END};

/// Maximum number of errors. A parser that recovers can find hundreds in a broken text.
const SHOWN: usize = 10;
/// Maximum length of a message or hint in characters; programs get all of it.
const READ: usize = 300;

/// Returns the errors of a text, with the offending places underlined.
pub fn for_people(diagnostics: &[Diagnostic], text: &str, origin: &str, styled: bool) -> String {
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    let shown: Vec<&Diagnostic> = own(diagnostics, text).take(SHOWN).collect();
    let mut out: Vec<String> = shown.iter().map(|diagnostic| one(diagnostic, text, origin, &renderer)).collect();
    match diagnostics.len() - shown.len() {
        0 => {}
        1 => out.push("1 more error is probably a consequence (--json shows it)".to_owned()),
        more => out.push(format!("{more} more errors are probably consequences (--json shows them)")),
    }
    out.join("\n")
}

/// Returns the errors that are probably not consequences of the previous one. After a parse error these are the errors
/// in a later line, except those about the end of the text.
fn own<'a>(diagnostics: &'a [Diagnostic], text: &'a str) -> impl Iterator<Item = &'a Diagnostic> {
    let mut line = None;
    diagnostics.iter().filter(move |diagnostic| {
        let start = diagnostic.span_in(text).map_or(0, |span| span.start);
        let found = text.as_bytes()[..start].iter().filter(|&&b| b == b'\n').count();
        let follows = line.is_some_and(|line| found <= line || diagnostic.code == UNEXPECTED_END);
        if !follows && diagnostic.class == DiagnosticClass::Parse {
            line = Some(found);
        }
        !follows
    })
}

fn one(diagnostic: &Diagnostic, text: &str, origin: &str, renderer: &Renderer) -> String {
    let Diagnostic { class, code, message, help, .. } = diagnostic;
    let title = Level::ERROR.with_name(class.name()).primary_title(printable(message)).id(*code);
    let mut group = match diagnostic.span_in(text) {
        Some(span) => title.element(
            Snippet::source(text)
                .line_start(1)
                .path(untrusted::line(origin))
                .annotation(AnnotationKind::Primary.span(span)),
        ),
        None => annotate_snippets::Group::with_title(title),
    };
    if let Some(help) = help {
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
    use crate::SourceSpan;

    fn diagnostic(line: u32, span: Option<(usize, usize)>, message: &str) -> Diagnostic {
        let diagnostic = Diagnostic::new(DiagnosticClass::Parse, "unknown-statement", message).in_line(line);
        let span = span.map(|(start, end)| SourceSpan { start, end });
        Diagnostic { span, ..diagnostic.help("did you mean `node`?") }
    }

    #[test]
    fn the_source_is_underlined() {
        let text = "[out:json];\nnod(1);out;";
        let shown = for_people(&[diagnostic(2, Some((12, 15)), "Unknown type \"nod\"")], text, "query", false);
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
            let diagnostics = [diagnostic(1, Some(span), "bad \u{1b}[31m")];
            assert!(!for_people(&diagnostics, text, "query", false).contains('\u{1b}'));
            crate::LocatedDiagnostic::new(diagnostics[0].clone(), text);
        }
        assert_eq!(diagnostic(7, None, "").span_in(text), None);
        assert_eq!(diagnostic(1, None, "").span_in(text), Some(0..9));
    }

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
