//! Two total orders of terms: the order of ORDER BY, and the canonical order, which breaks ties and applies if a query
//! has no order.

use std::cmp::Ordering;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{BaseDirection, Literal, Term};

use super::moment::Moment;

/// Number of characters up to which different decimals are always different doubles.
const DOUBLE_DIGITS: usize = 15;

/// A term as ORDER BY compares it: unbound values, blank nodes, IRIs, literals (numbers, times, booleans, strings,
/// others), then triple terms.
#[derive(Debug, Clone)]
pub(crate) enum TermOrderKey {
    Unbound,
    Blank(Box<str>),
    Iri(Box<str>),
    /// Compared as doubles. Integers and decimals that are too long for a double are then compared by their digits.
    Number(f64, Box<str>),
    Time(Moment),
    Boolean(bool),
    Text(Box<str>, Box<str>),
    Other(Box<str>, Box<str>),
    /// Compared by subject, then predicate, then object.
    Triple(Box<[TermOrderKey; 3]>),
}

impl TermOrderKey {
    fn rank(&self) -> u8 {
        match self {
            TermOrderKey::Unbound => 0,
            TermOrderKey::Blank(_) => 1,
            TermOrderKey::Iri(_) => 2,
            TermOrderKey::Number(..) => 3,
            TermOrderKey::Time(_) => 4,
            TermOrderKey::Boolean(_) => 5,
            TermOrderKey::Text(..) => 6,
            TermOrderKey::Other(..) => 7,
            TermOrderKey::Triple(_) => 8,
        }
    }

    /// Returns the key of a term. An unbound value has the smallest key.
    pub fn of(term: Option<&Term>) -> TermOrderKey {
        match term {
            None => TermOrderKey::Unbound,
            Some(Term::BlankNode(node)) => TermOrderKey::Blank(node.as_str().into()),
            Some(Term::NamedNode(node)) => TermOrderKey::Iri(node.as_str().into()),
            Some(Term::Literal(literal)) => TermOrderKey::of_literal(literal),
            Some(Term::Triple(triple)) => TermOrderKey::Triple(Box::new([
                TermOrderKey::of(Some(&triple.subject.clone().into())),
                TermOrderKey::Iri(triple.predicate.as_str().into()),
                TermOrderKey::of(Some(&triple.object)),
            ])),
        }
    }

    fn of_literal(literal: &Literal) -> TermOrderKey {
        let (value, datatype) = (literal.value(), literal.datatype());
        if is_text(literal) {
            let mut language = literal.language().unwrap_or("").to_owned();
            language.extend(literal.direction().map(|direction| format!("--{direction}")));
            return TermOrderKey::Text(value.into(), language.into());
        }
        if is_numeric(datatype)
            && let Ok(number) = value.trim_start_matches('+').parse::<f64>().or_else(|_| match value {
                "INF" => Ok(f64::INFINITY),
                "-INF" => Ok(f64::NEG_INFINITY),
                _ => value.parse(),
            })
        {
            let is_exact = datatype != xsd::DOUBLE && datatype != xsd::FLOAT;
            let digits = if is_exact && value.len() > DOUBLE_DIGITS { value.into() } else { "".into() };
            // -0 and 0 are the same number.
            return TermOrderKey::Number(number + 0.0, digits);
        }
        if (datatype == xsd::DATE_TIME || datatype == xsd::DATE)
            && let Some(moment) = Moment::parse(value)
        {
            return TermOrderKey::Time(moment);
        }
        if datatype == xsd::BOOLEAN && matches!(value, "true" | "false" | "1" | "0") {
            return TermOrderKey::Boolean(matches!(value, "true" | "1"));
        }
        TermOrderKey::Other(datatype.as_str().into(), value.into())
    }
}

impl PartialEq for TermOrderKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for TermOrderKey {}

impl PartialOrd for TermOrderKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TermOrderKey {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (TermOrderKey::Blank(a), TermOrderKey::Blank(b)) | (TermOrderKey::Iri(a), TermOrderKey::Iri(b)) => a.cmp(b),
            (TermOrderKey::Number(a, x), TermOrderKey::Number(b, y)) => a.total_cmp(b).then_with(|| exactly(*a, x, y)),
            (TermOrderKey::Time(a), TermOrderKey::Time(b)) => a.cmp(b),
            (TermOrderKey::Boolean(a), TermOrderKey::Boolean(b)) => a.cmp(b),
            (TermOrderKey::Triple(a), TermOrderKey::Triple(b)) => a.cmp(b),
            (TermOrderKey::Text(a, x), TermOrderKey::Text(b, y))
            | (TermOrderKey::Other(a, x), TermOrderKey::Other(b, y)) => a.cmp(b).then_with(|| x.cmp(y)),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

/// Compares numbers that round to the same double by their digits. If a number has no digits stored, the shortest text
/// of the double is used.
fn exactly(double: f64, a: &str, b: &str) -> Ordering {
    if a == b || !double.is_finite() {
        return Ordering::Equal;
    }
    let shortest = double.to_string();
    let digits = |text| Digits::of(if str::is_empty(text) { &shortest } else { text });
    let (a, b) = (digits(a), digits(b));
    // Both numbers have the double's sign.
    if double < 0.0 { b.cmp(&a) } else { a.cmp(&b) }
}

/// The digits of a number without its sign, in a form that compares like the number: the count of integer digits, the
/// integer digits, and the fraction digits.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Digits<'t>(usize, &'t str, &'t str);

impl Digits<'_> {
    fn of(text: &str) -> Digits<'_> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let whole = whole.trim_start_matches(['-', '+']).trim_start_matches('0');
        Digits(whole.len(), whole, fraction.trim_end_matches('0'))
    }
}

/// Returns whether a literal is a string, with or without a language and a base direction.
pub(crate) fn is_text(literal: &Literal) -> bool {
    [xsd::STRING, rdf::LANG_STRING, rdf::DIR_LANG_STRING].contains(&literal.datatype())
}

/// Returns a number for a base direction: `ltr` is first.
fn direction(direction: BaseDirection) -> u8 {
    match direction {
        BaseDirection::Ltr => 0,
        BaseDirection::Rtl => 1,
    }
}

/// Returns whether a datatype is one of XML Schema's numeric types.
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

/// Compares terms in canonical order: unbound values, blank nodes, IRIs, literals, triple terms. Within a kind, terms are
/// compared by text, then by datatype and language.
pub(crate) fn canonical(a: Option<&Term>, b: Option<&Term>) -> Ordering {
    fn rank(term: Option<&Term>) -> u8 {
        match term {
            None => 0,
            Some(Term::BlankNode(_)) => 1,
            Some(Term::NamedNode(_)) => 2,
            Some(Term::Literal(_)) => 3,
            Some(Term::Triple(_)) => 4,
        }
    }
    match (a, b) {
        (Some(Term::BlankNode(a)), Some(Term::BlankNode(b))) => a.as_str().cmp(b.as_str()),
        (Some(Term::NamedNode(a)), Some(Term::NamedNode(b))) => a.as_str().cmp(b.as_str()),
        (Some(Term::Literal(a)), Some(Term::Literal(b))) => a
            .value()
            .cmp(b.value())
            .then_with(|| a.datatype().as_str().cmp(b.datatype().as_str()))
            .then_with(|| a.language().cmp(&b.language()))
            .then_with(|| a.direction().map(direction).cmp(&b.direction().map(direction))),
        (Some(Term::Triple(a)), Some(Term::Triple(b))) => {
            let [first, second] = [&a.subject, &b.subject].map(|subject| Term::from(subject.clone()));
            let of_subject = canonical(Some(&first), Some(&second));
            let of_predicate = || a.predicate.as_str().cmp(b.predicate.as_str());
            of_subject.then_with(of_predicate).then_with(|| canonical(Some(&a.object), Some(&b.object)))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

/// Compares rows in canonical order.
pub(crate) fn canonical_rows(a: &[Option<Term>], b: &[Option<Term>]) -> Ordering {
    a.iter().zip(b).map(|(a, b)| canonical(a.as_ref(), b.as_ref())).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: &str, datatype: oxrdf::NamedNodeRef<'_>) -> TermOrderKey {
        TermOrderKey::of(Some(&Literal::new_typed_literal(value, datatype).into()))
    }

    #[test]
    fn values_decide_not_text() {
        assert!(key("10", xsd::INTEGER) > key("9.5", xsd::DECIMAL));
        assert!(key("-9007199254740993", xsd::INTEGER) < key("-9007199254740992", xsd::INTEGER));
        assert!(key("-0044-03-15T00:00:00Z", xsd::DATE_TIME) < key("2000-01-01", xsd::DATE));
        assert_eq!(key("-0.0", xsd::DOUBLE), key("0", xsd::INTEGER));
        for [less, greater] in [
            ["0.12345678901234567890", "0.12345678901234567891"],
            ["-0.12345678901234567891", "-0.12345678901234567890"],
            ["5972370000000000000000000", "5972370000000000000000000.5"],
            ["99999999999999999999", "100000000000000000000"],
            ["-100000000000000000000", "-99999999999999999999"],
            ["9007199254740992", "9007199254740992.1"],
        ] {
            assert!(key(less, xsd::DECIMAL) < key(greater, xsd::DECIMAL), "{less} < {greater}");
        }
        // The same value, once as a double and once with all digits.
        assert_eq!(key("1e22", xsd::DOUBLE), key("10000000000000000000000", xsd::INTEGER));
        assert!(TermOrderKey::of(None) < key("NaN", xsd::DOUBLE));
    }
}
