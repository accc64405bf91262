//! Edits of a text.

/// A replacement of a range of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
pub struct TextEdit {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// The new text.
    pub text: String,
}

impl TextEdit {
    /// Returns `text` with the edit applied; `None` if the range is no range of characters of `text`.
    ///
    /// ```
    /// use terrapin_diagnostic::TextEdit;
    ///
    /// let edit = TextEdit { start: 0, end: 3, text: "node".to_owned() };
    /// assert_eq!(edit.apply("nod(1);").as_deref(), Some("node(1);"));
    /// ```
    pub fn apply(&self, text: &str) -> Option<String> {
        Some([text.get(..self.start)?, &self.text, text.get(self.end..).filter(|_| self.start <= self.end)?].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_outside_of_the_text_or_within_a_character_is_none() {
        let edit = |start, end| TextEdit { start, end, text: "x".to_owned() }.apply("aäb");
        assert_eq!(edit(1, 3).as_deref(), Some("axb"));
        assert_eq!(edit(4, 4).as_deref(), Some("aäbx"));
        for (start, end) in [(2, 3), (1, 2), (3, 1), (0, 9), (9, 9)] {
            assert_eq!(edit(start, end), None, "{start}..{end}");
        }
    }
}
