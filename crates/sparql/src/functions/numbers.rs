//! The numeric types of SPARQL and their arithmetic: integers, decimals, floats and doubles. Operands are converted to
//! the later of their two types in this list. Integers and decimals have any size. If they fit, the evaluator's types
//! are used, which keeps most calculations fast.

use std::cmp::Ordering;

use num_bigint::BigInt;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term};
use oxsdatatypes::{Decimal, Double, Float, Integer};

use super::wide::{WHOLE, WideDecimal};
use crate::order::is_numeric;

/// A number of any numeric type.
#[derive(Debug, Clone)]
pub(crate) enum Number {
    Integer(Integer),
    Decimal(Decimal),
    /// An integer that does not fit into 64 bits.
    WideInteger(WideDecimal),
    /// A decimal that does not fit into the evaluator's type.
    WideDecimal(WideDecimal),
    Float(Float),
    Double(Double),
}

/// An arithmetic operation on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArithmeticOperation {
    Plus,
    Minus,
    Times,
    Over,
}

/// The operands of an operation, converted to a common type.
enum Operands {
    Exact,
    Float(Float, Float),
    Double(Double, Double),
}

impl Number {
    /// Returns the integer 0.
    pub fn zero() -> Number {
        Number::Integer(Integer::from(0))
    }

    /// Returns the number of a term; `None` if it is not numeric.
    pub fn of(term: &Term) -> Option<Number> {
        match term {
            Term::Literal(literal) => Number::of_literal(literal),
            _ => None,
        }
    }

    /// Returns the number of a literal; `None` if it is not numeric.
    pub fn of_literal(literal: &Literal) -> Option<Number> {
        let (value, datatype) = (literal.value(), literal.datatype());
        if !is_numeric(datatype) {
            return None;
        }
        match datatype.as_str().rsplit_once('#')?.1 {
            "decimal" => Number::decimal(value),
            "float" => value.parse().ok().map(Number::Float),
            "double" => value.parse().ok().map(Number::Double),
            _ => Number::integer(value),
        }
    }

    /// Converts a truth value to 0 or 1.
    pub fn truth(value: bool) -> Number {
        Number::Integer(i64::from(value).into())
    }

    /// Parses an integer.
    pub fn integer(text: &str) -> Option<Number> {
        if let Ok(value) = text.parse() {
            return Some(Number::Integer(value));
        }
        if text.contains('.') {
            return None;
        }
        WideDecimal::parse(text).map(|value| Number::exact(value, true))
    }

    /// Parses a decimal.
    pub fn decimal(text: &str) -> Option<Number> {
        match text.parse() {
            Ok(value) => Some(Number::Decimal(value)),
            Err(_) => WideDecimal::parse(text).map(|value| Number::exact(value, false)),
        }
    }

    /// Returns a value in the narrowest variant that can hold it.
    fn exact(value: WideDecimal, integer: bool) -> Number {
        let small = value.small();
        if integer {
            let narrow = small.and_then(|(digits, scale)| i64::try_from(digits).ok().filter(|_| scale == 0));
            return narrow.map_or(Number::WideInteger(value), |value| Number::Integer(value.into()));
        }
        let narrow = small.and_then(|(digits, scale)| Decimal::new(digits, scale).ok());
        narrow.map_or(Number::WideDecimal(value), Number::Decimal)
    }

    /// Returns a whole number as an integer.
    pub fn whole(value: BigInt) -> Number {
        Number::exact(WideDecimal::whole(value), true)
    }

    /// Returns the exact value of an integer or a decimal; `None` for a float or a double.
    fn wide(&self) -> Option<WideDecimal> {
        match self {
            Number::Integer(value) => Some(WideDecimal::whole(i64::from(*value).into())),
            Number::Decimal(value) => WideDecimal::parse(&value.to_string()),
            Number::WideInteger(value) | Number::WideDecimal(value) => Some(value.clone()),
            Number::Float(_) | Number::Double(_) => None,
        }
    }

    fn is_integer(&self) -> bool {
        matches!(self, Number::Integer(_) | Number::WideInteger(_))
    }

    /// Converts the number to a term.
    pub fn term(&self) -> Term {
        match self {
            Number::Integer(value) => Literal::from(*value),
            Number::Decimal(value) => Literal::from(*value),
            Number::WideInteger(value) => Literal::new_typed_literal(value.to_string(), xsd::INTEGER),
            Number::WideDecimal(value) => Literal::new_typed_literal(value.to_string(), xsd::DECIMAL),
            Number::Float(value) => Literal::from(*value),
            Number::Double(value) => Literal::from(*value),
        }
        .into()
    }

    fn operands(&self, other: &Number) -> Operands {
        match (self, other) {
            (Number::Double(_), _) | (_, Number::Double(_)) => Operands::Double(self.double(), other.double()),
            (Number::Float(_), _) | (_, Number::Float(_)) => Operands::Float(self.float(), other.float()),
            _ => Operands::Exact,
        }
    }

    /// Returns the result of an operation; `None` if an integer or a decimal is divided by 0 or the result would be too
    /// large.
    pub fn calculate(&self, operation: ArithmeticOperation, other: &Number) -> Option<Number> {
        match self.operands(other) {
            Operands::Exact => self.small(operation, other).or_else(|| self.large(operation, other)),
            Operands::Float(a, b) => Some(Number::Float(match operation {
                ArithmeticOperation::Plus => a + b,
                ArithmeticOperation::Minus => a - b,
                ArithmeticOperation::Times => a * b,
                ArithmeticOperation::Over => a / b,
            })),
            Operands::Double(a, b) => Some(Number::Double(match operation {
                ArithmeticOperation::Plus => a + b,
                ArithmeticOperation::Minus => a - b,
                ArithmeticOperation::Times => a * b,
                ArithmeticOperation::Over => a / b,
            })),
        }
    }

    /// Returns the result of an operation if operands and result fit the evaluator's types.
    fn small(&self, operation: ArithmeticOperation, other: &Number) -> Option<Number> {
        let decimal = |number: &Number| match number {
            Number::Integer(value) => Some(Decimal::from(*value)),
            Number::Decimal(value) => Some(*value),
            _ => None,
        };
        if let (Number::Integer(a), Number::Integer(b)) = (self, other) {
            return Some(match operation {
                ArithmeticOperation::Plus => Number::Integer(a.checked_add(*b)?),
                ArithmeticOperation::Minus => Number::Integer(a.checked_sub(*b)?),
                ArithmeticOperation::Times => Number::Integer(a.checked_mul(*b)?),
                ArithmeticOperation::Over => Number::Decimal(Decimal::from(*a).checked_div(*b)?),
            });
        }
        let (a, b) = (decimal(self)?, decimal(other)?);
        Some(Number::Decimal(match operation {
            ArithmeticOperation::Plus => a.checked_add(b)?,
            ArithmeticOperation::Minus => a.checked_sub(b)?,
            ArithmeticOperation::Times => a.checked_mul(b)?,
            ArithmeticOperation::Over => a.checked_div(b)?,
        }))
    }

    #[cold]
    fn large(&self, operation: ArithmeticOperation, other: &Number) -> Option<Number> {
        let (a, b) = (self.wide()?, other.wide()?);
        let integer = self.is_integer() && other.is_integer() && operation != ArithmeticOperation::Over;
        let value = match operation {
            ArithmeticOperation::Plus => a.plus(&b),
            ArithmeticOperation::Minus => a.minus(&b),
            ArithmeticOperation::Times => a.times(&b),
            ArithmeticOperation::Over => a.over(&b),
        };
        value.map(|value| Number::exact(value, integer))
    }

    /// Returns the sum; `None` if it is too large.
    pub fn plus(&self, other: &Number) -> Option<Number> {
        self.calculate(ArithmeticOperation::Plus, other)
    }

    /// Divides by a count that is not zero. The quotient of an integer is a decimal.
    pub fn over(&self, count: i64) -> Option<Number> {
        self.calculate(ArithmeticOperation::Over, &Number::Integer(count.into()))
    }

    /// Compares two numbers; returns `None` if one is NaN.
    pub fn compare(&self, other: &Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Integer(a), Number::Integer(b)) => a.partial_cmp(b),
            (Number::Decimal(a), Number::Decimal(b)) => a.partial_cmp(b),
            _ => match self.operands(other) {
                Operands::Float(a, b) => a.partial_cmp(&b),
                Operands::Double(a, b) => a.partial_cmp(&b),
                Operands::Exact => Some(self.wide()?.cmp(&other.wide()?)),
            },
        }
    }

    /// Returns the number with the opposite sign.
    pub fn negated(&self) -> Option<Number> {
        match self {
            Number::Float(value) => Some(Number::Float(-*value)),
            Number::Double(value) => Some(Number::Double(-*value)),
            number => Number::zero().calculate(ArithmeticOperation::Minus, number),
        }
    }

    /// Returns the absolute value.
    pub fn abs(&self) -> Option<Number> {
        Some(match self {
            Number::Float(value) => Number::Float(value.abs()),
            Number::Double(value) => Number::Double(value.abs()),
            number => Number::exact(number.wide()?.abs(), number.is_integer()),
        })
    }

    /// Rounds to a whole number of the same type: decimals with `exact`, floats and doubles with `double`.
    fn made_whole(&self, exact: fn(&WideDecimal) -> BigInt, double: fn(Double) -> Double) -> Option<Number> {
        Some(match self {
            Number::Integer(_) | Number::WideInteger(_) => self.clone(),
            Number::Decimal(_) | Number::WideDecimal(_) => {
                Number::exact(WideDecimal::whole(exact(&self.wide()?)), false)
            }
            Number::Float(value) => Number::Float(double(Double::from(*value)).into()),
            Number::Double(value) => Number::Double(double(*value)),
        })
    }

    /// Rounds to the nearest whole number, and half-way cases up.
    pub fn round(&self) -> Option<Number> {
        self.made_whole(WideDecimal::round, nearest)
    }

    /// Returns the smallest whole number that is not smaller.
    pub fn ceil(&self) -> Option<Number> {
        self.made_whole(WideDecimal::ceil, Double::ceil)
    }

    /// Returns the largest whole number that is not larger.
    pub fn floor(&self) -> Option<Number> {
        self.made_whole(WideDecimal::floor, Double::floor)
    }

    /// Converts to an integer by truncation.
    pub fn to_integer(&self) -> Option<Number> {
        match self {
            Number::Integer(_) | Number::WideInteger(_) => Some(self.clone()),
            Number::Decimal(_) | Number::WideDecimal(_) => Some(Number::whole(self.wide()?.truncated())),
            Number::Float(_) | Number::Double(_) => {
                let value = f64::from(self.double()).trunc();
                WideDecimal::from_double(value).map(|value| Number::whole(value.truncated()))
            }
        }
    }

    /// Converts to a decimal.
    pub fn to_decimal(&self) -> Option<Number> {
        let value = match self {
            Number::Float(_) | Number::Double(_) => {
                let value = self.double();
                if f64::from(value).abs() < WHOLE {
                    return Decimal::try_from(value).ok().map(Number::Decimal);
                }
                WideDecimal::from_double(value.into())
            }
            number => number.wide(),
        };
        value.map(|value| Number::exact(value, false))
    }

    /// Converts to a double.
    pub fn double(&self) -> Double {
        match self {
            Number::Integer(value) => (*value).into(),
            Number::Decimal(value) => (*value).into(),
            Number::WideInteger(value) | Number::WideDecimal(value) => {
                value.to_string().parse::<f64>().unwrap_or(f64::NAN).into()
            }
            Number::Float(value) => (*value).into(),
            Number::Double(value) => *value,
        }
    }

    /// Converts to a float.
    pub fn float(&self) -> Float {
        match self {
            Number::Integer(value) => (*value).into(),
            Number::Decimal(value) => (*value).into(),
            Number::WideInteger(value) | Number::WideDecimal(value) => {
                value.to_string().parse::<f32>().unwrap_or(f32::NAN).into()
            }
            Number::Float(value) => *value,
            Number::Double(value) => (*value).into(),
        }
    }

    /// Returns the effective boolean value: true unless the number is 0 or NaN.
    pub fn is_truth(&self) -> bool {
        match self {
            Number::Integer(value) => *value != Integer::from(0),
            Number::Decimal(value) => *value != Decimal::default(),
            Number::WideInteger(value) | Number::WideDecimal(value) => !value.is_zero(),
            Number::Float(_) | Number::Double(_) => {
                let value = f64::from(self.double());
                value != 0.0 && !value.is_nan()
            }
        }
    }

    /// Returns a hash key, the bits of the value as a double. Equal numbers have the same key. Returns `None` for
    /// floats and NaN.
    pub fn bucket(&self) -> Option<u64> {
        match self {
            Number::Float(_) => None,
            number => {
                let value = f64::from(number.double());
                // -0 and 0 are the same number.
                (!value.is_nan()).then(|| (value + 0.0).to_bits())
            }
        }
    }
}

/// Rounds to the nearest whole number, and half-way cases up (<https://www.w3.org/TR/xpath-functions-31/#func-round>).
fn nearest(value: Double) -> Double {
    let value = f64::from(value);
    let away_from_zero = value.round();
    let nearest = if value - away_from_zero == 0.5 { away_from_zero + 1.0 } else { away_from_zero };
    nearest.copysign(value).into()
}

#[cfg(test)]
mod tests {
    use oxrdf::NamedNodeRef;

    use super::*;

    fn number(value: &str, datatype: NamedNodeRef<'_>) -> Number {
        Number::of(&Literal::new_typed_literal(value, datatype).into()).unwrap()
    }

    fn text(number: Option<Number>) -> String {
        number.map_or("none".to_owned(), |number| {
            number.term().to_string().replace("http://www.w3.org/2001/XMLSchema#", "")
        })
    }

    #[test]
    fn the_wider_kind_wins() {
        let sum = |a: &Number, b: &Number| text(a.plus(b));
        let one = number("1", xsd::INT);
        assert_eq!(sum(&one, &one), "\"2\"^^<integer>");
        assert_eq!(sum(&one, &number("0.5", xsd::DECIMAL)), "\"1.5\"^^<decimal>");
        assert_eq!(sum(&number("0.5", xsd::DOUBLE), &one), "\"1.5\"^^<double>");
        assert_eq!(text(one.over(4)), "\"0.25\"^^<decimal>");
        let wide = number("36893488147419103232", xsd::INTEGER);
        assert_eq!(sum(&wide, &number("0.5", xsd::FLOAT)), "\"36893490000000000000\"^^<float>");
    }

    /// The expected values were computed with Python 3's integers and `decimal`.
    #[test]
    fn integers_and_decimals_have_any_size() {
        let largest = number("9223372036854775807", xsd::INTEGER);
        let one = number("1", xsd::INTEGER);
        let wide = largest.plus(&one);
        assert_eq!(text(wide.clone()), "\"9223372036854775808\"^^<integer>");
        // A result that fits into 64 bits is converted back.
        let back = wide.clone().and_then(|wide| wide.calculate(ArithmeticOperation::Minus, &one));
        assert!(matches!(back, Some(Number::Integer(_))));
        assert_eq!(text(wide.and_then(|wide| wide.negated())), "\"-9223372036854775808\"^^<integer>");
        let square = largest.calculate(ArithmeticOperation::Times, &largest);
        assert_eq!(text(square), "\"85070591730234615847396907784232501249\"^^<integer>");
        let mass = number("+5972370000000000000000000", xsd::DECIMAL);
        assert_eq!(text(mass.over(2)), "\"2986185000000000000000000\"^^<decimal>");
        assert_eq!(
            text(mass.calculate(ArithmeticOperation::Times, &number("0.1", xsd::DECIMAL))),
            "\"597237000000000000000000\"^^<decimal>"
        );
        let tiny = number("0.0000000001", xsd::DECIMAL);
        assert_eq!(text(tiny.calculate(ArithmeticOperation::Times, &tiny)), "\"0.00000000000000000001\"^^<decimal>");
        assert_eq!(text(one.over(3)), "\"0.333333333333333333\"^^<decimal>");
        assert_eq!(text(one.over(0)), "none");
        assert_eq!(text(number("1", xsd::DOUBLE).over(0)), "\"INF\"^^<double>");
    }

    #[test]
    fn rounding_keeps_the_kind() {
        let half = number("2.5", xsd::DECIMAL);
        assert_eq!(text(half.round()), "\"3\"^^<decimal>");
        assert_eq!(text(number("-2.5", xsd::DECIMAL).round()), "\"-2\"^^<decimal>");
        assert_eq!(text(number("-2.5", xsd::DECIMAL).floor()), "\"-3\"^^<decimal>");
        assert_eq!(
            text(number("-100000000000000000000.5", xsd::DECIMAL).ceil()),
            "\"-100000000000000000000\"^^<decimal>"
        );
        assert_eq!(text(number("-5", xsd::DECIMAL).abs()), "\"5\"^^<decimal>");
        assert_eq!(text(number("2.5", xsd::DOUBLE).ceil()), "\"3\"^^<double>");
        assert_eq!(text(number("-2.5", xsd::DOUBLE).round()), "\"-2\"^^<double>");
        assert_eq!(text(number("-2.6", xsd::DOUBLE).round()), "\"-3\"^^<double>");
        assert_eq!(text(number("5", xsd::DECIMAL).negated()), "\"-5\"^^<decimal>");
    }

    #[test]
    fn casts_keep_the_value() {
        assert_eq!(text(number("1e30", xsd::DOUBLE).to_integer()), "\"1000000000000000019884624838656\"^^<integer>");
        assert_eq!(text(number("-1.9", xsd::DOUBLE).to_integer()), "\"-1\"^^<integer>");
        assert_eq!(text(number("0.1", xsd::DOUBLE).to_decimal()), "\"0.1\"^^<decimal>");
        assert_eq!(text(number("1e-30", xsd::DOUBLE).to_decimal()), "\"0\"^^<decimal>");
        assert_eq!(text(number("1e19", xsd::DOUBLE).to_decimal()), "\"10000000000000000000\"^^<decimal>");
        assert_eq!(text(number("NaN", xsd::DOUBLE).to_integer()), "none");
        assert_eq!(text(number("INF", xsd::DOUBLE).to_decimal()), "none");
        assert_eq!(f64::from(number("100000000000000000000000", xsd::INTEGER).double()), 1e23);
    }

    #[test]
    fn comparisons_are_those_of_values() {
        let compare = |a: &Number, b: &Number| a.compare(b);
        let a = number("100000000000000000000000000000.5", xsd::DECIMAL);
        let b = number("100000000000000000000000000000", xsd::INTEGER);
        assert_eq!(compare(&a, &b), Some(Ordering::Greater));
        assert_eq!(compare(&b, &number("1e29", xsd::DOUBLE)), Some(Ordering::Equal));
        assert_eq!(compare(&b, &number("NaN", xsd::DOUBLE)), None);
        assert_eq!(compare(&b, &number("3", xsd::INTEGER)), Some(Ordering::Greater));
        assert_eq!(a.bucket(), b.bucket());
    }
}
