//! The numbers of SPARQL and how they are added: integers, decimals, floats and doubles, each of a pair made what the
//! later one in this list is.

use oxrdf::{Literal, Term};
use oxsdatatypes::{Decimal, Double, Float, Integer};

use crate::order::is_numeric;

/// A number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Integer(Integer),
    Decimal(Decimal),
    Float(Float),
    Double(Double),
}

impl Number {
    /// The integer.
    pub fn zero() -> Number {
        Number::Integer(Integer::from(0))
    }

    /// The number that a term is.
    pub fn of(term: &Term) -> Option<Number> {
        let Term::Literal(literal) = term else { return None };
        let (value, datatype) = (literal.value(), literal.datatype());
        if !is_numeric(datatype) {
            return None;
        }
        match datatype.as_str().rsplit_once('#')?.1 {
            "decimal" => value.parse().ok().map(Number::Decimal),
            "float" => value.parse().ok().map(Number::Float),
            "double" => value.parse().ok().map(Number::Double),
            _ => value.parse().ok().map(Number::Integer),
        }
    }

    pub fn term(self) -> Term {
        match self {
            Number::Integer(value) => Literal::from(value),
            Number::Decimal(value) => Literal::from(value),
            Number::Float(value) => Literal::from(value),
            Number::Double(value) => Literal::from(value),
        }
        .into()
    }

    /// The sum; nothing where it is too large for its kind.
    pub fn plus(self, other: Number) -> Option<Number> {
        Some(match (self, other) {
            (Number::Integer(a), Number::Integer(b)) => Number::Integer(a.checked_add(b)?),
            (Number::Double(a), b) | (b, Number::Double(a)) => Number::Double(a + b.double()),
            (Number::Float(a), b) | (b, Number::Float(a)) => Number::Float(a + b.float()),
            (Number::Decimal(a), Number::Decimal(b)) => Number::Decimal(a.checked_add(b)?),
            (Number::Decimal(a), Number::Integer(b)) | (Number::Integer(b), Number::Decimal(a)) => {
                Number::Decimal(a.checked_add(Decimal::from(b))?)
            }
        })
    }

    /// The number divided by a count that is not zero; of an integer, a decimal.
    pub fn over(self, count: i64) -> Option<Number> {
        let count = Integer::from(count);
        Some(match self {
            Number::Integer(value) => Number::Decimal(Decimal::from(value).checked_div(count)?),
            Number::Decimal(value) => Number::Decimal(value.checked_div(count)?),
            Number::Float(value) => Number::Float(value / Float::from(count)),
            Number::Double(value) => Number::Double(value / Double::from(count)),
        })
    }

    fn double(self) -> Double {
        match self {
            Number::Integer(value) => value.into(),
            Number::Decimal(value) => value.into(),
            Number::Float(value) => value.into(),
            Number::Double(value) => value,
        }
    }

    fn float(self) -> Float {
        match self {
            Number::Integer(value) => value.into(),
            Number::Decimal(value) => value.into(),
            Number::Float(value) => value,
            Number::Double(value) => value.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use oxrdf::NamedNodeRef;
    use oxrdf::vocab::xsd;

    use super::*;

    fn number(value: &str, datatype: NamedNodeRef<'_>) -> Number {
        Number::of(&Literal::new_typed_literal(value, datatype).into()).unwrap()
    }

    #[test]
    fn the_wider_kind_wins() {
        let sum = |a: Number, b: Number| a.plus(b).unwrap().term().to_string();
        let one = number("1", xsd::INT);
        assert_eq!(sum(one, one), Literal::from(2).to_string());
        assert_eq!(sum(one, number("0.5", xsd::DECIMAL)), "\"1.5\"^^<http://www.w3.org/2001/XMLSchema#decimal>");
        assert_eq!(sum(number("0.5", xsd::DOUBLE), one), "\"1.5\"^^<http://www.w3.org/2001/XMLSchema#double>");
        assert_eq!(number("9223372036854775807", xsd::INTEGER).plus(one), None);
        assert_eq!(one.over(4).map(Number::term), Some(number("0.25", xsd::DECIMAL).term()));
    }
}
