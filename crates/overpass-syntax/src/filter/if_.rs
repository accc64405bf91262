//! The filter `(if:...)`: elements for which an evaluator is true.

use super::{Clause, FilterGrammar, FilterProperties};
use crate::code::OverpassCode;
use crate::parse::{EvaluatorContext, QlParser};
use crate::tree::EvaluatorExpression;
use crate::writer::expression;
use crate::{Alone, ElementMeaning, ElementSyntax, ElementTreeNode};

/// Elements for which an evaluator is true.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The evaluator.
    pub holds: EvaluatorExpression,
}

pub(super) const SYNTAX: FilterGrammar = FilterGrammar {
    form: ElementSyntax {
        name: "filter",
        check: |context| {
            let (kind, alone) = (Condition { holds: EvaluatorExpression::default() }.into(), Alone::Ignored);
            Some(ElementMeaning::Filter { kind, alone, into: context.sets().1 })
        },
        ..ElementSyntax::NONE
    },
    words: &["if"],
    read,
    text: |node| Some(format!("(if:{})", node.children.first().map(expression::write).unwrap_or_default())),
    keeps_into: false,
    ..FilterGrammar::NONE
};

impl FilterProperties for Condition {
    fn expression(&self) -> Option<&EvaluatorExpression> {
        Some(&self.holds)
    }

    fn incomplete(&self, children: &[ElementTreeNode]) -> Option<(OverpassCode, String)> {
        if children.len() > 1 {
            let message = "A filter statement can have at most one evaluator statement.";
            return Some((OverpassCode::WrongEvaluator, message.to_owned()));
        }
        let none = !children.first().is_some_and(ElementTreeNode::is_evaluator);
        none.then(|| (OverpassCode::IncompleteStatement, "Element \"filter\" needs an evaluator.".to_owned()))
    }

    fn fill(&mut self, children: Vec<ElementTreeNode>) -> Option<()> {
        self.holds = children.into_iter().next()?.expression()?;
        Some(())
    }
}

fn read<'a>(parser: &mut QlParser<'a>, clause: &Clause<'_, 'a>) -> Option<ElementTreeNode> {
    let element = clause.element("filter");
    let mut node = parser.builder.open(element);
    match parser.evaluate(clause.tree, clause.tree.at(clause.tree.root).right, EvaluatorContext::FILTER) {
        Some(evaluator) => parser.builder.add(&mut node, evaluator),
        None if parser.builder.diagnostics.is_empty() => {
            // The reference accepts a set without a key.
            let message = "A set needs a key after its point: \"set.key\"";
            clause.refuse(parser, OverpassCode::MissingOperand, message);
        }
        None if parser.builder.converting => return None,
        None => {}
    }
    Some(node)
}
