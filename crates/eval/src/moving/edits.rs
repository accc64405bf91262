//! Replaces ranges of a text.

use std::ops::Range;

/// A replacement of a range of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryEdit {
    /// The range.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

/// Applies edits. Of overlapping edits only the first is applied.
pub(crate) fn apply(text: &str, mut edits: Vec<QueryEdit>) -> String {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let (mut result, mut end) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        let Some(before) = text.get(end..edit.range.start) else { continue };
        result.push_str(before);
        result.push_str(&edit.text);
        end = edit.range.end;
    }
    result.push_str(text.get(end..).unwrap_or_default());
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_applied_in_the_order_of_the_text() {
        let edit = |range, text: &str| QueryEdit { range, text: text.to_owned() };
        assert_eq!(apply("abcdef", vec![edit(4..5, "X"), edit(0..1, ""), edit(2..2, "--")]), "b--cdXf");
        assert_eq!(apply("abc", vec![edit(0..2, "X"), edit(1..3, "Y")]), "Xc");
        assert_eq!(apply("abc", Vec::new()), "abc");
    }
}
