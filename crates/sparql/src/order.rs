//! A total order of terms: what ORDER BY sorts by, and the canonical order that decides where a query leaves it open.

use std::cmp::Ordering;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{Literal, Term};

use super::moment::Moment;

/// A term as ORDER BY compares it: no value, blank nodes, IRIs, then literals: numbers, times, booleans, strings, others.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Key {
    Unbound,
    Blank(Box<str>),
    Iri(Box<str>),
    /// Compared as doubles; integers too long for these by their digits.
    Number(f64, Box<str>),
    Time(Moment),
    Boolean(bool),
    Text(Box<str>, Box<str>),
    Other(Box<str>, Box<str>),
}

impl Key {
    fn rank(&self) -> u8 {
        match self {
            Key::Unbound => 0,
            Key::Blank(_) => 1,
            Key::Iri(_) => 2,
            Key::Number(..) => 3,
            Key::Time(_) => 4,
            Key::Boolean(_) => 5,
            Key::Text(..) => 6,
            Key::Other(..) => 7,
        }
    }

    /// The key of a term; of none, the least.
    pub fn of(term: Option<&Term>) -> Key {
        match term {
            None => Key::Unbound,
            Some(Term::BlankNode(node)) => Key::Blank(node.as_str().into()),
            Some(Term::NamedNode(node)) => Key::Iri(node.as_str().into()),
            Some(Term::Literal(literal)) => Key::of_literal(literal),
        }
    }

    fn of_literal(literal: &Literal) -> Key {
        let (value, datatype) = (literal.value(), literal.datatype());
        if datatype == xsd::STRING || datatype == rdf::LANG_STRING {
            return Key::Text(value.into(), literal.language().unwrap_or("").into());
        }
        if is_numeric(datatype)
            && let Ok(number) = value.trim_start_matches('+').parse::<f64>().or_else(|_| match value {
                "INF" => Ok(f64::INFINITY),
                "-INF" => Ok(f64::NEG_INFINITY),
                _ => value.parse(),
            })
        {
            // -0 and 0 are one number.
            return Key::Number(number + 0.0, if number.abs() > 9e15 { value.into() } else { "".into() });
        }
        if (datatype == xsd::DATE_TIME || datatype == xsd::DATE)
            && let Some(moment) = Moment::parse(value)
        {
            return Key::Time(moment);
        }
        if datatype == xsd::BOOLEAN && matches!(value, "true" | "false" | "1" | "0") {
            return Key::Boolean(matches!(value, "true" | "1"));
        }
        Key::Other(datatype.as_str().into(), value.into())
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Key::Blank(a), Key::Blank(b)) | (Key::Iri(a), Key::Iri(b)) => a.cmp(b),
            (Key::Number(a, long), Key::Number(b, other)) => {
                a.total_cmp(b).then_with(|| digits(long).cmp(&digits(other)))
            }
            (Key::Time(a), Key::Time(b)) => a.cmp(b),
            (Key::Boolean(a), Key::Boolean(b)) => a.cmp(b),
            (Key::Text(a, x), Key::Text(b, y)) | (Key::Other(a, x), Key::Other(b, y)) => {
                a.cmp(b).then_with(|| x.cmp(y))
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

/// Whole digits so that they compare as numbers: how many, then which; negative ones the other way round.
fn digits(text: &str) -> (i64, std::result::Result<&str, std::cmp::Reverse<&str>>) {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.trim_start_matches('+')),
    };
    let digits = digits.split(['.', 'e', 'E']).next().unwrap_or("").trim_start_matches('0');
    let length = digits.len() as i64;
    if negative { (-length, Err(std::cmp::Reverse(digits))) } else { (length, Ok(digits)) }
}

/// Whether a datatype is one of XML Schema's numbers.
pub(crate) fn is_numeric(datatype: oxrdf::NamedNodeRef<'_>) -> bool {
    let Some(name) = datatype.as_str().strip_prefix("http://www.w3.org/2001/XMLSchema#") else { return false };
    matches!(
        name,
        "integer"
            | "decimal"
            | "double"
            | "float"
            | "int"
            | "long"
            | "short"
            | "byte"
            | "nonNegativeInteger"
            | "positiveInteger"
            | "nonPositiveInteger"
            | "negativeInteger"
            | "unsignedInt"
            | "unsignedLong"
            | "unsignedShort"
            | "unsignedByte"
    )
}

/// The canonical order of terms: no term, blank nodes, IRIs, literals; each by its text, then datatype and language.
pub(crate) fn canonical(a: Option<&Term>, b: Option<&Term>) -> Ordering {
    fn rank(term: Option<&Term>) -> u8 {
        match term {
            None => 0,
            Some(Term::BlankNode(_)) => 1,
            Some(Term::NamedNode(_)) => 2,
            Some(Term::Literal(_)) => 3,
        }
    }
    match (a, b) {
        (Some(Term::BlankNode(a)), Some(Term::BlankNode(b))) => a.as_str().cmp(b.as_str()),
        (Some(Term::NamedNode(a)), Some(Term::NamedNode(b))) => a.as_str().cmp(b.as_str()),
        (Some(Term::Literal(a)), Some(Term::Literal(b))) => a
            .value()
            .cmp(b.value())
            .then_with(|| a.datatype().as_str().cmp(b.datatype().as_str()))
            .then_with(|| a.language().cmp(&b.language())),
        _ => rank(a).cmp(&rank(b)),
    }
}

/// The canonical order of rows.
pub(crate) fn canonical_rows(a: &[Option<Term>], b: &[Option<Term>]) -> Ordering {
    a.iter().zip(b).map(|(a, b)| canonical(a.as_ref(), b.as_ref())).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: &str, datatype: oxrdf::NamedNodeRef<'_>) -> Key {
        Key::of(Some(&Literal::new_typed_literal(value, datatype).into()))
    }

    #[test]
    fn values_decide_not_text() {
        assert!(key("10", xsd::INTEGER) > key("9.5", xsd::DECIMAL));
        assert!(key("-9007199254740993", xsd::INTEGER) < key("-9007199254740992", xsd::INTEGER));
        assert!(key("-0044-03-15T00:00:00Z", xsd::DATE_TIME) < key("2000-01-01", xsd::DATE));
        assert_eq!(key("-0.0", xsd::DOUBLE), key("0", xsd::INTEGER));
        assert!(Key::of(None) < key("NaN", xsd::DOUBLE));
    }
}
