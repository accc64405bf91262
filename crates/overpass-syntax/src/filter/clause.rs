//! Splits a filter in round brackets into its parts: `(word.set:arguments)`.

use crate::code::OverpassCode;
use crate::element::SyntaxElement;
use crate::parse::{Id, QlParser, TokenTree};
use crate::tree::SourceSpan;

/// The parts of a filter in round brackets.
pub(super) struct Clause<'t, 'a> {
    /// The expression inside the brackets.
    pub tree: &'t TokenTree<'a>,
    /// The element type of the query.
    pub what: &'t str,
    /// The filter's word.
    pub name: &'a str,
    /// The set after the word.
    pub set: Option<String>,
    /// Whether there is a colon.
    pub colon: bool,
    /// The whole expression after the colon.
    pub rest: Id,
    /// The arguments after the colon, split at commas; 0 for an empty one. Without a colon, the text after the first
    /// comma: for some filters, the reference takes it for arguments.
    pub items: Vec<Id>,
    /// The line for errors.
    pub line: u32,
    /// The range from the opening bracket to the end of the closing one.
    pub span: SourceSpan,
}

impl Clause<'_, '_> {
    /// Creates an element for the filter.
    pub fn element(&self, name: &'static str) -> SyntaxElement {
        SyntaxElement::new(name, self.line, self.span)
    }

    /// Adds a parse error about the filter.
    pub fn refuse(&self, parser: &mut QlParser<'_>, code: OverpassCode, message: impl Into<String>) {
        let span = self.tree.span(self.tree.root);
        parser.builder.diagnostics.parse(code, self.line, span, message);
    }

    /// Returns the arguments as written. Quotation marks are kept, so that a quoted number is no number.
    pub fn texts(&self) -> Vec<String> {
        // As in the reference, an empty last argument removes all arguments.
        let items = if self.items.last() == Some(&0) { &[][..] } else { &self.items };
        items.iter().filter(|&&id| id != 0).map(|&id| self.tree.text(id).to_owned()).collect()
    }

    /// Returns the values of the arguments after the last empty one.
    pub fn values(&self, parser: &mut QlParser<'_>) -> Vec<String> {
        let missing = self.items.iter().rposition(|&id| id == 0);
        let items = &self.items[missing.map_or(0, |at| at + 1)..];
        items.iter().map(|&id| parser.value(self.tree.at(id).token)).collect()
    }

    /// Returns the values of the arguments, or `None` if one is empty: the reference then ignores the filter.
    pub fn complete_values(&self, parser: &mut QlParser<'_>) -> Option<Vec<String>> {
        if !self.colon {
            return Some(Vec::new());
        }
        let complete = !self.items.contains(&0) && self.rest != 0;
        complete.then(|| self.values(parser))
    }

    /// Returns the value of the only argument. Without exactly one, returns `None`: the reference then ignores the
    /// filter.
    pub fn only_value(&self, parser: &mut QlParser<'_>) -> Option<String> {
        let values = self.complete_values(parser)?;
        if values.len() == 1 { values.into_iter().next() } else { None }
    }
}
