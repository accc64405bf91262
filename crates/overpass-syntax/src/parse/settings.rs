//! `[out:json][timeout:25]...;`

use std::collections::BTreeMap;

use super::Parser;
use crate::Node;
use crate::element::Element;

impl Parser<'_> {
    /// The settings, as the element that will hold the statements.
    pub(super) fn settings(&mut self) -> Node {
        let start = self.tokens.current().start;
        let mut values: BTreeMap<String, String> = BTreeMap::new();
        let (mut any, mut boxed) = (false, false);
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
                    set("output", format);
                    if let Some(config) = config {
                        set("output-config", config);
                    }
                }
                "bbox" => {
                    let (bounds, is_whole) = self.bounds();
                    set("bbox", bounds);
                    if !is_whole {
                        boxed = false;
                        break;
                    }
                    boxed = true;
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
        // The reference forgets it in converting, and then finds queries empty that are not.
        self.bbox = !self.builder.converting && boxed;
        let mut element = Element::new("osm-script", self.tokens.line(), self.span_from(start));
        element.attributes = values.into_iter().map(|(name, value)| (name.into(), value)).collect();
        let node = self.builder.open(element);
        if any {
            self.expect(&[";"]);
        }
        node
    }

    /// A number up to the bracket; `1Gi` is two tokens.
    fn amount(&mut self) -> String {
        let mut value = String::new();
        if !self.tokens.good() || !self.tokens.current().is_text() {
            self.expected("Value");
        }
        while self.tokens.good() && !self.tokens.is("]") {
            let apart = self.builder.converting || self.tokens.current().is_number();
            if !value.is_empty() && apart {
                value.push(' ');
            }
            value.push_str(&self.tokens.current().value());
            self.tokens.advance();
        }
        value
    }

    /// The four sides of `[bbox:...]`, and whether all are there.
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
