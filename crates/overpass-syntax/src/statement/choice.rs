//! The statement `if (condition) { ... } else { ... }`.

use super::blocks::{block, take_evaluator};
use super::{Block, Statement, StatementGrammar, StatementProperties};
use crate::parse::{EvaluatorContext, QlParser, Start};
use crate::tree::EvaluatorExpression;
use crate::writer::QlWriter;
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// A choice between two blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct If {
    /// The condition.
    pub condition: EvaluatorExpression,
    /// The block that runs if the condition holds.
    pub then: Block,
    /// The block that runs if it does not hold.
    pub otherwise: Block,
}

/// The word before the second block, and the name of its element.
pub(super) const ELSE: &str = "else";

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[
        ElementSyntax {
            name: "if",
            check: |_| {
                let parts = If { condition: EvaluatorExpression::default(), then: Vec::new(), otherwise: Vec::new() };
                Some(ElementMeaning::Statement(parts.into()))
            },
            ..ElementSyntax::NONE
        },
        ElementSyntax { name: ELSE, check: |_| Some(ElementMeaning::Else), ..ElementSyntax::NONE },
    ],
    words: &["if"],
    set_first: false,
    read: |parser, start| parser.nested(|parser| read(parser, start)),
    write,
};

impl StatementProperties for If {
    fn name(&self) -> &'static str {
        "if"
    }

    fn blocks(&self) -> [&[Statement]; 2] {
        [&self.then, &self.otherwise]
    }

    fn expressions(&self) -> Vec<&EvaluatorExpression> {
        vec![&self.condition]
    }

    fn is_operand(&self) -> bool {
        false
    }

    fn takes(&self, child: &ElementMeaning) -> bool {
        matches!(child, ElementMeaning::Else | ElementMeaning::Evaluator(_)) || child.fits_in_block()
    }

    fn begins_with_evaluator(&self) -> Option<&'static str> {
        Some("An If")
    }

    fn fill(&mut self, mut children: Vec<ElementTreeNode>) -> Option<()> {
        self.condition = take_evaluator(&mut children)?;
        let at = children.iter().position(|child| matches!(child.part, ElementMeaning::Else)).unwrap_or(children.len());
        let mut otherwise = children.split_off(at);
        if !otherwise.is_empty() {
            otherwise.remove(0);
        }
        self.then = block(children)?;
        self.otherwise = block(otherwise)?;
        Some(())
    }
}

fn read(parser: &mut QlParser<'_>, start: Start) -> Option<ElementTreeNode> {
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

fn write(writer: &mut QlWriter, node: &ElementTreeNode, depth: usize) {
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
