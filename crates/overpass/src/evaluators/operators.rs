//! Evaluates operators.

use std::cmp::Ordering;

use super::value::EvaluatorValue;
use crate::syntax::{BinaryOperator, UnaryOperator};
use terrapin_budget as budget;

/// Evaluates `!a` and `-a`.
pub(super) fn unary(operator: UnaryOperator, operand: &EvaluatorValue) -> EvaluatorValue {
    match operator {
        UnaryOperator::Not => EvaluatorValue::flag(!operand.is_true()),
        UnaryOperator::Minus => match (operand.int(), operand.float()) {
            (Some(value), _) => EvaluatorValue::Int(value.wrapping_neg()),
            (None, Some(value)) => EvaluatorValue::number(-value),
            (None, None) => EvaluatorValue::not_a_number(),
        },
    }
}

/// Evaluates binary operators except `a && b` and `a || b`, whose right side is only evaluated if necessary.
pub(super) fn binary(operator: BinaryOperator, a: &EvaluatorValue, b: &EvaluatorValue) -> EvaluatorValue {
    let is = |test: fn(Ordering) -> bool| EvaluatorValue::flag(a.compare(b).is_some_and(test));
    match operator {
        BinaryOperator::Or => EvaluatorValue::flag(a.is_true() || b.is_true()),
        BinaryOperator::And => EvaluatorValue::flag(a.is_true() && b.is_true()),
        BinaryOperator::Equal => is(Ordering::is_eq),
        BinaryOperator::NotEqual => EvaluatorValue::flag(a.compare(b).is_none_or(Ordering::is_ne)),
        BinaryOperator::Less => is(Ordering::is_lt),
        BinaryOperator::LessEqual => is(Ordering::is_le),
        BinaryOperator::Greater => is(Ordering::is_gt),
        BinaryOperator::GreaterEqual => is(Ordering::is_ge),
        BinaryOperator::Plus => match numbers(a, b) {
            NumericOperands::Ints(a, b) => EvaluatorValue::Int(a.wrapping_add(b)),
            NumericOperands::Floats(a, b) => EvaluatorValue::number(sum(a, b)),
            NumericOperands::None => EvaluatorValue::Text(concatenated(&a.to_text(), &b.to_text())),
        },
        BinaryOperator::Minus => match numbers(a, b) {
            NumericOperands::Ints(a, b) => EvaluatorValue::Int(a.wrapping_sub(b)),
            NumericOperands::Floats(a, b) => EvaluatorValue::number(defined(a - b, a, b)),
            NumericOperands::None => EvaluatorValue::not_a_number(),
        },
        BinaryOperator::Times => match numbers(a, b) {
            NumericOperands::Ints(a, b) => EvaluatorValue::Int(a.wrapping_mul(b)),
            NumericOperands::Floats(a, b) => EvaluatorValue::number(defined(a * b, b, a)),
            NumericOperands::None => EvaluatorValue::not_a_number(),
        },
        BinaryOperator::Divided => match (a.float(), b.float()) {
            (Some(a), Some(b)) => EvaluatorValue::number(defined(a / b, a, b)),
            _ => EvaluatorValue::not_a_number(),
        },
    }
}

fn concatenated(a: &str, b: &str) -> String {
    budget::charge((a.len() + b.len()) as u64);
    [a, b].concat()
}

enum NumericOperands {
    Ints(i64, i64),
    Floats(f64, f64),
    None,
}

fn numbers(a: &EvaluatorValue, b: &EvaluatorValue) -> NumericOperands {
    if let (Some(a), Some(b)) = (a.int(), b.int()) {
        return NumericOperands::Ints(a, b);
    }
    match (a.float(), b.float()) {
        (Some(a), Some(b)) => NumericOperands::Floats(a, b),
        _ => NumericOperands::None,
    }
}

/// Evaluates `a + b`.
pub(super) fn sum(a: f64, b: f64) -> f64 {
    defined(a + b, b, a)
}

/// Sets the sign of a NaN result. The standard leaves this sign to the processor, but it is printed. It is that of a
/// NaN operand, `a` before `b`; otherwise minus, as on x86.
fn defined(result: f64, a: f64, b: f64) -> f64 {
    if !result.is_nan() {
        result
    } else if a.is_nan() {
        a
    } else if b.is_nan() {
        b
    } else {
        f64::NAN.copysign(-1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calculated(a: &str, operator: BinaryOperator, b: &str) -> String {
        binary(operator, &EvaluatorValue::text(a), &EvaluatorValue::text(b)).into_text()
    }

    #[test]
    fn as_the_reference_calculates() {
        use BinaryOperator::*;
        for (a, operator, b, result) in [
            ("1", Plus, "2", "3"),
            ("1", Plus, "a", "1a"),
            ("", Plus, "1", "1"),
            ("0.1", Plus, "0.2", "0.3"),
            ("9223372036854775807", Plus, "1", "-9223372036854775808"),
            ("1 ", Plus, "1", "1 1"),
            ("1e3", Minus, "1", "999"),
            ("", Minus, "1", "NaN"),
            ("7", Divided, "2", "3.5"),
            ("6", Divided, "2", "3"),
            ("1", Divided, "0", "inf"),
            ("0", Divided, "0", "-nan"),
            ("nan", Times, "2", "nan"),
            ("nan", Times, "-nan", "-nan"),
            ("nan", Plus, "-nan", "-nan"),
            ("-nan", Plus, "nan", "nan"),
            ("-nan", Minus, "nan", "-nan"),
            ("nan", Divided, "-nan", "nan"),
            ("inf", Minus, "inf", "-nan"),
            ("1.0", Times, "1", "1"),
            ("10", Less, "9", "0"),
            ("10", Less, "9a", "1"),
            ("nan", NotEqual, "nan", "1"),
            ("1", Equal, "1.0", "1"),
        ] {
            assert_eq!(calculated(a, operator, b), result, "{a} {operator:?} {b}");
        }
    }
}
