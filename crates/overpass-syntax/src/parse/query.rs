//! `node[...](...).set->.into`

use super::super::element::{Element, Node};
use super::Parser;
use crate::code::Code;

/// The words that start a query, with the type in the XML form.
pub(super) const TYPES: [(&str, &str); 10] = [
    ("node", "node"),
    ("way", "way"),
    ("rel", "relation"),
    ("relation", "relation"),
    ("nwr", "nwr"),
    ("nw", "nw"),
    ("nr", "nr"),
    ("wr", "wr"),
    ("area", "area"),
    ("derived", "derived"),
];

/// The words that start any other statement.
const STATEMENTS: [&str; 14] = [
    "out",
    "is_in",
    "map_to_area",
    "foreach",
    "for",
    "if",
    "complete",
    "retro",
    "compare",
    "timeline",
    "make",
    "convert",
    "local",
    "else",
];

impl Parser<'_> {
    /// A query up to its semicolon.
    pub(super) fn query(&mut self) -> Option<Node> {
        let (start, line) = (self.tokens.current().start, self.tokens.line());
        let word = self.tokens.current();
        let what = match TYPES.iter().find(|(known, _)| *known == word.text) {
            Some((_, what)) => (*what).to_owned(),
            None => {
                self.error(Code::UnknownStatement, format!("Unknown type \"{}\"", word.quoted()));
                let known = TYPES.iter().map(|(known, _)| *known).chain(STATEMENTS);
                let help = match word.text {
                    "-." => Some("put a space between \"-\" and \".\"".to_owned()),
                    ";" => Some("one of the semicolons here is too many".to_owned()),
                    text => super::super::suggest::nearest(text, known),
                };
                self.builder.diagnostics.help(help);
                word.value()
            }
        };
        self.tokens.advance();
        let mut filters = Vec::new();
        let mut any = false;
        while self.goes_on() {
            match self.tokens.text() {
                "[" => any |= self.tag(&mut filters),
                "(" => {
                    any = true;
                    self.clause(&what, &mut filters);
                }
                "." => {
                    let (start, line) = (self.tokens.current().start, self.tokens.line());
                    self.tokens.advance();
                    // Only right after the type any token does.
                    let from = if any { self.variable() } else { self.name() };
                    any = true;
                    let element = self.element("item", start, line).with("from", from);
                    filters.push(self.builder.open(element));
                }
                _ => break,
            }
        }
        let into = self.into();
        if !any && !self.bbox {
            self.error(Code::EmptyQuery, "An empty query is not allowed");
            self.expect(&[";"]);
            return None;
        }
        if self.builder.converting && filters.is_empty() {
            // All its filters were refused, and nothing is left of it.
            self.expect(&[";"]);
            return None;
        }
        let element = self.element("query", start, line).with("into", into).with("type", what);
        let mut query = self.builder.open(element);
        for filter in filters {
            self.builder.add(&mut query, filter);
        }
        self.expect(&[";"]);
        Some(query)
    }

    /// `[key]`, `[key=value]`, ...; whether it counts as a filter.
    fn tag(&mut self, filters: &mut Vec<Node>) -> bool {
        let start = self.tokens.current().start;
        self.tokens.advance();
        let mut line = self.tokens.line();
        if self.tokens.is("!") {
            self.tokens.advance();
            line = self.tokens.line();
            let key = self.text("Key");
            self.expect(&["]"]);
            let element = self.element("has-kv", start, line).with("k", key).with("modv", "not").with("regv", ".*");
            filters.push(self.builder.open(element));
            return true;
        }
        let key_pattern = self.tokens.is("~");
        if key_pattern {
            self.tokens.advance();
            line = self.tokens.line();
        }
        let key = self.text("Key");
        self.skip_to(&["!", "~", "=", "!=", "]"]);
        let mut negated = false;
        if self.tokens.is("!") {
            self.tokens.advance();
            negated = true;
            self.skip_to(&["~", "=", "]"]);
        }
        let (mut value, mut pattern, mut ignore_case) = (None, None, false);
        if self.tokens.is("]") {
            value = Some(String::new());
        } else if self.tokens.is("=") || self.tokens.is("!=") {
            negated |= self.tokens.is("!=");
            self.tokens.advance();
            line = self.tokens.line();
            let text = if self.tokens.is("]") { String::new() } else { self.text("Value") };
            if text.is_empty() {
                // The reference takes no notice of such a filter.
                self.expect(&["]"]);
                return false;
            }
            value = Some(text);
            self.skip_to(&["]"]);
        } else {
            self.tokens.advance();
            line = self.tokens.line();
            pattern = Some(self.text("Value"));
            self.skip_to(&[",", "]"]);
            if self.tokens.is(",") {
                self.tokens.advance();
                self.expect(&["i"]);
                ignore_case = true;
                self.skip_to(&["]"]);
            }
        }
        self.tokens.advance();
        if key_pattern && pattern.is_none() {
            let message =
                "A regular expression for a key can only be combined with a regular expression as value criterion";
            self.error(Code::KeyPatternAlone, message);
        }
        let mut element: Element = self.element("has-kv", start, line);
        if ignore_case {
            element = element.with("case", "ignore");
        }
        if !(key_pattern && pattern.is_some()) {
            element = element.with("k", key.clone());
        }
        element = element.with("modv", if negated { "not" } else { "" });
        if key_pattern && pattern.is_some() {
            element = element.with("regk", key);
        }
        filters.push(self.builder.open(element.with_some("regv", pattern).with_some("v", value)));
        true
    }
}
