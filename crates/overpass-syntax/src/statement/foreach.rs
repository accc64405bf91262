//! The statement `foreach.from->.into { ... }`: runs a block for each element of a set.

use super::body::fill;
use super::{Block, Statement, StatementGrammar, StatementProperties};
use crate::parse::{QlParser, Start};
use crate::tree::SetName;
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// A block for each element of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct Foreach {
    /// The set.
    pub from: SetName,
    /// The set in which the block gets the element.
    pub into: SetName,
    /// The block.
    pub body: Block,
}

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "foreach",
        attributes: &["from", "into"],
        check: |context| {
            let (from, into) = context.sets();
            Some(ElementMeaning::Statement(Foreach { from, into, body: Vec::new() }.into()))
        },
        ..ElementSyntax::NONE
    }],
    words: &["foreach"],
    set_first: false,
    read: |parser, start| parser.nested(|parser| read(parser, start)),
    write: |writer, node, depth| {
        let head = format!("foreach{}", writer.sets_behind(&node.element));
        let body = writer.evaluator_and_body(node).1;
        writer.block(&head, body, depth);
    },
};

impl StatementProperties for Foreach {
    fn name(&self) -> &'static str {
        "foreach"
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

    fn takes(&self, child: &ElementMeaning) -> bool {
        child.fits_in_block()
    }

    fn fill(&mut self, children: Vec<ElementTreeNode>) -> Option<()> {
        fill(&mut self.body, children)
    }
}

fn read(parser: &mut QlParser<'_>, mut start: Start) -> Option<ElementTreeNode> {
    parser.tokens.advance();
    start.from = parser.named_set();
    let into = parser.into();
    let body = parser.body();
    let element = parser.element("foreach", &start).with("from", start.set()).with("into", into);
    Some(parser.block(element, None, body))
}
