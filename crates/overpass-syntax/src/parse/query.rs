//! `node[...](...).set->.into`

use super::super::element::Node;
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
        negated |= self.tokens.is("!=");
        let Some(wanted) = self.wanted_value(&mut line) else {
            // The reference takes no notice of such a filter.
            self.expect(&["]"]);
            return false;
        };
        self.tokens.advance();
        let has_pattern = matches!(wanted, Wanted::Pattern { .. });
        if key_pattern && !has_pattern {
            let message =
                "A regular expression for a key can only be combined with a regular expression as value criterion";
            self.error(Code::KeyPatternAlone, message);
        }
        let (key, key_pattern) = if key_pattern && has_pattern { (None, Some(key)) } else { (Some(key), None) };
        let (value, pattern, ignore_case) = match wanted {
            Wanted::Value(value) => (Some(value), None, false),
            Wanted::Pattern { text, ignore_case } => (None, Some(text), ignore_case),
        };
        let element = self.element("has-kv", start, line).with_some("case", ignore_case.then_some("ignore"));
        let element = element.with_some("k", key).with("modv", if negated { "not" } else { "" });
        let element = element.with_some("regk", key_pattern).with_some("regv", pattern).with_some("v", value);
        filters.push(self.builder.open(element));
        true
    }

    /// What stands behind a key, up to the bracket, with the line of what it begins with; nothing for `[key=]`.
    fn wanted_value(&mut self, line: &mut u32) -> Option<Wanted> {
        if self.tokens.is("]") {
            return Some(Wanted::Value(String::new()));
        }
        let is_plain = self.tokens.is("=") || self.tokens.is("!=");
        self.tokens.advance();
        *line = self.tokens.line();
        if is_plain {
            let text = if self.tokens.is("]") { String::new() } else { self.text("Value") };
            if text.is_empty() {
                return None;
            }
            self.skip_to(&["]"]);
            return Some(Wanted::Value(text));
        }
        let text = self.text("Value");
        self.skip_to(&[",", "]"]);
        let ignore_case = self.tokens.is(",");
        if ignore_case {
            self.tokens.advance();
            self.expect(&["i"]);
            self.skip_to(&["]"]);
        }
        Some(Wanted::Pattern { text, ignore_case })
    }
}

/// What the value of a key must be.
enum Wanted {
    /// This; where it is empty, there must be one.
    Value(String),
    Pattern {
        text: String,
        ignore_case: bool,
    },
}
