//! Every statement but the query.

use super::super::element::{Element, Node};
use super::Parser;
use crate::code::Code;

impl Parser<'_> {
    /// One statement with its semicolon. Nothing if it was so wrong that nothing is left of it.
    pub(super) fn statement(&mut self) -> Option<Node> {
        let (start, line) = (self.tokens.current().start, self.tokens.line());
        match self.tokens.text() {
            "(" => return self.nested(|parser| parser.union(start, line)),
            "foreach" => return self.nested(|parser| parser.foreach(start, line)),
            "for" => return self.nested(|parser| parser.for_each_value(start, line)),
            "if" => return self.nested(|parser| parser.choice(start, line)),
            "complete" => return self.nested(|parser| parser.complete(start, line)),
            "retro" => return self.nested(|parser| parser.retro(start, line)),
            "timeline" => return Some(self.timeline(start, line)),
            _ => {}
        }
        let from = self.set();
        let node = match self.tokens.text() {
            _ if from.is_some() && !self.tokens.good() => self.item(start, line, from),
            "." if from.is_some() => {
                let from = self.set();
                self.item(start, line, from)
            }
            "out" => self.print(start, from),
            ">" => self.recurse("down", start, line, from),
            ">>" => self.recurse("down-rel", start, line, from),
            "<" => self.recurse("up", start, line, from),
            "<<" => self.recurse("up-rel", start, line, from),
            "is_in" => return Some(self.is_in(start, line, from)),
            "map_to_area" => {
                self.tokens.advance();
                let into = self.into();
                let element = self.element("map-to-area", start, line);
                self.builder.open(element.with("from", or_default(from)).with("into", into))
            }
            "local" => self.localize(start, line, from),
            "make" => self.produce("make", start, from),
            "convert" => self.produce("convert", start, from),
            "compare" => return self.nested(|parser| parser.compare(start, line, from)),
            _ if from.is_some() => self.item(start, line, from),
            _ => return self.query(),
        };
        self.expect(&[";"]);
        Some(node)
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<Node>) -> Option<Node> {
        if !self.descend() {
            return None;
        }
        let node = read(self);
        self.depth -= 1;
        node
    }

    /// `( ...; ...; )` and `( ...; - ...; )`.
    fn union(&mut self, start: usize, line: u32) -> Option<Node> {
        self.tokens.advance();
        let mut members: Vec<Node> = Vec::new();
        let mut read = 0;
        let mut difference = false;
        while self.goes_on() && !self.tokens.is(")") {
            if read == 1 && self.tokens.is("-") {
                difference = true;
                self.tokens.advance();
                if self.tokens.is(")") {
                    break;
                }
            } else if difference {
                self.error(Code::DifferenceOperands, "difference always requires two operands");
                break;
            }
            members.extend(self.statement());
            read += 1;
        }
        if difference {
            if self.tokens.good() && !self.tokens.is(")") {
                self.expect(&[")"]);
            } else {
                self.tokens.advance();
            }
        } else {
            self.tokens.advance();
        }
        let into = self.into();
        let name = if difference { "difference" } else { "union" };
        let element = self.element(name, start, line).with("into", into);
        self.expect(&[";"]);
        let mut node = self.builder.open(element);
        for member in members {
            self.builder.add(&mut node, member);
        }
        if self.builder.diagnostics.is_empty() {
            self.builder.close(&node);
        }
        Some(node)
    }

    /// `( ... )` or `{ ... }`
    fn body(&mut self) -> Vec<Node> {
        self.skip_to(&["(", "{"]);
        let end = if self.tokens.is("(") { ")" } else { "}" };
        self.tokens.advance();
        let mut statements = Vec::new();
        while self.goes_on() && !self.tokens.is(end) {
            statements.extend(self.statement());
        }
        self.tokens.advance();
        statements
    }

    /// Makes a block of an element, the evaluator before it and its statements.
    fn block(&mut self, element: Element, evaluator: Option<Node>, body: Vec<Node>) -> Node {
        let mut node = self.builder.open(element);
        for child in evaluator.into_iter().chain(body) {
            self.builder.add(&mut node, child);
        }
        // The semicolon after a block is optional.
        if self.tokens.is(";") {
            self.tokens.advance();
        }
        node
    }

    fn foreach(&mut self, start: usize, line: u32) -> Option<Node> {
        self.tokens.advance();
        let from = or_default(self.set());
        let into = self.into();
        let body = self.body();
        let element = self.element("foreach", start, line).with("from", from).with("into", into);
        Some(self.block(element, None, body))
    }

    fn for_each_value(&mut self, start: usize, line: u32) -> Option<Node> {
        self.tokens.advance();
        let from = or_default(self.set());
        let into = self.into();
        let key = self.condition(super::evaluator::EvaluatorContext::FOR);
        let body = self.body();
        let element = self.element("for", start, line).with("from", from).with("into", into);
        if key.is_none() {
            let message = "A For statement must have an Evaluator as first sub-statement.";
            self.builder.diagnostics.fixed(Code::MissingEvaluator, line, element.span, message);
        }
        Some(self.block(element, key, body))
    }

    fn choice(&mut self, start: usize, line: u32) -> Option<Node> {
        self.tokens.advance();
        let condition = self.condition(super::evaluator::EvaluatorContext::IF);
        let mut body = self.body();
        if self.tokens.is("else") {
            let (start, line) = (self.tokens.current().start, self.tokens.line());
            self.tokens.advance();
            let otherwise = self.builder.open(self.element("else", start, line));
            body.push(otherwise);
            body.extend(self.body());
        }
        let element = self.element("if", start, line);
        Some(self.block(element, condition, body))
    }

    fn complete(&mut self, start: usize, line: u32) -> Option<Node> {
        self.tokens.advance();
        let mut limit = String::new();
        let mut from = self.set();
        if from.is_none() && self.tokens.is("(") {
            self.tokens.advance();
            limit = self.text("Maximum number of iterations");
            self.expect(&[")"]);
            from = self.set();
        }
        let into = self.into();
        let body = self.body();
        let element = self.element("complete", start, line).with("from", or_default(from)).with("into", into);
        Some(self.block(element.with("maxnum", limit), None, body))
    }

    fn retro(&mut self, start: usize, line: u32) -> Option<Node> {
        self.tokens.advance();
        let at = self.condition(super::evaluator::EvaluatorContext::IF);
        let body = self.body();
        let element = self.element("retro", start, line);
        Some(self.block(element, at, body))
    }

    /// `compare(delta:...)->.into{...}`; its condition and its block can be missing.
    fn compare(&mut self, start: usize, line: u32, from: Option<String>) -> Option<Node> {
        self.tokens.advance();
        let mut delta = None;
        if self.tokens.is("(") {
            self.tokens.advance();
            if self.tokens.is("delta") {
                self.tokens.advance();
                self.expect(&[":"]);
                delta = self.evaluator(super::evaluator::EvaluatorContext::DELTA);
            }
            self.expect(&[")"]);
        }
        let into = self.into();
        let has_body = self.tokens.is("{") || self.tokens.is("(");
        let body = if has_body { self.body() } else { Vec::new() };
        let element = self.element("compare", start, line).with("from", or_default(from)).with("into", into);
        if !has_body {
            self.expect(&[";"]);
        }
        Some(self.block(element, delta, body))
    }

    /// `(evaluator)` before a block.
    fn condition(&mut self, place: super::evaluator::EvaluatorContext) -> Option<Node> {
        self.expect(&["("]);
        let evaluator = self.evaluator(place);
        self.expect(&[")"]);
        evaluator
    }

    fn timeline(&mut self, start: usize, line: u32) -> Node {
        self.tokens.advance();
        self.expect(&["("]);
        let kind = match self.text("OSM base type").as_str() {
            "rel" => "relation".to_owned(),
            other => other.to_owned(),
        };
        self.expect(&[","]);
        let id = self.text("OSM element id");
        self.skip_to(&[",", ")"]);
        let mut version = String::new();
        if self.tokens.is(",") {
            self.tokens.advance();
            version = self.text("Version");
        }
        self.expect(&[")"]);
        let into = self.into();
        self.expect(&[";"]);
        let element = self.element("timeline", start, line).with("into", into).with("ref", id);
        self.builder.open(element.with("type", kind).with("version", version))
    }

    fn item(&mut self, start: usize, line: u32, from: Option<String>) -> Node {
        let into = self.into();
        let element = self.element("item", start, line).with("from", or_default(from)).with("into", into);
        self.builder.open(element)
    }

    fn recurse(&mut self, kind: &'static str, start: usize, line: u32, from: Option<String>) -> Node {
        self.tokens.advance();
        let into = self.into();
        let element = self.element("recurse", start, line).with("from", or_default(from)).with("into", into);
        self.builder.open(element.with("type", kind))
    }

    fn is_in(&mut self, start: usize, line: u32, from: Option<String>) -> Node {
        self.tokens.advance();
        let (mut lat, mut lon) = (String::new(), String::new());
        if self.tokens.is("(") {
            self.tokens.advance();
            lat = self.text("Number");
            self.skip_to(&[",", ")"]);
            if self.tokens.is(",") {
                self.tokens.advance();
                lon = self.text("Number");
                self.skip_to(&[")"]);
            }
            self.tokens.advance();
        }
        let into = self.into();
        self.expect(&[";"]);
        let element = self.element("coord-query", start, line).with("from", or_default(from)).with("into", into);
        self.builder.open(element.with("lat", lat).with("lon", lon))
    }

    fn localize(&mut self, start: usize, line: u32, from: Option<String>) -> Node {
        self.tokens.advance();
        let mut kind = "l".to_owned();
        if self.tokens.good() && self.tokens.current().is_text() {
            kind = self.text("Detail");
        }
        let bounds = self.up_to_four_sides();
        let into = self.into();
        let [south, west, north, east] = bounds;
        let element = self.element("localize", start, line).with("e", east).with("from", or_default(from));
        let element = element.with("into", into).with("n", north).with("s", south).with("type", kind);
        self.builder.open(element.with("w", west))
    }

    /// `(s,w,n,e)`
    fn four_sides(&mut self) -> [String; 4] {
        self.tokens.advance();
        let mut sides: [String; 4] = Default::default();
        for (i, side) in sides.iter_mut().enumerate() {
            *side = self.text("Number");
            self.expect(&[if i < 3 { "," } else { ")" }]);
        }
        sides
    }

    /// `(s,w,n,e)` where it stands; the reference takes fewer.
    fn up_to_four_sides(&mut self) -> [String; 4] {
        let mut sides: [String; 4] = Default::default();
        if !self.tokens.is("(") {
            return sides;
        }
        self.tokens.advance();
        for (i, side) in sides.iter_mut().enumerate() {
            *side = self.text("Number");
            if i == 3 {
                break;
            }
            self.skip_to(&[",", ")"]);
            if !self.tokens.is(",") {
                break;
            }
            self.tokens.advance();
        }
        self.tokens.advance();
        sides
    }

    fn print(&mut self, start: usize, from: Option<String>) -> Node {
        const MODES: [(&str, &str); 6] = [
            ("ids", "ids_only"),
            ("skel", "skeleton"),
            ("body", "body"),
            ("tags", "tags"),
            ("meta", "meta"),
            ("count", "count"),
        ];
        const GEOMETRIES: [(&str, &str); 3] = [("geom", "full"), ("bb", "bounds"), ("center", "center")];
        self.tokens.advance();
        let (mut mode, mut geometry, mut ids, mut order) = ("body", "skeleton", "yes", "id");
        let mut limit = String::new();
        let mut sides: [String; 4] = Default::default();
        while self.goes_on() && !self.tokens.is(";") {
            let token = self.tokens.current();
            if token.text == "(" {
                sides = self.four_sides();
                continue;
            }
            if let Some((_, name)) = MODES.iter().find(|(word, _)| *word == token.text) {
                mode = name;
            } else if let Some((_, name)) = GEOMETRIES.iter().find(|(word, _)| *word == token.text) {
                geometry = name;
            } else {
                match token.text {
                    "asc" => order = "id",
                    "qt" => order = "quadtile",
                    "noids" => ids = "no",
                    text if text.starts_with(|c: char| c.is_ascii_digit()) => limit = text.to_owned(),
                    _ => self.refuse_parameter(),
                }
            }
            self.tokens.advance();
        }
        let [south, west, north, east] = sides;
        // The reference names the line that it has come to.
        let element: Element =
            self.element("print", start, self.tokens.line()).with("e", east).with("from", or_default(from));
        let element = element.with("geometry", geometry).with("ids", ids).with("limit", limit).with("mode", mode);
        let element = element.with("n", north).with("order", order).with("s", south).with("w", west);
        self.builder.open(element)
    }

    fn refuse_parameter(&mut self) {
        let token = self.tokens.current();
        self.error(Code::UnknownParameter, format!("Invalid parameter for print: \"{}\"", token.quoted()));
        let known = ["ids", "skel", "body", "tags", "meta", "count", "geom", "bb", "center", "asc", "qt", "noids"];
        let help = super::super::suggest::nearest(token.text, known.into_iter());
        self.builder.diagnostics.help(help);
    }
}

/// The default set where none is named.
fn or_default(set: Option<String>) -> String {
    set.unwrap_or_else(|| "_".to_owned())
}
