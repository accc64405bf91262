//! The statement `.from compare(delta:evaluator)->.into { ... }`: the differences of a set between the two moments of a
//! query.

use super::blocks::{block, take_evaluator};
use super::{Block, Statement, StatementGrammar, StatementProperties};
use crate::parse::{EvaluatorContext, QlParser, Start};
use crate::tree::{EvaluatorExpression, SetName};
use crate::writer::QlWriter;
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// The differences of a set between two moments.
#[derive(Debug, Clone, PartialEq)]
pub struct Compare {
    /// The set.
    pub from: SetName,
    /// The set for the result.
    pub into: SetName,
    /// The evaluator that must have a value for an element to count.
    pub delta: Option<EvaluatorExpression>,
    /// The block that runs over each side.
    pub body: Block,
}

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "compare",
        attributes: &["from", "into"],
        check: |context| {
            let (from, into) = context.sets();
            Some(ElementMeaning::Statement(Compare { from, into, delta: None, body: Vec::new() }.into()))
        },
        ..ElementSyntax::NONE
    }],
    words: &["compare"],
    set_first: true,
    read: |parser, start| parser.nested(|parser| read(parser, start)),
    write,
};

impl StatementProperties for Compare {
    fn name(&self) -> &'static str {
        "compare"
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
        self.delta.iter().collect()
    }

    fn takes(&self, child: &ElementMeaning) -> bool {
        matches!(child, ElementMeaning::Evaluator(_)) || child.fits_in_block()
    }

    fn fill(&mut self, mut children: Vec<ElementTreeNode>) -> Option<()> {
        if children.first().is_some_and(ElementTreeNode::is_evaluator) {
            self.delta = Some(take_evaluator(&mut children)?);
        }
        self.body = block(children)?;
        Some(())
    }
}

/// Parses the statement. Its condition and its block are optional.
fn read(parser: &mut QlParser<'_>, start: Start) -> Option<ElementTreeNode> {
    parser.tokens.advance();
    let mut delta = None;
    if parser.tokens.is("(") {
        parser.tokens.advance();
        if parser.tokens.is("delta") {
            parser.tokens.advance();
            parser.expect(&[":"]);
            delta = parser.evaluator(EvaluatorContext::DELTA);
        }
        parser.expect(&[")"]);
    }
    let into = parser.into();
    let has_body = parser.tokens.is("{") || parser.tokens.is("(");
    let body = if has_body { parser.body() } else { Vec::new() };
    let element = parser.element("compare", &start).with("from", start.set()).with("into", into);
    if !has_body {
        parser.expect(&[";"]);
    }
    Some(parser.block(element, delta, body))
}

fn write(writer: &mut QlWriter, node: &ElementTreeNode, depth: usize) {
    let (delta, body) = writer.evaluator_and_body(node);
    let delta = if delta.is_empty() { "()".to_owned() } else { format!("(delta:{delta})") };
    let head = format!("{}compare{delta}{}", writer.before(&node.element), writer.result_text(&node.element));
    if body.is_empty() {
        writer.out.push_str(&head);
        writer.out.push(';');
    } else {
        writer.block(&head, body, depth);
    }
}
