//! Looks up a value among the constants of an IN by hash. Comparing it with each constant would take time proportional
//! to their number.

use oxrdf::{Literal, Term};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::functions::exact::{equal, is_text, is_unknown};
use crate::functions::numbers::Number;

/// Constants to compare a value with.
#[derive(Debug, Default)]
pub struct Constants {
    /// IRIs and strings, with and without a language: each is equal only to itself.
    same: FxHashSet<Term>,
    /// Numbers, grouped by a double that equal numbers share.
    numbers: FxHashMap<u64, Vec<Number>>,
    /// All other constants, including floats: compared one by one.
    rest: Vec<Term>,
    /// Whether there is a literal without a language. It may be equal to a literal of unknown type.
    has_known: bool,
    /// The number of constants.
    len: usize,
}

impl Constants {
    /// Creates the set of a query's constants.
    pub fn new(terms: impl IntoIterator<Item = Term>) -> Constants {
        let mut constants = Constants::default();
        for term in terms {
            constants.len += 1;
            let literal = match &term {
                Term::Literal(literal) => literal,
                Term::NamedNode(_) | Term::BlankNode(_) => {
                    constants.same.insert(term);
                    continue;
                }
                Term::Triple(_) => {
                    constants.rest.push(term);
                    continue;
                }
            };
            let is_plain = is_text(literal);
            constants.has_known |= literal.language().is_none();
            if is_plain {
                constants.same.insert(term);
            } else if let Some((number, bucket)) = bucketed(literal) {
                constants.numbers.entry(bucket).or_default().push(number);
            } else {
                constants.rest.push(term);
            }
        }
        constants
    }

    /// Returns the number of constants.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether a value is equal to a constant; `None` if it is equal to none and a comparison is an error.
    pub fn contain(&self, value: &Term) -> Option<bool> {
        let literal = match value {
            Term::Literal(literal) => literal,
            Term::NamedNode(_) | Term::BlankNode(_) => return Some(self.same.contains(value)),
            Term::Triple(_) => return self.rest_contains(value),
        };
        if is_text(literal) {
            return if self.same.contains(value) { Some(true) } else { self.rest_contains(value) };
        }
        if let Some((number, bucket)) = bucketed(literal) {
            let equals = |other: &Number| number.compare(other).is_some_and(|order| order.is_eq());
            if self.numbers.get(&bucket).is_some_and(|others| others.iter().any(equals)) {
                return Some(true);
            }
            return self.rest_contains(value);
        }
        if Number::of_literal(literal).is_some() {
            // A float may be equal to several numbers that differ from each other.
            let equals = |other: &Number| equal(value, &other.term()) == Some(true);
            if self.numbers.values().flatten().any(equals) {
                return Some(true);
            }
            return self.rest_contains(value);
        }
        match self.rest_contains(value) {
            Some(false) if self.has_known && is_unknown(literal) => None,
            found => found,
        }
    }

    fn rest_contains(&self, value: &Term) -> Option<bool> {
        let mut any = Some(false);
        for term in &self.rest {
            match equal(value, term) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => any = None,
            }
        }
        any
    }
}

/// Returns a number other than a float, and its hash key.
fn bucketed(literal: &Literal) -> Option<(Number, u64)> {
    let number = Number::of_literal(literal)?;
    let bucket = number.bucket()?;
    Some((number, bucket))
}

#[cfg(test)]
mod tests {
    use oxrdf::vocab::xsd;
    use oxrdf::{NamedNode, NamedNodeRef};

    use super::*;

    fn typed(value: &str, datatype: NamedNodeRef<'_>) -> Term {
        Literal::new_typed_literal(value, datatype).into()
    }

    /// The results equal those of comparing the value with each constant
    /// (<https://www.w3.org/TR/sparql11-query/#func-in>).
    #[test]
    fn hashing_says_what_comparisons_say() {
        let unknown = NamedNodeRef::new_unchecked("urn:unknown");
        let node = |iri: &str| Term::from(NamedNode::new_unchecked(iri));
        let english = Literal::new_language_tagged_literal_unchecked("a", "en");
        let terms = [
            node("urn:a"),
            node("urn:b"),
            typed("a", xsd::STRING),
            typed("b", xsd::STRING),
            english.into(),
            typed("1", xsd::INTEGER),
            typed("01.0", xsd::DECIMAL),
            typed("1e0", xsd::DOUBLE),
            typed("1", xsd::FLOAT),
            typed("0.1", xsd::FLOAT),
            typed("0.1", xsd::DECIMAL),
            typed("0.1", xsd::DOUBLE),
            typed("-0", xsd::DOUBLE),
            typed("0", xsd::INTEGER),
            typed("NaN", xsd::DOUBLE),
            typed("100000000000000000000000000001", xsd::INTEGER),
            typed("100000000000000000000000000000", xsd::DECIMAL),
            typed("1e29", xsd::DOUBLE),
            typed("true", xsd::BOOLEAN),
            typed("1", xsd::BOOLEAN),
            typed("2001-01-01", xsd::DATE),
            typed("2001-01-01Z", xsd::DATE),
            typed("a", unknown),
            typed("b", unknown),
            typed("many", xsd::INTEGER),
        ];
        let one_by_one = |value: &Term, list: &[Term]| {
            let all: Vec<Option<bool>> = list.iter().map(|term| equal(value, term)).collect();
            if all.contains(&Some(true)) {
                Some(true)
            } else if all.contains(&None) {
                None
            } else {
                Some(false)
            }
        };
        for value in &terms {
            for from in 0..terms.len() {
                for length in [1, 2, 5] {
                    let list: Vec<Term> = terms.iter().cycle().skip(from).step_by(3).take(length).cloned().collect();
                    let expected = one_by_one(value, &list);
                    assert_eq!(Constants::new(list.clone()).contain(value), expected, "{value} in {list:?}");
                }
            }
        }
    }
}
