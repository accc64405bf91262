//! The statement `complete(limit).from->.into { ... }`: repeats a block until it finds no new elements.

use super::body::fill;
use super::{Block, Statement, StatementGrammar, StatementProperties};
use crate::check::CheckContext;
use crate::check::numbers::integer;
use crate::code::OverpassCode;
use crate::parse::{QlParser, Start};
use crate::tree::SetName;
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// A block that is repeated until it finds no new elements.
#[derive(Debug, Clone, PartialEq)]
pub struct Complete {
    /// The set that the block adds to.
    pub from: SetName,
    /// The set in which the block gets the elements found so far.
    pub into: SetName,
    /// The maximum number of rounds.
    pub limit: u64,
    /// The block.
    pub body: Block,
}

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "complete",
        attributes: &["from", "into", "maxnum"],
        check,
        ..ElementSyntax::NONE
    }],
    words: &["complete"],
    set_first: false,
    read: |parser, start| parser.nested(|parser| read(parser, start)),
    write: |writer, node, depth| {
        let limit = node.element.get("maxnum");
        let limit = if limit.is_empty() { String::new() } else { format!("({limit})") };
        let head = format!("complete{limit}{}", writer.sets_behind(&node.element));
        let body = writer.evaluator_and_body(node).1;
        writer.block(&head, body, depth);
    },
};

impl StatementProperties for Complete {
    fn name(&self) -> &'static str {
        "complete"
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

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let (from, into) = context.sets();
    let limit = match context.element.get("maxnum") {
        "" => 4096,
        text => match integer(text) {
            n @ 1..=1_048_576 => n as u64,
            _ => {
                let message = "Maximum loop number for complete must be an integer between \"1\" and \"1048576\".";
                context.refuse(OverpassCode::BadValue, message);
                0
            }
        },
    };
    Some(ElementMeaning::Statement(Complete { from, into, limit, body: Vec::new() }.into()))
}

fn read(parser: &mut QlParser<'_>, mut start: Start) -> Option<ElementTreeNode> {
    parser.tokens.advance();
    let mut limit = String::new();
    start.from = parser.named_set();
    if start.from.is_none() && parser.tokens.is("(") {
        parser.tokens.advance();
        limit = parser.text("maximum loop number");
        parser.expect(&[")"]);
        start.from = parser.named_set();
    }
    let into = parser.into();
    let body = parser.body();
    let element = parser.element("complete", &start).with("from", start.set()).with("into", into);
    Some(parser.block(element.with("maxnum", limit), None, body))
}
