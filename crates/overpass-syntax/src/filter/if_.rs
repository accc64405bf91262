//! The filter `(if:...)`: elements for which an evaluator is true.

use super::{Clause, Facts, Syntax};
use crate::code::Code;
use crate::convert::expression;
use crate::parse::{EvaluatorContext, Parser};
use crate::tree::Expr;
use crate::{Alone, Form, Node, Part};

/// Elements for which an evaluator is true.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The evaluator.
    pub holds: Expr,
}

pub(super) const SYNTAX: Syntax = Syntax {
    form: Form {
        name: "filter",
        check: |context| {
            let (kind, alone) = (Condition { holds: Expr::default() }.into(), Alone::Ignored);
            Some(Part::Filter { kind, alone, into: context.sets().1 })
        },
        ..Form::NONE
    },
    words: &["if"],
    read,
    text: |node| Some(format!("(if:{})", node.children.first().map(expression::write).unwrap_or_default())),
    keeps_into: false,
    ..Syntax::NONE
};

impl Facts for Condition {
    fn expression(&self) -> Option<&Expr> {
        Some(&self.holds)
    }

    fn incomplete(&self, children: &[Node]) -> Option<(Code, String)> {
        if children.len() > 1 {
            let message = "A filter statement can have at most one evaluator statement.";
            return Some((Code::WrongEvaluator, message.to_owned()));
        }
        let none = !children.first().is_some_and(Node::is_evaluator);
        none.then(|| (Code::IncompleteStatement, "Element \"filter\" needs an evaluator.".to_owned()))
    }

    fn fill(&mut self, children: Vec<Node>) -> Option<()> {
        self.holds = children.into_iter().next()?.expression()?;
        Some(())
    }
}

fn read<'a>(parser: &mut Parser<'a>, clause: &Clause<'_, 'a>) -> Option<Node> {
    let element = clause.element(parser, "filter");
    let mut node = parser.builder.open(element);
    match parser.evaluate(clause.tree, clause.tree.at(clause.tree.root).right, EvaluatorContext::FILTER) {
        Some(evaluator) => parser.builder.add(&mut node, evaluator),
        None if parser.builder.diagnostics.is_empty() => {
            // The reference accepts a set without a key.
            let message = "A set needs a key after its point: \"set.key\"";
            clause.refuse(parser, Code::MissingOperand, message);
        }
        None if parser.builder.converting => return None,
        None => {}
    }
    Some(node)
}
