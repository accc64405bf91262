//! The statement `if (condition) { ... } else { ... }`.

use super::{Block, Facts, Statement, Syntax, block, take_evaluator};
use crate::code::Code;
use crate::convert::Writer;
use crate::parse::{EvaluatorContext, Parser, Start};
use crate::tree::Expr;
use crate::{Form, Node, Part};

/// A choice between two blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct If {
    /// The condition.
    pub condition: Expr,
    /// The block that runs if the condition holds.
    pub then: Block,
    /// The block that runs if it does not hold.
    pub otherwise: Block,
}

/// The word before the second block, and the name of its element.
pub(super) const ELSE: &str = "else";

pub(super) const SYNTAX: Syntax = Syntax {
    elements: &[
        Form {
            name: "if",
            check: |_| {
                let parts = If { condition: Expr::default(), then: Vec::new(), otherwise: Vec::new() };
                Some(Part::Statement(parts.into()))
            },
            ..Form::NONE
        },
        Form { name: ELSE, check: |_| Some(Part::Else), ..Form::NONE },
    ],
    words: &["if"],
    set_first: false,
    read: |parser, start| parser.nested(|parser| read(parser, start)),
    write,
};

impl Facts for If {
    fn name(&self) -> &'static str {
        "if"
    }

    fn blocks(&self) -> [&[Statement]; 2] {
        [&self.then, &self.otherwise]
    }

    fn expressions(&self) -> Vec<&Expr> {
        vec![&self.condition]
    }

    fn is_operand(&self) -> bool {
        false
    }

    fn takes(&self, child: &Part) -> bool {
        matches!(child, Part::Else | Part::Evaluator(_)) || child.fits_in_block()
    }

    fn begins_with_evaluator(&self) -> Option<&'static str> {
        Some("An If")
    }

    fn incomplete(&self, children: &[Node]) -> Option<(Code, String)> {
        children.is_empty().then(|| (Code::IncompleteStatement, "Element \"if\" needs an evaluator.".to_owned()))
    }

    fn fill(&mut self, mut children: Vec<Node>) -> Option<()> {
        self.condition = take_evaluator(&mut children)?;
        let at = children.iter().position(|child| matches!(child.part, Part::Else)).unwrap_or(children.len());
        let mut otherwise = children.split_off(at);
        if !otherwise.is_empty() {
            otherwise.remove(0);
        }
        self.then = block(children)?;
        self.otherwise = block(otherwise)?;
        Some(())
    }
}

fn read(parser: &mut Parser<'_>, start: Start) -> Option<Node> {
    parser.tokens.advance();
    let condition = parser.condition(EvaluatorContext::IF);
    let mut body = parser.body();
    if parser.tokens.is(ELSE) {
        let start = Start { byte: parser.tokens.current().start, line: parser.tokens.line(), from: None };
        parser.tokens.advance();
        let element = parser.element(ELSE, &start);
        body.push(parser.builder.open(element));
        body.extend(parser.body());
    }
    let element = parser.element("if", &start);
    Some(parser.block(element, condition, body))
}

fn write(writer: &mut Writer, node: &Node, depth: usize) {
    let (condition, body) = writer.evaluator_and_body(node);
    let space = if writer.pretty { " " } else { "" };
    let line = if writer.pretty { "\n" } else { "" };
    let (then, otherwise) = match body.iter().position(|node| node.element.name == ELSE) {
        Some(at) => (&body[..at], Some(&body[at..])),
        None => (body, None),
    };
    writer.block(&format!("if{space}({condition}){line}"), then, depth);
    if let Some([_, otherwise @ ..]) = otherwise {
        writer.end_line();
        writer.block(&format!("else{line}"), otherwise, depth);
    }
}
