//! Translates differences of dates: numbers of days in WDQS, durations in QLever, and errors in SPARQL 1.1.
//!
//! | difference in WDQS | translation |
//! |---|---|
//! | to QLever | `(ql:toEpoch(?a) - ql:toEpoch(?b)) / 86400` |
//! | to SPARQL 1.1 | the difference of both day numbers, computed from YEAR, MONTH, DAY, HOURS, MINUTES, SECONDS |
//!
//! The operands may be numbers if they are variables: then the difference is `IF(isNumeric(?a), ?a - ?b, ...)`.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, NamedNodeRef, Term};

use super::{MAX_COPIED, Result, Translator};
use crate::functions::dates::cast;
use terrapin_sparql_syntax::Dialect;
use terrapin_sparql_syntax::algebra::{Binary, Expression, Function};
use terrapin_sparql_syntax::vocabulary::QL;
use terrapin_sparql_syntax::walk::nodes;

/// Seconds of a day.
const DAY: i64 = 86_400;
/// The day number of 1970-01-01.
const EPOCH: i64 = 719_469;
/// Number of copies of a date in its day number and second.
const COPIES: usize = 14;

/// Returns whether an expression is certainly a date.
pub(super) fn is_date(expression: &Expression) -> bool {
    match expression {
        Expression::Literal(literal) => [xsd::DATE, xsd::DATE_TIME].contains(&literal.datatype()),
        Expression::Call(Function::Now, _) => true,
        Expression::Call(Function::Custom(name), _) => [xsd::DATE, xsd::DATE_TIME].contains(&name.as_ref()),
        _ => false,
    }
}

/// Returns whether an expression can be a date: a variable, or a function of one that returns it unchanged.
fn may_be_date(expression: &Expression) -> bool {
    match expression {
        Expression::Variable(_) => true,
        Expression::If(_, a, b) => may_be_date(a) || may_be_date(b),
        Expression::Coalesce(all) => all.iter().any(may_be_date),
        other => is_date(other),
    }
}

/// Returns whether an expression is certainly a duration. A date without a duration is a date.
fn is_duration(expression: &Expression) -> bool {
    let is_one =
        |name: NamedNodeRef<'_>| [xsd::DURATION, xsd::DAY_TIME_DURATION, xsd::YEAR_MONTH_DURATION].contains(&name);
    match expression {
        Expression::Literal(literal) => is_one(literal.datatype()),
        Expression::Call(Function::Custom(name), _) => is_one(name.as_ref()),
        Expression::Call(Function::StrDt, arguments) => {
            matches!(arguments.get(1), Some(Expression::NamedNode(name)) if is_one(name.as_ref()))
        }
        _ => false,
    }
}

/// Returns the midnight of a day in UTC, which WDQS compares with times.
pub(super) fn at_midnight(literal: Literal) -> Literal {
    let term = Term::from(literal.clone());
    match literal.datatype() == xsd::DATE {
        true => match cast(&[term], false) {
            Some(Term::Literal(time)) => time,
            _ => literal,
        },
        false => literal,
    }
}

fn integer(value: i64) -> Expression {
    Literal::from(value).into()
}

fn part(function: Function, of: &Expression) -> Expression {
    Expression::Call(function, vec![of.clone()])
}

fn difference(a: Expression, b: Expression) -> Expression {
    Expression::binary(Binary::Subtract, a, b)
}

fn epoch(of: &Expression) -> Expression {
    part(Function::Custom(NamedNode::new_unchecked(format!("{QL}toEpoch"))), of)
}

/// Returns the argument of `ql:toEpoch`.
fn of_epoch(expression: &Expression) -> Option<&Expression> {
    match expression {
        Expression::Call(Function::Custom(name), arguments) if name.as_str().strip_prefix(QL) == Some("toEpoch") => {
            arguments.first()
        }
        _ => None,
    }
}

/// Returns the dates of `(ql:toEpoch(a) - ql:toEpoch(b)) / 86400`.
fn days_between(expression: &Expression) -> Option<(&Expression, &Expression)> {
    let Expression::Binary(Binary::Divide, seconds, day) = expression else { return None };
    let Expression::Binary(Binary::Subtract, a, b) = &**seconds else { return None };
    if **day != integer(DAY) {
        return None;
    }
    Some((of_epoch(a)?, of_epoch(b)?))
}

/// Returns the operands of a difference that was translated from WDQS to QLever.
pub(super) fn of_wdqs(expression: &Expression) -> Option<(&Expression, &Expression)> {
    let Expression::If(condition, numbers, dates) = expression else { return days_between(expression) };
    let (a, b) = days_between(dates)?;
    let is_number = **condition == part(Function::IsNumeric, a);
    (is_number && **numbers == difference(a.clone(), b.clone())).then_some((a, b))
}

/// Returns the number of the day of a date in the Gregorian calendar, from 1 on 0000-03-01. A year begins in March, so
/// that the leap day is its last.
fn day_number(of: &Expression) -> Expression {
    let sum = |a, b| Expression::binary(Binary::Add, a, b);
    let times = |a: i64, b| Expression::binary(Binary::Multiply, integer(a), b);
    let floor =
        |a, by: i64| Expression::Call(Function::Floor, vec![Expression::binary(Binary::Divide, a, integer(by))]);
    let month = part(Function::Month, of);
    let is_winter = Expression::binary(Binary::LessOrEqual, month.clone(), integer(2));
    let in_winter =
        |value: i64| Expression::If(Box::new(is_winter.clone()), Box::new(integer(value)), Box::new(integer(0)));
    let year = difference(part(Function::Year, of), in_winter(1));
    let of_years = sum(
        difference(sum(times(365, year.clone()), floor(year.clone(), 4)), floor(year.clone(), 100)),
        floor(year, 400),
    );
    let month = sum(difference(month, integer(3)), in_winter(12));
    let of_months = floor(sum(times(153, month), integer(2)), 5);
    sum(sum(of_years, of_months), part(Function::Day, of))
}

/// Returns the seconds of a date since its midnight.
fn second_of_day(of: &Expression) -> Expression {
    let times = |a, b: i64| Expression::binary(Binary::Multiply, a, integer(b));
    let minutes =
        Expression::binary(Binary::Add, times(part(Function::Hours, of), 3600), times(part(Function::Minutes, of), 60));
    Expression::binary(Binary::Add, minutes, part(Function::Seconds, of))
}

impl Translator {
    /// Translates a difference. That of dates is a number of days in WDQS and a duration in QLever.
    pub(super) fn subtract(&mut self, a: Expression, b: Expression) -> Result<Expression> {
        if is_duration(&a) || is_duration(&b) {
            return Ok(difference(a, b));
        }
        let (certain, possible) = (is_date(&a) || is_date(&b), may_be_date(&a) && may_be_date(&b));
        if self.from == self.to || !certain && !possible {
            return Ok(difference(a, b));
        }
        let days = match (self.from, self.to) {
            (Dialect::Wdqs, Dialect::Qlever) => {
                let seconds = difference(epoch(&a), epoch(&b));
                Expression::binary(Binary::Divide, seconds, integer(DAY))
            }
            (Dialect::Wdqs, _) => {
                let [first, second] = [self.whole_date(a.clone())?, self.whole_date(b.clone())?];
                let seconds = difference(second_of_day(&first), second_of_day(&second));
                let days = difference(day_number(&first), day_number(&second));
                Expression::binary(Binary::Add, days, Expression::binary(Binary::Divide, seconds, integer(DAY)))
            }
            (_, Dialect::Wdqs) if certain => return Err(self.lacks("a difference of dates, which is a duration")),
            (_, Dialect::Wdqs) => {
                let error =
                    self.lacks("a difference of dates, which is a duration, and that of two variables may be one");
                return Err(error.help("for a difference of numbers, write xsd:decimal(?a) - xsd:decimal(?b)"));
            }
            _ => return Ok(difference(a, b)),
        };
        self.is_changed = true;
        if certain {
            return Ok(days);
        }
        let is_number = part(Function::IsNumeric, &a);
        Ok(Expression::If(Box::new(is_number), Box::new(difference(a, b)), Box::new(days)))
    }

    /// Returns a date for the functions of SPARQL 1.1 for times, which take no `xsd:date`.
    fn whole_date(&self, date: Expression) -> Result<Expression> {
        if nodes(&date).saturating_mul(COPIES) > MAX_COPIED {
            return Err(self.lacks("a difference of dates in an expression of that length"));
        }
        Ok(match date {
            Expression::Literal(literal) => at_midnight(literal).into(),
            other => other,
        })
    }

    /// Writes `ql:toEpoch` without QLever's function.
    pub(super) fn seconds_since_epoch(&mut self, of: Expression) -> Result<Expression> {
        self.is_changed = true;
        if self.to == Dialect::Wdqs {
            let first = Literal::new_typed_literal("1970-01-01T00:00:00Z", xsd::DATE_TIME);
            return Ok(Expression::binary(Binary::Multiply, difference(of, first.into()), integer(DAY)));
        }
        let of = self.whole_date(of)?;
        let days = difference(day_number(&of), integer(EPOCH));
        let seconds = Expression::binary(Binary::Multiply, days, integer(DAY));
        Ok(Expression::binary(Binary::Add, seconds, second_of_day(&of)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes an expression of integers for one date.
    fn value(expression: &Expression, [year, month, day]: [i64; 3]) -> i64 {
        let value = |e: &Expression| value(e, [year, month, day]);
        match expression {
            Expression::Literal(literal) => literal.value().parse().unwrap(),
            Expression::Call(Function::Year, _) => year,
            Expression::Call(Function::Month, _) => month,
            Expression::Call(Function::Day, _) => day,
            Expression::Call(Function::Floor, inner) => match &inner[0] {
                Expression::Binary(Binary::Divide, a, b) => value(a).div_euclid(value(b)),
                other => panic!("{other:?}"),
            },
            Expression::If(condition, a, b) => match &**condition {
                Expression::Binary(Binary::LessOrEqual, x, y) if value(x) <= value(y) => value(a),
                _ => value(b),
            },
            Expression::Binary(Binary::Add, a, b) => value(a) + value(b),
            Expression::Binary(Binary::Subtract, a, b) => value(a) - value(b),
            Expression::Binary(Binary::Multiply, a, b) => value(a) * value(b),
            other => panic!("{other:?}"),
        }
    }

    /// Unix time of known days: `date -u -d 2000-03-01 +%s` divided by 86,400, and so on.
    #[test]
    fn days_have_the_numbers_of_the_calendar() {
        let number = day_number(&oxrdf::Variable::new_unchecked("d").into());
        for (date, unix) in [
            ([1970, 1, 1], 0),
            ([2000, 2, 29], 11_016),
            ([2000, 3, 1], 11_017),
            ([2026, 11, 28], 20_785),
            ([1900, 3, 1], -25_508),
            ([1582, 10, 15], -141_427),
            ([1, 1, 1], -719_162),
        ] {
            assert_eq!(value(&number, date) - EPOCH, unix, "{date:?}");
        }
    }

    #[test]
    fn a_translated_difference_is_recognized() {
        let [a, b] = ["a", "b"].map(|name| Expression::from(oxrdf::Variable::new_unchecked(name)));
        let days = Expression::binary(Binary::Divide, difference(epoch(&a), epoch(&b)), integer(DAY));
        assert_eq!(of_wdqs(&days), Some((&a, &b)));
        let numbers = || Box::new(difference(a.clone(), b.clone()));
        let either = |of| Expression::If(Box::new(part(Function::IsNumeric, of)), numbers(), Box::new(days.clone()));
        assert_eq!(of_wdqs(&either(&a)), Some((&a, &b)));
        assert_eq!(of_wdqs(&either(&b)), None);
    }
}
