//! Comparisons of numbers, times and parts of dates by the codes of terms. Most filters on values have this form, and
//! decoding terms for the evaluator takes many times as long. Other cases are left to the evaluator.

use std::cmp::Ordering;

use oxrdf::{TermRef, Variable};

use super::operand::Slot;
use crate::functions::arguments_of;
use terrapin_sparql_syntax::algebra::{Binary, Expression, Function, OwnFunction};
use terrapin_triples::{DatePart, ExactNumber, TermCode, TermId, TripleView};

/// A value with an order: numbers are comparable to each other, and so are times.
#[derive(Debug, Clone, Copy)]
enum ComparableValue {
    Number(ExactNumber),
    Moment(u64),
}

impl ComparableValue {
    fn of(code: TermCode) -> Option<ComparableValue> {
        code.exact().map(ComparableValue::Number).or_else(|| code.moment().map(ComparableValue::Moment))
    }

    fn cmp(&self, other: &ComparableValue) -> Option<Ordering> {
        match (self, other) {
            (ComparableValue::Number(a), ComparableValue::Number(b)) => Some(a.cmp(b)),
            (ComparableValue::Moment(a), ComparableValue::Moment(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
enum Quantity {
    /// A constant number or time.
    Value(ComparableValue),
    /// The value of a variable.
    Slot(Slot),
    /// A part of a date in a variable.
    Part(DatePart, Slot),
}

/// A comparison of two quantities.
#[derive(Debug)]
pub struct QuantityComparison {
    left: Quantity,
    operator: Binary,
    right: Quantity,
}

impl QuantityComparison {
    /// Compiles an expression if it is a comparison of quantities. `slot` returns the slot of a variable.
    pub fn of(expression: &Expression, slot: impl Fn(&Variable) -> Option<Slot>) -> Option<QuantityComparison> {
        let Expression::Binary(operator, left, right) = as_written(expression) else { return None };
        match operator {
            Binary::Equal | Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {}
            _ => return None,
        }
        let (left, right) = (quantity(left, &slot)?, quantity(right, &slot)?);
        Some(QuantityComparison { left, operator: *operator, right })
    }

    /// Returns whether the comparison holds; `None` if the evaluator must decide.
    pub fn holds(&self, view: &TripleView, value: impl Fn(Slot) -> Option<TermId>) -> Option<bool> {
        let known = |quantity: &Quantity| match *quantity {
            Quantity::Value(value) => Some(value),
            Quantity::Slot(slot) => ComparableValue::of(view.code(value(slot)?)?),
            Quantity::Part(part, slot) => view.code(value(slot)?)?.date_part(part).map(ComparableValue::Number),
        };
        let order = known(&self.left)?.cmp(&known(&self.right)?)?;
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

/// Returns whether an expression is a comparison that was rewritten because one side is a date.
pub fn is_dated(expression: &Expression) -> bool {
    !std::ptr::eq(as_written(expression), expression)
}

/// Returns the standard comparison inside a rewritten one. Comparisons with a date also compare moments if the
/// standard's comparison gives no result (`rewrite/expressions.rs`). For two times, both comparisons agree.
fn as_written(expression: &Expression) -> &Expression {
    let (standard, ours) = match expression {
        Expression::Binary(Binary::Or, standard, ours) => (&**standard, &**ours),
        Expression::Coalesce(ways) => match &ways[..] {
            [standard, ours] => (standard, ours),
            _ => return expression,
        },
        _ => return expression,
    };
    let Expression::Binary(operator, left, right) = standard else { return expression };
    let own = match operator {
        Binary::Equal => OwnFunction::Equal,
        Binary::Less => OwnFunction::Less,
        Binary::LessOrEqual => OwnFunction::LessOrEqual,
        Binary::Greater => OwnFunction::Greater,
        Binary::GreaterOrEqual => OwnFunction::GreaterOrEqual,
        _ => return expression,
    };
    match arguments_of(ours, own) {
        Some([a, b]) if *a == **left && *b == **right => standard,
        _ => expression,
    }
}

fn quantity(expression: &Expression, slot: &impl Fn(&Variable) -> Option<Slot>) -> Option<Quantity> {
    match expression {
        Expression::Variable(variable) => slot(variable).map(Quantity::Slot),
        Expression::Literal(literal) => {
            ComparableValue::of(TermCode::of(TermRef::from(literal.as_ref()))?).map(Quantity::Value)
        }
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
