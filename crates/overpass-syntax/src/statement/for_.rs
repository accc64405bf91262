//! The statement `for.from->.into(evaluator) { ... }`: runs a block for each group of elements with the same value of
//! an evaluator.

use super::blocks::{block, take_evaluator};
use super::{Block, Statement, StatementGrammar, StatementProperties};
use crate::code::OverpassCode;
use crate::parse::{EvaluatorContext, QlParser, Start};
use crate::tree::{EvaluatorExpression, SetName};
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// A block for each value that an evaluator has among the elements of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct For {
    /// The set.
    pub from: SetName,
    /// The set in which the block gets the elements with the value.
    pub into: SetName,
    /// The evaluator.
    pub key: EvaluatorExpression,
    /// The block.
    pub body: Block,
}

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "for",
        attributes: &["from", "into"],
        check: |context| {
            let (from, into) = context.sets();
            Some(ElementMeaning::Statement(
                For { from, into, key: EvaluatorExpression::default(), body: Vec::new() }.into(),
            ))
        },
        ..ElementSyntax::NONE
    }],
    words: &["for"],
    set_first: false,
    read: |parser, start| parser.nested(|parser| read(parser, start)),
    write: |writer, node, depth| {
        let (key, body) = writer.evaluator_and_body(node);
        let head = format!("for{}({key})", writer.sets_behind(&node.element));
        writer.block(&head, body, depth);
    },
};

impl StatementProperties for For {
    fn name(&self) -> &'static str {
        "for"
    }

    fn input_set(&self) -> Option<&SetName> {
        Some(&self.from)
    }

    fn result_set(&self) -> Option<&SetName> {
        Some(&self.into)
    }

    fn blocks(&self) -> [&[Statement]; 2] {
        [&self.body, &[]]
    }

    fn expressions(&self) -> Vec<&EvaluatorExpression> {
        vec![&self.key]
    }

    fn takes(&self, child: &ElementMeaning) -> bool {
        matches!(child, ElementMeaning::Evaluator(_)) || child.fits_in_block()
    }

    fn begins_with_evaluator(&self) -> Option<&'static str> {
        Some("A For")
    }

    fn fill(&mut self, mut children: Vec<ElementTreeNode>) -> Option<()> {
        self.key = take_evaluator(&mut children)?;
        self.body = block(children)?;
        Some(())
    }
}

fn read(parser: &mut QlParser<'_>, mut start: Start) -> Option<ElementTreeNode> {
    parser.tokens.advance();
    start.from = parser.named_set();
    let into = parser.into();
    let key = parser.condition(EvaluatorContext::FOR);
    let body = parser.body();
    let element = parser.element("for", &start).with("from", start.set()).with("into", into);
    if key.is_none() {
        let message = "A For statement must have an Evaluator as first sub-statement.";
        parser.builder.diagnostics.fixed(OverpassCode::MissingEvaluator, start.line, element.span, message);
    }
    Some(parser.block(element, key, body))
}
