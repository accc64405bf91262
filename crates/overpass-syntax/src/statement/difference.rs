//! The statement `( base; - minus; )->.into`. It is parsed like a union with a minus sign (`union.rs`).

use super::body::fill;
use super::union::{is_operand, write};
use super::{Block, Statement, StatementGrammar, StatementProperties};
use crate::code::OverpassCode;
use crate::tree::SetName;
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// The result of a statement without the result of another one. As in the reference, either can be missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The statements.
    pub operands: Block,
    /// The set for the result.
    pub into: SetName,
}

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "difference",
        attributes: &["into"],
        check: |context| {
            Some(ElementMeaning::Statement(Difference { operands: Vec::new(), into: context.sets().1 }.into()))
        },
        ..ElementSyntax::NONE
    }],
    words: &[],
    set_first: false,
    read: |_, _| None,
    write: |writer, node, depth| write(writer, node, depth, true),
};

impl StatementProperties for Difference {
    fn name(&self) -> &'static str {
        "difference"
    }

    fn result_set(&self) -> Option<&SetName> {
        Some(&self.into)
    }

    fn blocks(&self) -> [&[Statement]; 2] {
        [&self.operands, &[]]
    }

    fn takes(&self, child: &ElementMeaning) -> bool {
        is_operand(child)
    }

    fn wants_results(&self) -> bool {
        true
    }

    fn incomplete(&self, children: &[ElementTreeNode]) -> Option<(OverpassCode, String)> {
        let message = "A set difference always requires exactly two substatements: the set of elements to copy to the result minus the set of elements to leave out in the result.";
        (children.len() > 2).then(|| (OverpassCode::DifferenceOperands, message.to_owned()))
    }

    fn fill(&mut self, children: Vec<ElementTreeNode>) -> Option<()> {
        fill(&mut self.operands, children)
    }
}
