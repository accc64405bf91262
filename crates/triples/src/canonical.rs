//! Canonical forms of literals: each value has one lexical form, the evaluator's. Terms are canonicalized on loading
//! and in queries, so that stored, queried and returned terms are identical.
//!
//! Datatypes are kept, and so are texts that are not valid for their datatype.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, LiteralRef, NamedNodeRef, Term};
use oxsdatatypes::{
    Boolean, Date, DateTime, DayTimeDuration, Double, Duration, Float, GDay, GMonth, GMonthDay, GYear, GYearMonth,
    Time, YearMonthDuration,
};

/// Maximum length of a double's or float's text with exact digits: a plain number up to this length is canonical.
const DOUBLE_DIGITS: usize = 15;
const FLOAT_DIGITS: usize = 6;

/// Returns whether a number's text is certainly canonical; a cheap test that most texts pass.
fn is_plain(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "1"));
    let all = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let leading = whole == "0" || !whole.starts_with('0');
    text == "0" || (all(whole) && all(fraction) && leading && !fraction.ends_with('0') && digits != "0")
}

/// Returns whether a text has the form of Wikidata's times, `2001-12-31T00:00:00Z`. Such a text is either canonical or
/// invalid.
fn is_plain_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 20 && bytes.ends_with(b"Z") && bytes.get(10) == Some(&b'T') && bytes.get(11..13) < Some(b"24")
}

/// Returns the canonical form of a decimal or an integer of any size: without plus sign and redundant zeros.
fn number(text: &str, has_fraction: bool) -> Option<String> {
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let (whole, fraction) = match unsigned.split_once('.') {
        Some(parts) if has_fraction => parts,
        Some(_) => return None,
        None => (unsigned, ""),
    };
    let are_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !are_digits(whole) || !are_digits(fraction) {
        return None;
    }
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let sign = if negative && whole.len() + fraction.len() > 0 { "-" } else { "" };
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}

fn form<T: std::str::FromStr + ToString>(text: &str) -> Option<String> {
    Some(text.parse::<T>().ok()?.to_string())
}

/// Returns the canonical form of a literal's text, or `None` if the text is already canonical or has no canonical form.
pub fn canonical_text(literal: LiteralRef<'_>) -> Option<String> {
    let (text, datatype) = (literal.value(), literal.datatype());
    if datatype == xsd::STRING || literal.language().is_some() {
        return None;
    }
    canonical_value(text, datatype).filter(|form| form != text)
}

fn canonical_value(text: &str, datatype: NamedNodeRef<'_>) -> Option<String> {
    match datatype {
        d if d == xsd::DECIMAL || d == xsd::INTEGER => {
            if is_plain(text) {
                None
            } else {
                number(text, d == xsd::DECIMAL)
            }
        }
        d if d == xsd::DATE_TIME => (!is_plain_time(text)).then(|| form::<DateTime>(text))?,
        d if d == xsd::DOUBLE => (text.len() > DOUBLE_DIGITS || !is_plain(text)).then(|| form::<Double>(text))?,
        d if d == xsd::FLOAT => (text.len() > FLOAT_DIGITS || !is_plain(text)).then(|| form::<Float>(text))?,
        d if d == xsd::BOOLEAN => form::<Boolean>(text),
        d if d == xsd::DATE => form::<Date>(text),
        d if d == xsd::TIME => form::<Time>(text),
        d if d == xsd::G_YEAR => form::<GYear>(text),
        d if d == xsd::G_YEAR_MONTH => form::<GYearMonth>(text),
        d if d == xsd::G_MONTH => form::<GMonth>(text),
        d if d == xsd::G_MONTH_DAY => form::<GMonthDay>(text),
        d if d == xsd::G_DAY => form::<GDay>(text),
        d if d == xsd::DURATION => form::<Duration>(text),
        d if d == xsd::YEAR_MONTH_DURATION => form::<YearMonthDuration>(text),
        d if d == xsd::DAY_TIME_DURATION => form::<DayTimeDuration>(text),
        _ => None,
    }
}

/// Returns the term with its text in canonical form, and so all literals in a triple term.
pub fn canonical(term: Term) -> Term {
    let literal = match term {
        Term::Literal(ref literal) => literal,
        Term::Triple(mut triple) => {
            triple.object = canonical(triple.object);
            return triple.into();
        }
        term => return term,
    };
    match canonical_text(literal.as_ref()) {
        Some(text) => Literal::new_typed_literal(text, literal.datatype()).into(),
        None => term,
    }
}

#[cfg(test)]
mod tests {
    use oxsdatatypes::{Decimal, Integer};

    use super::*;

    /// If the evaluator has a form, the two must agree.
    #[test]
    fn numbers_have_the_form_of_the_evaluator() {
        for sign in ["", "+", "-", "--"] {
            for whole in ["", "0", "7", "007", "1200", "9223372036854775807", "x"] {
                for fraction in ["", ".", ".0", ".5", ".050", ".000000000000000001", ".5x", ".1.2"] {
                    let text = format!("{sign}{whole}{fraction}");
                    assert_eq!(number(&text, true), form::<Decimal>(&text), "{text}");
                    assert_eq!(number(&text, false), form::<Integer>(&text), "{text}");
                }
            }
        }
    }

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
            ("1.5", xsd::DOUBLE, "1.5"),
            ("123456789012345678", xsd::DOUBLE, "123456789012345680"),
            ("-0.0", xsd::DOUBLE, "-0"),
            ("INF", xsd::FLOAT, "INF"),
            ("1", xsd::BOOLEAN, "true"),
            ("2001-12-31T24:00:00Z", xsd::DATE_TIME, "2002-01-01T00:00:00Z"),
            ("2006-08-23+00:00", xsd::DATE, "2006-08-23Z"),
            ("09:00:00.500", xsd::TIME, "09:00:00.5"),
            ("P12M", xsd::DURATION, "P1Y"),
            ("007", xsd::INT, "007"),
            ("99999999999999999999", xsd::INTEGER, "99999999999999999999"),
            ("+99999999999999999999", xsd::INTEGER, "99999999999999999999"),
            ("-00099999999999999999999", xsd::INTEGER, "-99999999999999999999"),
            ("+5972370000000000000000000", xsd::DECIMAL, "5972370000000000000000000"),
            ("880000000000000000000000000.0", xsd::DECIMAL, "880000000000000000000000000"),
            ("+0.00000000000000000000000166053906660", xsd::DECIMAL, "0.0000000000000000000000016605390666"),
            ("-.5", xsd::DECIMAL, "-0.5"),
            ("5.", xsd::DECIMAL, "5"),
            ("-0.0", xsd::DECIMAL, "0"),
            (".", xsd::DECIMAL, "."),
            ("1e5", xsd::DECIMAL, "1e5"),
            ("1.0", xsd::INTEGER, "1.0"),
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
