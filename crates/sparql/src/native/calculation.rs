//! Arithmetic without the evaluator, which would format and parse every number several times. Values that are not
//! numbers, and errors, are left to the evaluator.

use oxrdf::Variable;

use super::operand::Slot;
use crate::functions::arguments_of;
use crate::functions::numbers::{ArithmeticOperation, Number};
use terrapin_budget as budget;
use terrapin_sparql_syntax::algebra::{Binary, Expression, Function, OwnFunction, Unary};
use terrapin_triples::{ReadError, TermId, TripleView};

/// A numeric expression.
#[derive(Debug)]
pub enum Calculation {
    /// The value of a variable.
    Slot(Slot),
    /// A constant.
    Constant(Number),
    /// An operation on two numbers.
    Two(ArithmeticOperation, Box<Calculation>, Box<Calculation>),
    /// A function of a number.
    One(fn(&Number) -> Option<Number>, Box<Calculation>),
}

impl Calculation {
    /// Compiles an expression if it is arithmetic. `slot` returns the slot of a variable.
    pub fn of(expression: &Expression, slot: &impl Fn(&Variable) -> Option<Slot>) -> Option<Calculation> {
        let boxed = |expression: &Expression| Calculation::of(expression, slot).map(Box::new);
        Some(match expression {
            Expression::Variable(variable) => Calculation::Slot(slot(variable)?),
            Expression::Literal(literal) => Calculation::Constant(Number::of_literal(literal)?),
            Expression::Unary(Unary::Minus, inner) => Calculation::One(Number::negated, boxed(inner)?),
            Expression::Binary(operator, a, b) => {
                let operation = match operator {
                    Binary::Add => ArithmeticOperation::Plus,
                    Binary::Subtract => ArithmeticOperation::Minus,
                    Binary::Multiply => ArithmeticOperation::Times,
                    Binary::Divide => ArithmeticOperation::Over,
                    _ => return None,
                };
                Calculation::Two(operation, boxed(a)?, boxed(b)?)
            }
            Expression::Call(function, arguments) => {
                let of_one = match function {
                    Function::Abs => Number::abs,
                    Function::Ceil => Number::ceil,
                    Function::Floor => Number::floor,
                    Function::Round => Number::round,
                    _ => return None,
                };
                Calculation::One(of_one, boxed(arguments.first()?)?)
            }
            // A difference that may be one of dates (`rewrite/expressions.rs`). For numbers, the standard operator
            // applies.
            Expression::Coalesce(ways) => match &ways[..] {
                [standard, ours] if arguments_of(ours, OwnFunction::Minus).is_some() => {
                    match arguments_of(standard, OwnFunction::InDays)? {
                        [difference] => Calculation::of(difference, slot)?,
                        _ => return None,
                    }
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Returns the value; `None` if the evaluator must decide.
    ///
    /// # Errors
    /// Returns an error if the snapshot is damaged.
    pub fn value(
        &self,
        view: &TripleView,
        value: &impl Fn(Slot) -> Option<TermId>,
    ) -> Result<Option<Number>, ReadError> {
        budget::checkpoint();
        Ok(match self {
            Calculation::Slot(slot) => match value(*slot) {
                Some(id) => Number::of(&view.term(id)?),
                None => None,
            },
            Calculation::Constant(number) => Some(number.clone()),
            Calculation::Two(operation, a, b) => match (a.value(view, value)?, b.value(view, value)?) {
                (Some(a), Some(b)) => a.calculate(*operation, &b),
                _ => None,
            },
            Calculation::One(function, inner) => inner.value(view, value)?.and_then(|number| function(&number)),
        })
    }

    /// Returns whether this is an operation, not a variable or a constant.
    pub fn is_operation(&self) -> bool {
        matches!(self, Calculation::Two(..) | Calculation::One(..))
    }
}

/// A comparison of two numeric expressions.
#[derive(Debug)]
pub struct CalculatedComparison {
    left: Calculation,
    operator: Binary,
    right: Calculation,
}

impl CalculatedComparison {
    /// Compiles an expression if it is such a comparison.
    pub fn of(expression: &Expression, slot: impl Fn(&Variable) -> Option<Slot>) -> Option<CalculatedComparison> {
        let Expression::Binary(operator, left, right) = expression else { return None };
        match operator {
            Binary::Equal | Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual => {}
            _ => return None,
        }
        let (left, right) = (Calculation::of(left, &slot)?, Calculation::of(right, &slot)?);
        Some(CalculatedComparison { left, operator: *operator, right })
    }

    /// Returns whether the comparison holds; `None` if the evaluator must decide.
    ///
    /// # Errors
    /// Returns an error if the snapshot is damaged.
    pub fn holds(&self, view: &TripleView, value: impl Fn(Slot) -> Option<TermId>) -> Result<Option<bool>, ReadError> {
        let (Some(left), Some(right)) = (self.left.value(view, &value)?, self.right.value(view, &value)?) else {
            return Ok(None);
        };
        let Some(order) = left.compare(&right) else { return Ok(Some(false)) };
        Ok(match self.operator {
            Binary::Equal => Some(order.is_eq()),
            Binary::Less => Some(order.is_lt()),
            Binary::LessOrEqual => Some(order.is_le()),
            Binary::Greater => Some(order.is_gt()),
            Binary::GreaterOrEqual => Some(order.is_ge()),
            _ => None,
        })
    }
}
