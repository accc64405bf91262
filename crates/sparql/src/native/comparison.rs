//! Comparisons of numbers and of the parts of dates, decided by the codes of terms: most filters of values are such, and
//! making terms for the evaluator takes many times as long. What is not decided here is the evaluator's.

use oxrdf::{TermRef, Variable};

use super::operand::Slot;
use terrapin_sparql_syntax::algebra::{Binary, Expression, Function};
use terrapin_triples::{Code, DatePart, Exact, TermId, View};

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
enum Quantity {
    /// A number.
    Value(Exact),
    /// A variable's.
    Slot(Slot),
    /// A part of a variable's date.
    Part(DatePart, Slot),
}

/// A comparison of two quantities.
#[derive(Debug)]
pub struct Comparison {
    left: Quantity,
    operator: Binary,
    right: Quantity,
}

impl Comparison {
    /// The comparison that an expression is, if it is one of quantities; `slot` says where a variable's value stands.
    pub fn of(expression: &Expression, slot: impl Fn(&Variable) -> Option<Slot>) -> Option<Comparison> {
        let Expression::Binary(operator, left, right) = expression else { return None };
        match operator {
            Binary::Equal | Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {}
            _ => return None,
        }
        let (left, right) = (quantity(left, &slot)?, quantity(right, &slot)?);
        Some(Comparison { left, operator: *operator, right })
    }

    /// Whether it holds; nothing where that is the evaluator's to say.
    pub fn holds(&self, view: &View, value: impl Fn(Slot) -> Option<TermId>) -> Option<bool> {
        let exact = |quantity: &Quantity| match *quantity {
            Quantity::Value(exact) => Some(exact),
            Quantity::Slot(slot) => view.code(value(slot)?)?.exact(),
            Quantity::Part(part, slot) => view.code(value(slot)?)?.date_part(part),
        };
        let order = exact(&self.left)?.cmp(&exact(&self.right)?);
        match self.operator {
            Binary::Equal => Some(order.is_eq()),
            Binary::Less => Some(order.is_lt()),
            Binary::LessOrEqual => Some(order.is_le()),
            Binary::Greater => Some(order.is_gt()),
            Binary::GreaterOrEqual => Some(order.is_ge()),
            _ => None,
        }
    }
}

fn quantity(expression: &Expression, slot: &impl Fn(&Variable) -> Option<Slot>) -> Option<Quantity> {
    match expression {
        Expression::Variable(variable) => slot(variable).map(Quantity::Slot),
        Expression::Literal(literal) => Code::of(TermRef::from(literal.as_ref()))?.exact().map(Quantity::Value),
        Expression::Call(function, arguments) => {
            let part = match function {
                Function::Year => DatePart::Year,
                Function::Month => DatePart::Month,
                Function::Day => DatePart::Day,
                _ => return None,
            };
            match arguments.as_slice() {
                [Expression::Variable(variable)] => Some(Quantity::Part(part, slot(variable)?)),
                _ => None,
            }
        }
        _ => None,
    }
}
