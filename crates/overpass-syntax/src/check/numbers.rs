//! Parses numbers and moments in attributes like the reference: the longest valid prefix of the text.

use terrapin_calendar::days_from_civil;

use super::super::tree::{QlBoundingBox, QlPoint, Timestamp};

/// Parses the number at the start of `text`; 0 if it is missing.
pub fn float(text: &str) -> f64 {
    float_prefix(text).0
}

/// Parses the number at the start of `text` (0 if it is missing). Also returns its length in bytes.
pub fn float_prefix(text: &str) -> (f64, usize) {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut start = 0;
    while bytes.get(start).is_some_and(|b| b.is_ascii_whitespace()) {
        start += 1;
    }
    let sign = start + usize::from(matches!(bytes.get(start), Some(b'-' | b'+')));
    let mut end = digits(sign);
    let mut any = end > sign;
    if bytes.get(end) == Some(&b'.') {
        let after = digits(end + 1);
        any |= after > end + 1;
        if any {
            end = after;
        }
    }
    if !any {
        return (0.0, 0);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let after = digits(sign);
        if after > sign {
            end = after;
        }
    }
    (text[start..end].parse().unwrap_or(0.0), end)
}

/// Parses the integer at the start of `text`, clamped to 64 bits; 0 if it is missing.
pub fn integer(text: &str) -> i64 {
    let text = text.trim_start();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let end = digits.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
    if end == 0 {
        return 0;
    }
    let negative = text.starts_with('-');
    match digits[..end].parse::<i64>() {
        Ok(n) if negative => -n,
        Ok(n) => n,
        Err(_) if negative => i64::MIN,
        Err(_) => i64::MAX,
    }
}

/// Converts a latitude to 1e-7 degrees. Half a unit is rounded north.
pub(crate) fn latitude(degrees: f64) -> i32 {
    (degrees * 1e7 + 0.5).floor() as i32
}

/// Converts a longitude to 1e-7 degrees. Half a unit is rounded away from Greenwich.
pub(crate) fn longitude(degrees: f64) -> i32 {
    (degrees * 1e7 + 0.5_f64.copysign(degrees)).trunc() as i32
}

/// Converts two numbers in degrees to a position.
pub(crate) fn position(lat: f64, lon: f64) -> QlPoint {
    QlPoint { lat: latitude(lat), lon: longitude(lon) }
}

/// Converts four numbers in degrees to a box.
pub(crate) fn bounds(south: f64, west: f64, north: f64, east: f64) -> QlBoundingBox {
    let degrees = [south, west, north, east];
    let ([south, north], [west, east]) = ([south, north].map(latitude), [west, east].map(longitude));
    QlBoundingBox { south, west, north, east, degrees }
}

/// Parses the moment at the start of `text`, such as `2016-01-31T12:00:00Z`. The fields may be out of range. The
/// characters between and after the fields are not checked. Returns `None` if a field is not a number.
pub fn timestamp(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let field = |from: usize, length: usize| -> Option<i64> {
        let part = bytes.get(from..from + length)?;
        part.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))
    };
    let (year, month, day) = (field(0, 4)?, field(5, 2)?, field(8, 2)?);
    let (hour, minute, second) = (field(11, 2)?, field(14, 2)?, field(17, 2)?);
    Some((days(year, month, day) * 24 + hour) * 3600 + minute * 60 + second)
}

/// Returns the days from 1970-01-01 to a date. The month and the day may be out of range.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let months = year * 12 + month - 1 + i64::from(month == 0);
    days_from_civil(months.div_euclid(12), months.rem_euclid(12) + 1, day)
}

/// Formats a number as C's `%.14g` does.
pub fn number_text(value: f64) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() { "-nan" } else { "nan" }.to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    let text = format!("{value:.13e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..14).contains(&exponent) {
        let decimals = (13 - exponent).max(0) as usize;
        let text = format!("{value:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        let mantissa =
            if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_prefixes() {
        assert_eq!(float_prefix("1.5x"), (1.5, 3));
        assert_eq!(float_prefix("-.5e1"), (-5.0, 5));
        assert_eq!(float_prefix("abc"), (0.0, 0));
        assert_eq!(float_prefix("1e"), (1.0, 1));
        assert_eq!(integer("-12abc"), -12);
        assert_eq!(integer("99999999999999999999"), i64::MAX);
    }

    #[test]
    fn rounds_halves_as_the_reference_does() {
        assert_eq!((latitude(-19.12667795), latitude(-19.12667785)), (-191_266_779, -191_266_778));
        assert_eq!((longitude(-169.89932035), longitude(14.49462065)), (-1_698_993_204, 144_946_207));
        assert_eq!((latitude(90.0), longitude(-180.0)), (900_000_000, -1_800_000_000));
    }

    #[test]
    fn reads_moments() {
        assert_eq!(timestamp("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(timestamp("2014-03-02T14:59:53Z"), Some(1_393_772_393));
        assert_eq!(timestamp("2000-02-29T00:00:00Z"), Some(951_782_400));
        assert_eq!(timestamp("yesterday"), None);
        assert_eq!(timestamp("2014-03-02"), None);
    }
}
