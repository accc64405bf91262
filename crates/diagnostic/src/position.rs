//! Positions of diagnostics in a text.

use std::ops::Range;

use super::Diagnostic;

/// The number of characters before and after a position that an excerpt shows.
const AROUND: usize = 20;
/// The maximum number of characters of the position itself that an excerpt shows.
const INSIDE: usize = 40;

/// A position in a query text: bytes `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceSpan {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A position in a text with its line and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
pub struct TextPosition {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl TextPosition {
    /// Creates the position of the bytes from `start` to `end` of `text`.
    pub fn new(text: &str, start: usize, end: usize) -> Self {
        let start = start.min(text.len());
        let before = text.get(..start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        TextPosition {
            start,
            end: end.min(text.len()),
            line: before.bytes().filter(|b| *b == b'\n').count() + 1,
            column: before.get(line_start..).unwrap_or("").chars().count() + 1,
        }
    }
}

impl Diagnostic {
    /// Returns the position in the text, if known.
    pub fn position(&self, text: &str) -> Option<TextPosition> {
        self.span.map(|span| clamped(span, text)).map(|span| TextPosition::new(text, span.start, span.end))
    }

    /// Returns the span in the text. If only a line is known, returns the span of that line.
    #[cfg(feature = "text")]
    pub(super) fn span_in(&self, text: &str) -> Option<Range<usize>> {
        if let Some(span) = self.span {
            return Some(clamped(span, text));
        }
        let line = (self.line as usize).checked_sub(1)?;
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
}

/// Returns a span clamped to the text and to character boundaries.
fn clamped(span: SourceSpan, text: &str) -> Range<usize> {
    let is_border = |&at: &usize| text.is_char_boundary(at);
    let start = (0..=span.start.min(text.len())).rev().find(is_border).unwrap_or(0);
    let end = (span.end.min(text.len())..=text.len()).find(is_border).unwrap_or(text.len());
    start..end.max(start)
}

/// A diagnostic with its position in a text and an excerpt, for a reader who does not have the text. It serializes to
/// the JSON of feedback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedDiagnostic {
    /// The diagnostic.
    pub diagnostic: Diagnostic,
    /// The position, if known.
    pub position: Option<TextPosition>,
    /// An excerpt of the text with the position between `>>` and `<<`.
    pub near: Option<String>,
}

impl LocatedDiagnostic {
    /// Locates a diagnostic in its text.
    pub fn new(diagnostic: Diagnostic, text: &str) -> Self {
        let position = diagnostic.position(text);
        let near = position.map(|TextPosition { start, end, .. }| {
            let (before, inside, after) = (&text[..start], &text[start..end], &text[end..]);
            let from = before.char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
            let inside: String = inside.chars().take(INSIDE).collect();
            let after: String = after.chars().take(AROUND).collect();
            format!("{}>>{inside}<<{after}", &before[from..])
        });
        LocatedDiagnostic { diagnostic, position, near }
    }

    /// Returns the line, from 1, if known: that of the position, or the one in the message.
    pub fn line(&self) -> Option<usize> {
        let reported = Some(self.diagnostic.line as usize).filter(|line| *line > 0);
        self.position.map(|position| position.line).or(reported)
    }

    /// Returns the column in characters, from 1, if known.
    pub fn column(&self) -> Option<usize> {
        self.position.map(|position| position.column)
    }
}

/// Locates diagnostics without a position.
impl From<Diagnostic> for LocatedDiagnostic {
    fn from(diagnostic: Diagnostic) -> Self {
        LocatedDiagnostic { diagnostic, position: None, near: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiagnosticClass;

    fn located(text: &str, start: usize, end: usize) -> LocatedDiagnostic {
        let diagnostic = Diagnostic::new(DiagnosticClass::Parse, "x", "m").spanning(SourceSpan { start, end });
        LocatedDiagnostic::new(diagnostic, text)
    }

    #[test]
    fn columns_are_characters() {
        let place = TextPosition::new("a\näö x", 7, 8);
        assert_eq!((place.line, place.column), (2, 4));
    }

    #[test]
    fn an_excerpt_shows_the_text_around_a_position() {
        let text = "node[ä=b];\nway[x=(y];out;";
        let start = text.find('(').unwrap();
        let found = located(text, start, start + 1);
        assert_eq!((found.line(), found.column()), (Some(2), Some(7)));
        assert_eq!(found.near.as_deref(), Some("node[ä=b];\nway[x=>>(<<y];out;"));
        let long = "ä".repeat(100);
        let near = located(&long, 60, 160).near.unwrap();
        assert_eq!(near, format!("{0}>>{0}{0}<<{0}", "ä".repeat(20)));
        // Within a character, and after the end.
        assert_eq!(located(text, 6, 999).near.as_deref(), Some("node[>>ä=b];\nway[x=(y];out;<<"));
        assert_eq!(located("", 3, 9).near.as_deref(), Some(">><<"));
    }
}
