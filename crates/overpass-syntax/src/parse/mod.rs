//! Parses QL by recursive descent: the parts that all statements and filters share. Tokens become elements. After an
//! error, the parser continues like the reference, so that the errors that follow are the same.

mod evaluator;
mod expression;
mod output;
mod settings;

pub(crate) use evaluator::{EvaluatorContext, ExpectedType};
pub(crate) use expression::{Id, TokenTree, TreeContext};

use super::builder::SyntaxBuilder;
use super::element::SyntaxElement;
use super::reader::TokenReader;
use super::token::{QlToken, QlTokens};
use super::tree::SourceSpan;
use crate::ElementTreeNode;
use crate::code::OverpassCode;

/// The maximum nesting depth of blocks.
const MOST_BLOCKS: usize = 100;
/// The maximum nesting depth of evaluators.
const MOST_OPERATORS: usize = 250;

/// Parses a text as QL.
pub(super) fn parse(text: &str, builder: SyntaxBuilder) -> (Option<ElementTreeNode>, SyntaxBuilder) {
    let builder = SyntaxBuilder { blames_outer: true, ..builder };
    let mut parser = QlParser { tokens: QlTokens::new(text), builder, depth: 0, bbox: false };
    let mut root = parser.settings();
    while parser.goes_on() {
        if let Some(statement) = parser.statement() {
            parser.builder.add(&mut root, statement);
        }
    }
    (Some(root), parser.builder)
}

/// The state of the parser. The code that parses each statement and filter is in its own module.
pub(crate) struct QlParser<'a> {
    /// The rest of the text.
    pub tokens: QlTokens<'a>,
    /// The builder of elements.
    pub builder: SyntaxBuilder,
    /// The current nesting depth of blocks.
    pub depth: usize,
    /// Whether the settings have a box, which is then a filter of every query.
    pub bbox: bool,
}

impl<'a> QlParser<'a> {
    /// Returns a reader of the tokens.
    fn reader(&mut self) -> TokenReader<'_, 'a> {
        TokenReader { tokens: &mut self.tokens, diagnostics: &mut self.builder.diagnostics }
    }

    /// Returns whether parsing continues: there is more text, and the errors so far do not stop it.
    pub fn goes_on(&self) -> bool {
        self.tokens.good() && !self.builder.diagnostics.full()
    }

    /// Adds an error at the current token.
    pub fn error(&mut self, code: OverpassCode, message: impl Into<String>) {
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

    /// Takes a word, string or number. Adds an error if the current token is none.
    pub fn text(&mut self, what: &str) -> String {
        self.reader().text(what)
    }

    /// Returns the value of a token. Adds an error for each invalid escape sequence.
    pub fn value(&mut self, token: QlToken<'_>) -> String {
        self.reader().value(token)
    }

    /// Takes a plain word. Adds an error if the current token is none.
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

    /// Takes `.name` if the name must be a word.
    pub fn named_set(&mut self) -> Option<String> {
        if !self.tokens.is(".") {
            return None;
        }
        self.tokens.advance();
        Some(self.variable())
    }

    /// Takes the name of a set, which can be any token.
    pub fn name(&mut self) -> String {
        let name = self.tokens.current().value();
        self.tokens.advance();
        name
    }

    /// Takes `->.name`. Returns `_` if it is missing.
    pub fn into(&mut self) -> String {
        if !self.tokens.is("->") {
            return "_".to_owned();
        }
        self.tokens.advance();
        self.expect(&["."]);
        self.variable()
    }

    /// Takes the name of a set that must be a word. Adds an error if it is not.
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

    /// Returns the range from a start to the end of the last token.
    pub fn span_from(&self, start: usize) -> SourceSpan {
        SourceSpan { start, end: self.tokens.end_of_last().max(start) }
    }

    /// Creates an element that ends before the current token.
    pub fn element(&self, name: &'static str, start: &Start) -> SyntaxElement {
        SyntaxElement::new(name, start.line, self.span_from(start.byte))
    }

    /// Increases the nesting depth. If it is too deep, adds an error and returns `false`.
    pub fn descend(&mut self) -> bool {
        if self.depth >= MOST_BLOCKS {
            let message = format!("Statements are nested in more than {MOST_BLOCKS} levels.");
            self.error(OverpassCode::NestedTooDeep, message);
            self.builder.diagnostics.stop();
            self.tokens.stop();
            return false;
        }
        self.depth += 1;
        true
    }
}

/// The start of a statement or filter, with the set before it.
pub(crate) struct Start {
    /// The position in bytes.
    pub byte: usize,
    /// The line for errors.
    pub line: u32,
    /// The set before the word.
    pub from: Option<String>,
}

impl Start {
    /// Returns the input set; the default set if none is named.
    pub fn set(&self) -> String {
        self.from.clone().unwrap_or_else(|| "_".to_owned())
    }
}
