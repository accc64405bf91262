//! Evaluates `number`, `is_number`, `suffix`, `abs`, `date`, `is_date`.

use std::borrow::Cow;

use super::value::{EvaluatorValue, parse_float, parse_int};

/// Returns the number at the start of a string, and its end. The number is whole if C's `strtoll` reads as far as
/// `strtod`.
fn leading(text: &str) -> Option<(EvaluatorValue, usize)> {
    let (float, end, out_of_range) = parse_float(text)?;
    match parse_int(text) {
        Some((int, whole)) if whole == end => Some((EvaluatorValue::Int(int), end)),
        _ if out_of_range => None,
        _ => Some((EvaluatorValue::number(float), end)),
    }
}

/// Returns a value that is already a number, without converting it to a string. Otherwise returns the string as an
/// error.
fn numeric(value: &EvaluatorValue) -> Result<EvaluatorValue, Cow<'_, str>> {
    match value {
        EvaluatorValue::Int(_) | EvaluatorValue::Float(_) => Ok(value.clone()),
        other => Err(other.to_text()),
    }
}

/// Evaluates `number(a)`: the number at the start of the string.
pub(super) fn number(value: &EvaluatorValue) -> EvaluatorValue {
    match numeric(value) {
        Ok(number) => number,
        Err(text) => leading(&text).map_or_else(EvaluatorValue::not_a_number, |(number, _)| number),
    }
}

/// Evaluates `is_number(a)`.
pub(super) fn is_number(value: &EvaluatorValue) -> EvaluatorValue {
    EvaluatorValue::flag(match numeric(value) {
        Ok(_) => true,
        Err(text) => leading(&text).is_some(),
    })
}

/// Evaluates `suffix(a)`: the text after the number at the start and the white space that follows it.
pub(super) fn suffix(value: &EvaluatorValue) -> EvaluatorValue {
    let text = value.to_text();
    match leading(&text) {
        Some((_, end)) => EvaluatorValue::text(text[end..].trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c'])),
        None => EvaluatorValue::EMPTY,
    }
}

/// Evaluates `abs(a)`.
pub(super) fn abs(value: &EvaluatorValue) -> EvaluatorValue {
    match number(value) {
        EvaluatorValue::Int(value) => EvaluatorValue::Int(value.wrapping_abs()),
        EvaluatorValue::Float(value) => EvaluatorValue::number(value.abs()),
        other => other,
    }
}

/// Evaluates `date(a)`: a number that increases with the date.
pub(super) fn date(value: &EvaluatorValue) -> EvaluatorValue {
    parse_date(&value.to_text()).map_or_else(|| EvaluatorValue::text("NaD"), EvaluatorValue::number)
}

/// Evaluates `is_date(a)`.
pub(super) fn is_date(value: &EvaluatorValue) -> EvaluatorValue {
    EvaluatorValue::flag(parse_date(&value.to_text()).is_some())
}

/// Parses a date: year, month, day, hour, minute and second are the first numbers in the string, with any separators.
fn parse_date(text: &str) -> Option<f64> {
    let mut parts = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    // In the reference, years have 32 bits.
    let year = parts.next()?.bytes().fold(0u32, |value, b| value.wrapping_mul(10).wrapping_add(u32::from(b - b'0')));
    if year < 1000 {
        return None;
    }
    let mut date = f64::from(year);
    let mut unit = 1.0;
    for (most, parts_of_it) in [(12, 16.0), (31, 32.0), (23, 32.0), (59, 64.0), (60, 64.0)] {
        let Some(part) = parts.next() else { break };
        let part: u32 = part.parse().ok().filter(|&part| part <= most)?;
        unit /= parts_of_it;
        date += f64::from(part) * unit;
    }
    Some(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_start() {
        for (text, number_text, rest) in [
            ("30 mph", "30", "mph"),
            ("30mph ", "30", "mph "),
            ("-5.5m", "-5.5", "m"),
            ("5e", "5", "e"),
            ("0x1G", "1", "G"),
            ("50;60", "50", ";60"),
            ("00012", "10", ""),
            ("1e5000x", "NaN", ""),
            (".m", "NaN", ""),
            ("1e18", "1e+18", ""),
            ("12345678901234567890123", "9223372036854775807", ""),
            ("99999999999999999999.5", "1e+20", ""),
        ] {
            let value = EvaluatorValue::text(text);
            assert_eq!(number(&value).into_text(), number_text, "{text:?}");
            assert_eq!(suffix(&value).into_text(), rest, "{text:?}");
            assert_eq!(is_number(&value), EvaluatorValue::flag(number_text != "NaN"), "{text:?}");
        }
    }

    #[test]
    fn dates_are_numbers() {
        for (text, result) in [
            ("2015-03-01T12:34:56Z", "2015.1902188063"),
            ("2015-03-01", "2015.189453125"),
            ("2015", "2015"),
            ("x2015y03", "2015.1875"),
            ("~2015", "2015"),
            ("01.03.2015", "NaD"),
            ("2015..2016", "NaD"),
            ("999", "NaD"),
            ("2015-12-31T24", "NaD"),
            ("2015-12-31T23:59:60", "2015.8120078444"),
            ("99999999999", "1215752191"),
            ("2015-03-01T12:34:56+99:99", "2015.1902188063"),
        ] {
            assert_eq!(date(&EvaluatorValue::text(text)).into_text(), result, "{text:?}");
        }
    }
}
