//! The statement `retro(evaluator) { ... }`: runs a block at another moment.

use super::blocks::{block, take_evaluator};
use super::{Block, Statement, StatementGrammar, StatementProperties};
use crate::parse::{EvaluatorContext, QlParser, Start};
use crate::tree::EvaluatorExpression;
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// A block at another moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Retro {
    /// The moment.
    pub at: EvaluatorExpression,
    /// The block.
    pub body: Block,
}

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "retro",
        check: |_| {
            Some(ElementMeaning::Statement(Retro { at: EvaluatorExpression::default(), body: Vec::new() }.into()))
        },
        ..ElementSyntax::NONE
    }],
    words: &["retro"],
    set_first: false,
    read: |parser, start| parser.nested(|parser| read(parser, start)),
    write: |writer, node, depth| {
        let (at, body) = writer.evaluator_and_body(node);
        let head = if writer.pretty { format!("retro ({at})\n") } else { format!("retro({at})") };
        writer.block(&head, body, depth);
    },
};

impl StatementProperties for Retro {
    fn name(&self) -> &'static str {
        "retro"
    }

    fn blocks(&self) -> [&[Statement]; 2] {
        [&self.body, &[]]
    }

    fn expressions(&self) -> Vec<&EvaluatorExpression> {
        vec![&self.at]
    }

    fn is_operand(&self) -> bool {
        false
    }

    fn takes(&self, child: &ElementMeaning) -> bool {
        matches!(child, ElementMeaning::Evaluator(_)) || child.fits_in_block()
    }

    fn begins_with_evaluator(&self) -> Option<&'static str> {
        Some("A Retro")
    }

    fn fill(&mut self, mut children: Vec<ElementTreeNode>) -> Option<()> {
        self.at = take_evaluator(&mut children)?;
        self.body = block(children)?;
        Some(())
    }
}

fn read(parser: &mut QlParser<'_>, start: Start) -> Option<ElementTreeNode> {
    parser.tokens.advance();
    let at = parser.condition(EvaluatorContext::IF);
    let body = parser.body();
    let element = parser.element("retro", &start);
    Some(parser.block(element, at, body))
}
