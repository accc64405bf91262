//! Parses blocks of statements and the evaluators before them, for several statements.

use super::Statement;
use super::blocks::block;
use crate::ElementTreeNode;
use crate::element::SyntaxElement;
use crate::parse::{EvaluatorContext, QlParser};

impl QlParser<'_> {
    /// Parses `( ... )` or `{ ... }`.
    pub(super) fn body(&mut self) -> Vec<ElementTreeNode> {
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

    /// Creates a block from an element, the evaluator before it and its statements.
    pub(super) fn block(
        &mut self,
        element: SyntaxElement,
        evaluator: Option<ElementTreeNode>,
        body: Vec<ElementTreeNode>,
    ) -> ElementTreeNode {
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

    /// Parses `(evaluator)` before a block.
    pub(super) fn condition(&mut self, place: EvaluatorContext) -> Option<ElementTreeNode> {
        self.expect(&["("]);
        let evaluator = self.evaluator(place);
        self.expect(&[")"]);
        evaluator
    }

    /// Parses a statement that contains statements, unless it is nested too deep.
    pub(super) fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Option<ElementTreeNode>,
    ) -> Option<ElementTreeNode> {
        if !self.descend() {
            return None;
        }
        let node = read(self);
        self.depth -= 1;
        node
    }
}

/// Fills the block of a statement that contains only statements.
pub(super) fn fill(body: &mut Vec<Statement>, children: Vec<ElementTreeNode>) -> Option<()> {
    *body = block(children)?;
    Some(())
}
