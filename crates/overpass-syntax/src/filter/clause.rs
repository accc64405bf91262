//! A filter in round brackets, taken apart: `(word.set:arguments)`.

use crate::code::Code;
use crate::element::Element;
use crate::parse::{Id, Parser, Tree};

/// A filter taken apart.
pub(super) struct Clause<'t, 'a> {
    /// What is in the brackets.
    pub tree: &'t Tree<'a>,
    /// The type that its query asks for.
    pub what: &'t str,
    /// Its word.
    pub name: &'a str,
    /// The set behind the word.
    pub set: Option<String>,
    /// Whether there is a colon.
    pub colon: bool,
    /// All that stands behind the colon.
    pub rest: Id,
    /// The same from comma to comma; 0 where nothing stands between two. Without a colon, what follows the first comma,
    /// which the reference takes for some of its filters' arguments.
    pub items: Vec<Id>,
    /// The line that errors name.
    pub line: u32,
    /// Where its bracket stands.
    pub start: usize,
}

impl Clause<'_, '_> {
    /// An element for it.
    pub fn element(&self, parser: &Parser<'_>, name: &'static str) -> Element {
        Element::new(name, self.line, parser.span_from(self.start))
    }

    /// Adds a parse error about it.
    pub fn refuse(&self, parser: &mut Parser<'_>, code: Code, message: impl Into<String>) {
        let span = self.tree.span(self.tree.root);
        parser.builder.diagnostics.parse(code, self.line, span, message);
    }

    /// Its arguments as written: quotation marks make no number of a text.
    pub fn texts(&self) -> Vec<String> {
        // As in the reference, nothing behind the last comma takes all with it.
        let items = if self.items.last() == Some(&0) { &[][..] } else { &self.items };
        items.iter().filter(|&&id| id != 0).map(|&id| self.tree.text(id).to_owned()).collect()
    }

    /// Its arguments as values, from behind the last two commas with nothing between them on.
    pub fn values(&self, parser: &mut Parser<'_>) -> Vec<String> {
        let missing = self.items.iter().rposition(|&id| id == 0);
        let items = &self.items[missing.map_or(0, |at| at + 1)..];
        items.iter().map(|&id| parser.value(self.tree.at(id).token)).collect()
    }

    /// Its arguments as values, or nothing where one is missing: the reference then takes no notice of the filter.
    pub fn complete_values(&self, parser: &mut Parser<'_>) -> Option<Vec<String>> {
        if !self.colon {
            return Some(Vec::new());
        }
        let complete = !self.items.contains(&0) && self.rest != 0;
        complete.then(|| self.values(parser))
    }

    /// Its only argument as a value; without one, or with several, the reference takes no notice of the filter.
    pub fn only_value(&self, parser: &mut Parser<'_>) -> Option<String> {
        let values = self.complete_values(parser)?;
        if values.len() == 1 { values.into_iter().next() } else { None }
    }
}
