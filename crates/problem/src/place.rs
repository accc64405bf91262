//! The position of a problem in a text.

use std::ops::Range;

use super::QueryProblem;

/// A position in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// Returns the position of a problem in the text, if known.
pub fn place(problem: &QueryProblem, text: &str) -> Option<TextPosition> {
    problem.span?;
    let span = span_in(problem, text)?;
    let before = &text[..span.start];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    Some(TextPosition {
        start: span.start,
        end: span.end,
        line: before.matches('\n').count() + 1,
        column: text[line_start..span.start].chars().count() + 1,
    })
}

/// Returns the span of a problem, clamped to the text and to character boundaries. If only a line is known, returns the
/// span of that line.
pub(super) fn span_in(problem: &QueryProblem, text: &str) -> Option<Range<usize>> {
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
