//! A filter in round brackets, taken apart: `(word.set:arguments)`.

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
    /// What stands behind the colon, from comma to comma.
    pub arguments: Vec<Id>,
    /// The same as texts.
    pub values: Vec<String>,
    /// All that stands behind the colon.
    pub rest: Id,
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
}
