//! Literals as WDQS writes them: numbers, truth values and times have one form for each value, whatever form was loaded.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term};
use oxsdatatypes::{Boolean, Date, DateTime, Decimal, Double, Float, Integer};

/// Whether a number's text is its canonical form: cheap, and true of most.
fn is_plain(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "1"));
    let all = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let leading = whole == "0" || !whole.starts_with('0');
    text == "0" || (all(whole) && all(fraction) && leading && !fraction.ends_with('0') && digits != "0")
}

fn form<T: std::str::FromStr + ToString>(text: &str) -> Option<String> {
    Some(text.parse::<T>().ok()?.to_string())
}

/// The canonical form of a literal's text; None where it has none or is in it.
fn canonical_text(literal: &Literal) -> Option<String> {
    let (text, datatype) = (literal.value(), literal.datatype());
    let form = match datatype {
        d if d == xsd::STRING || literal.language().is_some() => None,
        d if d == xsd::DECIMAL || d == xsd::INTEGER => {
            if is_plain(text) {
                return None;
            }
            if d == xsd::DECIMAL { form::<Decimal>(text) } else { form::<Integer>(text) }
        }
        d if d == xsd::DOUBLE => form::<Double>(text),
        d if d == xsd::FLOAT => form::<Float>(text),
        d if d == xsd::BOOLEAN => form::<Boolean>(text),
        // As Wikidata writes them: nothing to change.
        d if d == xsd::DATE_TIME && text.len() == 20 && text.ends_with('Z') => None,
        d if d == xsd::DATE_TIME => form::<DateTime>(text),
        d if d == xsd::DATE => form::<Date>(text),
        _ => None,
    };
    form.filter(|form| form != text)
}

/// The term with a literal's text in its canonical form.
pub(crate) fn canonical(term: Term) -> Term {
    let Term::Literal(literal) = &term else { return term };
    match canonical_text(literal) {
        Some(text) => Literal::new_typed_literal(text, literal.datatype()).into(),
        None => term,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_one_form() {
        for (text, datatype, expected) in [
            ("+9745", xsd::DECIMAL, "9745"),
            ("1.50", xsd::DECIMAL, "1.5"),
            ("-0", xsd::INTEGER, "0"),
            ("007", xsd::INTEGER, "7"),
            ("0.5", xsd::DECIMAL, "0.5"),
            ("1.0", xsd::DECIMAL, "1"),
            ("-12.25", xsd::DECIMAL, "-12.25"),
            ("1e2", xsd::DOUBLE, "100"),
            ("1", xsd::BOOLEAN, "true"),
            ("2001-12-31T00:00:00+00:00", xsd::DATE_TIME, "2001-12-31T00:00:00Z"),
            ("2001-00-00T00:00:00Z", xsd::DATE_TIME, "2001-00-00T00:00:00Z"),
            ("many", xsd::INTEGER, "many"),
            ("007", xsd::STRING, "007"),
        ] {
            let canonical = canonical(Literal::new_typed_literal(text, datatype).into());
            assert_eq!(canonical, Literal::new_typed_literal(expected, datatype).into(), "{text}");
        }
    }
}
