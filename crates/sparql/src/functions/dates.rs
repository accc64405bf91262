//! Date arithmetic as in WDQS: a difference is a number of days, a date means its midnight, a missing time zone means
//! UTC, and ill-formed dates are corrected if their meaning is clear.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term};

use crate::moment::{DAY, Moment};

fn double(value: f64) -> Option<Term> {
    Some(Literal::from(value).into())
}

/// Subtracts two dates and returns the difference in days; `None` for other arguments.
pub(crate) fn minus(arguments: &[Term]) -> Option<Term> {
    let [a, b] = arguments else { return None };
    double(Moment::of(a)?.seconds_since(Moment::of(b)?) / DAY as f64)
}

/// Converts the result of a subtraction: a duration of days and seconds, which only dates produce, becomes a number of
/// days.
pub(crate) fn in_days(arguments: &[Term]) -> Option<Term> {
    let [term] = arguments else { return None };
    let Term::Literal(literal) = term else { return Some(term.clone()) };
    if literal.datatype() != xsd::DAY_TIME_DURATION {
        return Some(term.clone());
    }
    let duration: oxsdatatypes::DayTimeDuration = literal.value().parse().ok()?;
    let seconds: f64 = oxsdatatypes::Double::from(duration.as_seconds()).into();
    double(seconds / DAY as f64)
}

/// Compares two dates; returns `None` for other arguments.
pub(crate) fn compare(arguments: &[Term], test: impl Fn(std::cmp::Ordering) -> bool) -> Option<Term> {
    let [a, b] = arguments else { return None };
    let order = Moment::of(a)?.cmp(&Moment::of(b)?);
    Some(Literal::from(test(order)).into())
}

/// Evaluates `xsd:dateTime(...)` or `xsd:date(...)` for any value that can be read as a date. A string must name a day
/// that exists.
pub(crate) fn cast(arguments: &[Term], date: bool) -> Option<Term> {
    let [Term::Literal(literal)] = arguments else { return None };
    let is_text = literal.datatype() == xsd::STRING;
    let moment = if is_text { Moment::parse_valid(literal.value()) } else { Moment::parse(literal.value()) };
    let moment = moment?.lexical();
    Some(if date {
        let day = moment.split('T').next().unwrap_or("").to_owned();
        Literal::new_typed_literal(day, xsd::DATE).into()
    } else {
        Literal::new_typed_literal(moment, xsd::DATE_TIME).into()
    })
}

/// Corrects an ill-formed date. Returns `None` if it is well-formed or cannot be read.
pub(crate) fn repaired(literal: &Literal) -> Option<Literal> {
    let (value, datatype) = (literal.value(), literal.datatype());
    let fine = match datatype {
        d if d == xsd::DATE_TIME => value.parse::<oxsdatatypes::DateTime>().is_ok(),
        d if d == xsd::DATE => value.parse::<oxsdatatypes::Date>().is_ok(),
        _ => true,
    };
    if fine {
        return None;
    }
    match cast(&[literal.clone().into()], datatype == xsd::DATE)? {
        Term::Literal(literal) => Some(literal),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(value: &str) -> Term {
        Literal::new_typed_literal(value, xsd::DATE_TIME).into()
    }

    /// <https://www.w3.org/TR/xpath-functions-31/#casting-from-strings>: a string outside the lexical space is an
    /// error.
    #[test]
    fn a_text_has_to_name_a_day_that_there_is() {
        let text = |value: &str| Term::from(Literal::new_simple_literal(value));
        let day = |value: &str| Some(Term::from(Literal::new_typed_literal(value, xsd::DATE)));
        assert_eq!(cast(&[text("2020-02-29")], true), day("2020-02-29"));
        for wrong in ["2020-02-30", "2019-02-29", "1900-02-29", "2020-04-31", "2020-01-32", "2020-13-01"] {
            assert_eq!(cast(&[text(wrong)], true), None, "{wrong}");
            assert_eq!(cast(&[text(&format!("{wrong}T00:00:00Z"))], false), None, "{wrong}");
        }
        assert_eq!(cast(&[text("2020-01-01T24:30:00Z")], false), None);
        // Data may contain days of another calendar.
        assert_eq!(cast(&[date("1712-02-30T00:00:00Z")], true), day("1712-03-01"));
    }

    #[test]
    fn a_difference_is_days() {
        let days = minus(&[date("2001-01-02T12:00:00Z"), date("2001-01-01T00:00:00Z")]);
        assert_eq!(days, Some(Literal::from(1.5).into()));
        let duration = Literal::new_typed_literal("P1DT12H", xsd::DAY_TIME_DURATION);
        assert_eq!(in_days(&[duration.into()]), Some(Literal::from(1.5).into()));
        assert_eq!(in_days(&[Literal::from(3).into()]), Some(Literal::from(3).into()));
    }
}
