//! The statement `retro(evaluator) { ... }`: runs a block at another moment.

use super::{Block, Facts, Statement, Syntax, block, take_evaluator};
use crate::code::Code;
use crate::parse::{EvaluatorContext, Parser, Start};
use crate::tree::Expr;
use crate::{Form, Node, Part};

/// A block at another moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Retro {
    /// The moment.
    pub at: Expr,
    /// The block.
    pub body: Block,
}

pub(super) const SYNTAX: Syntax = Syntax {
    elements: &[Form {
        name: "retro",
        check: |_| Some(Part::Statement(Retro { at: Expr::default(), body: Vec::new() }.into())),
        ..Form::NONE
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

impl Facts for Retro {
    fn name(&self) -> &'static str {
        "retro"
    }

    fn blocks(&self) -> [&[Statement]; 2] {
        [&self.body, &[]]
    }

    fn expressions(&self) -> Vec<&Expr> {
        vec![&self.at]
    }

    fn is_operand(&self) -> bool {
        false
    }

    fn takes(&self, child: &Part) -> bool {
        matches!(child, Part::Evaluator(_)) || child.fits_in_block()
    }

    fn begins_with_evaluator(&self) -> Option<&'static str> {
        Some("A Retro")
    }

    fn incomplete(&self, children: &[Node]) -> Option<(Code, String)> {
        children.is_empty().then(|| (Code::IncompleteStatement, "Element \"retro\" needs an evaluator.".to_owned()))
    }

    fn fill(&mut self, mut children: Vec<Node>) -> Option<()> {
        self.at = take_evaluator(&mut children)?;
        self.body = block(children)?;
        Some(())
    }
}

fn read(parser: &mut Parser<'_>, start: Start) -> Option<Node> {
    parser.tokens.advance();
    let at = parser.condition(EvaluatorContext::IF);
    let body = parser.body();
    let element = parser.element("retro", &start);
    Some(parser.block(element, at, body))
}
