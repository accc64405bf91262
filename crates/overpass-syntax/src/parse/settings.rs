//! Parses the settings: `[out:json][timeout:25]...;`.

use std::collections::BTreeMap;

use super::QlParser;
use crate::ElementTreeNode;
use crate::check::settings::bounds_of;
use crate::element::SyntaxElement;

impl QlParser<'_> {
    /// Returns the settings, as the element that will contain the statements.
    pub(super) fn settings(&mut self) -> ElementTreeNode {
        let start = self.tokens.current().start;
        let mut values: BTreeMap<String, String> = BTreeMap::new();
        let (mut any, mut boxed, mut has_format) = (false, false, false);
        let mut set = |name: &str, value: String| {
            values.insert(name.to_owned(), value);
        };
        while self.tokens.is("[") {
            any = true;
            self.tokens.advance();
            let keyword = self.identifier("Keyword");
            self.expect(&[":"]);
            match keyword.as_str() {
                "out" => {
                    let (format, config) = self.output();
                    // An unknown format does not replace an earlier one.
                    if config.is_some() || !has_format {
                        set("output", format);
                    }
                    has_format |= config.is_some();
                    if let Some(config) = config {
                        set("output-config", config);
                    }
                }
                "bbox" => {
                    let (bounds, is_whole) = self.bounds();
                    boxed = is_whole && bounds_of(&bounds).is_some();
                    set("bbox", bounds);
                    if !is_whole {
                        break;
                    }
                }
                "diff" | "adiff" => {
                    let from = self.text("Value");
                    set("from", from);
                    self.skip_to(&[",", "]"]);
                    if self.tokens.is(",") {
                        self.tokens.advance();
                        let date = self.text("Value");
                        set("date", date);
                        self.expect(&["]"]);
                    } else {
                        self.tokens.advance();
                    }
                    if keyword == "adiff" {
                        set("augmented", "deletions".to_owned());
                    }
                }
                "timeout" | "maxsize" => {
                    let value = self.amount();
                    set(if keyword == "maxsize" { "element-limit" } else { "timeout" }, value);
                    self.expect(&["]"]);
                }
                _ => {
                    let value = self.text("Value");
                    set(&keyword, value);
                    self.expect(&["]"]);
                }
            }
            if self.builder.diagnostics.full() {
                break;
            }
        }
        // In a conversion, the reference ignores the box, and then rejects queries as empty that are not.
        self.bbox = !self.builder.converting && boxed;
        let mut element = SyntaxElement::new("osm-script", self.tokens.line(), self.span_from(start));
        element.attributes = values.into_iter().map(|(name, value)| (name.into(), value)).collect();
        let node = self.builder.open(element);
        if any {
            self.expect(&[";"]);
        }
        node
    }

    /// Takes a number up to the bracket; `1Gi` is two tokens.
    fn amount(&mut self) -> String {
        let mut value = String::new();
        if !self.tokens.good() || !self.tokens.current().is_text() {
            self.expected("Value");
        }
        while self.tokens.good() && !self.tokens.is("]") {
            let token = self.tokens.current();
            let apart = self.builder.converting || token.is_number();
            if !value.is_empty() && apart {
                value.push(' ');
            }
            // As in the reference, only the first token can be a string.
            let text = if value.is_empty() { self.reader().value(token) } else { token.text.to_owned() };
            value.push_str(&text);
            self.tokens.advance();
        }
        value
    }

    /// Returns the four sides of `[bbox:...]`, and whether all of them are given.
    fn bounds(&mut self) -> (String, bool) {
        let mut bounds = self.text("Value");
        for _ in 0..3 {
            self.skip_to(&[",", "]"]);
            if !self.tokens.is(",") {
                return (bounds, false);
            }
            self.tokens.advance();
            bounds.push(',');
            bounds.push_str(&self.text("Value"));
        }
        self.expect(&["]"]);
        (bounds, true)
    }
}
