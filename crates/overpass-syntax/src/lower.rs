//! Converts evaluators from checked elements to the tree. Missing parts were already reported. If the checks overlooked
//! one, the result is an error, never a panic.

use super::element::Evaluator;
use super::tree::*;
use crate::{ElementMeaning, ElementTreeNode};

impl ElementTreeNode {
    /// Converts an evaluator and its operands to the tree.
    pub fn expression(self) -> Option<EvaluatorExpression> {
        let span = self.element.span;
        let ElementMeaning::Evaluator(kind) = self.part else { return None };
        let mut operands = self.children.into_iter();
        let mut next = || operands.next().and_then(ElementTreeNode::expression);
        let kind = match kind {
            Evaluator::Fixed(value) => ExprKind::Fixed(value),
            Evaluator::Generic => ExprKind::GenericTag,
            Evaluator::SetKey { set, key } => ExprKind::SetKey { set, key },
            Evaluator::Tag => ExprKind::Tag(Box::new(next()?)),
            Evaluator::Unary(operator) => ExprKind::Unary { operator, operand: Box::new(next()?) },
            Evaluator::Binary(operator) => {
                ExprKind::Binary { operator, left: Box::new(next()?), right: Box::new(next()?) }
            }
            Evaluator::Ternary => ExprKind::Ternary {
                condition: Box::new(next()?),
                then: Box::new(next()?),
                otherwise: Box::new(next()?),
            },
            Evaluator::Call { function, set, words } => {
                let mut args: Vec<EvaluatorExpression> =
                    words.into_iter().map(|word| EvaluatorExpression { span, kind: ExprKind::Fixed(word) }).collect();
                for operand in operands {
                    args.push(operand.expression()?);
                }
                ExprKind::Call { function, set, args }
            }
        };
        Some(EvaluatorExpression { span, kind })
    }
}
