//! The QL front end: tokens to elements by recursive descent, what all statements and filters need of it. After an error it goes on as the reference does, so
//! that follow-up errors are the same.

mod evaluator;
mod expression;
mod output;
mod settings;

pub(crate) use evaluator::{EvaluatorContext, ExpectedType};
pub(crate) use expression::{Id, Reading, Tree};

use super::builder::Builder;
use super::element::Element;
use super::reader::Reader;
use super::token::{Token, Tokens};
use super::tree::Span;
use crate::Node;
use crate::code::Code;

/// How deep blocks may be nested.
const MOST_BLOCKS: usize = 100;
/// How deep evaluators may be nested.
const MOST_OPERATORS: usize = 250;

/// Reads a text as QL.
pub(super) fn parse(text: &str, builder: Builder) -> (Option<Node>, Builder) {
    let builder = Builder { blames_outer: true, ..builder };
    let mut parser = Parser { tokens: Tokens::new(text), builder, depth: 0, bbox: false };
    let mut root = parser.settings();
    while parser.goes_on() {
        if let Some(statement) = parser.statement() {
            parser.builder.add(&mut root, statement);
        }
    }
    (Some(root), parser.builder)
}

/// The front end at work. How statements and filters are read stands with them.
pub(crate) struct Parser<'a> {
    /// The text that is still to be read.
    pub tokens: Tokens<'a>,
    /// What makes elements of it.
    pub builder: Builder,
    /// How deep in blocks it is.
    pub depth: usize,
    /// Whether the settings have a box, which then is a filter of every query.
    pub bbox: bool,
}

impl<'a> Parser<'a> {
    /// The reader of its tokens.
    fn reader(&mut self) -> Reader<'_, 'a> {
        Reader { tokens: &mut self.tokens, diagnostics: &mut self.builder.diagnostics }
    }

    /// Whether there is more text, and not so much wrong that reading it makes no sense.
    pub fn goes_on(&self) -> bool {
        self.tokens.good() && !self.builder.diagnostics.full()
    }

    /// Adds an error at the current token.
    pub fn error(&mut self, code: Code, message: impl Into<String>) {
        self.reader().error(code, message);
    }

    /// Adds `... expected - '...' found.`
    pub fn expected(&mut self, what: &str) {
        self.reader().expected(what);
    }

    /// Skips to one of the tokens `allowed`, with an error if it is not the current one.
    pub fn skip_to(&mut self, allowed: &[&'static str]) {
        self.reader().skip_to(allowed);
    }

    /// Skips to and over one of the tokens `allowed`, with an error if it is not the current one.
    pub fn expect(&mut self, allowed: &[&'static str]) {
        self.reader().expect(allowed);
    }

    /// Takes a word, string or number, with an error if there is none.
    pub fn text(&mut self, what: &str) -> String {
        self.reader().text(what)
    }

    /// The value of a token, with an error for every escape in it that stands for nothing.
    pub fn value(&mut self, token: Token<'_>) -> String {
        self.reader().value(token)
    }

    /// Takes a plain word, with an error if there is none.
    pub fn identifier(&mut self, what: &str) -> String {
        if self.tokens.good() && self.tokens.text().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return self.name();
        }
        self.expected(what);
        String::new()
    }

    /// Takes `.name`.
    pub fn set(&mut self) -> Option<String> {
        if !self.tokens.is(".") {
            return None;
        }
        self.tokens.advance();
        Some(self.name())
    }

    /// Takes `.name` where the name must be a word.
    pub fn named_set(&mut self) -> Option<String> {
        if !self.tokens.is(".") {
            return None;
        }
        self.tokens.advance();
        Some(self.variable())
    }

    /// Takes the name of a set, whatever token it is.
    pub fn name(&mut self) -> String {
        let name = self.tokens.current().value();
        self.tokens.advance();
        name
    }

    /// Takes `->.name`; `_` if it is not there.
    pub fn into(&mut self) -> String {
        if !self.tokens.is("->") {
            return "_".to_owned();
        }
        self.tokens.advance();
        self.expect(&["."]);
        self.variable()
    }

    /// Takes the name of a set where it must be a word, with an error if it is none.
    pub fn variable(&mut self) -> String {
        if self.tokens.text().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return self.name();
        }
        if !self.tokens.good() {
            return "_".to_owned();
        }
        self.expected("Variable");
        String::new()
    }

    /// From a start to the end of the last token.
    pub fn span_from(&self, start: usize) -> Span {
        Span { start, end: self.tokens.end_of_last().max(start) }
    }

    /// Makes an element that ends before the current token.
    pub fn element(&self, name: &'static str, start: &Start) -> Element {
        Element::new(name, start.line, self.span_from(start.byte))
    }

    /// Goes one level deeper; `false` and an error if that is too deep.
    pub fn descend(&mut self) -> bool {
        if self.depth >= MOST_BLOCKS {
            let message = format!("Statements are nested in more than {MOST_BLOCKS} levels.");
            self.error(Code::NestedTooDeep, message);
            self.builder.diagnostics.stop();
            self.tokens.stop();
            return false;
        }
        self.depth += 1;
        true
    }
}

/// Where a statement or filter starts, and with which set.
pub(crate) struct Start {
    /// The byte.
    pub byte: usize,
    /// The line that errors name.
    pub line: u32,
    /// The set that stands before it.
    pub from: Option<String>,
}

impl Start {
    /// The set that it reads: the default set where none is named.
    pub fn set(&self) -> String {
        self.from.clone().unwrap_or_else(|| "_".to_owned())
    }
}
