//! Blocks of statements and the evaluators before them, as several statements have them.

use super::{Statement, block};
use crate::Node;
use crate::element::Element;
use crate::parse::{EvaluatorContext, Parser};

impl Parser<'_> {
    /// `( ... )` or `{ ... }`
    pub(super) fn body(&mut self) -> Vec<Node> {
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
    pub(super) fn block(&mut self, element: Element, evaluator: Option<Node>, body: Vec<Node>) -> Node {
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

    /// `(evaluator)` before a block.
    pub(super) fn condition(&mut self, place: EvaluatorContext) -> Option<Node> {
        self.expect(&["("]);
        let evaluator = self.evaluator(place);
        self.expect(&[")"]);
        evaluator
    }

    /// Reads a statement with statements in it, unless they are too deep.
    pub(super) fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<Node>) -> Option<Node> {
        if !self.descend() {
            return None;
        }
        let node = read(self);
        self.depth -= 1;
        node
    }
}

/// Fills a body whose statement has nothing else in it.
pub(super) fn fill(body: &mut Vec<Statement>, children: Vec<Node>) -> Option<()> {
    *body = block(children)?;
    Some(())
}
