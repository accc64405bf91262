//! Numbers and moments as the reference reads them from attributes: from the start of the text, as far as it goes.

use super::super::tree::Timestamp;

/// The number at the start of `text`, 0 if there is none.
pub(super) fn float(text: &str) -> f64 {
    float_prefix(text).0
}

/// The number at the start of `text` (0 if there is none) and how many bytes it takes.
pub(in super::super) fn float_prefix(text: &str) -> (f64, usize) {
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

/// The integer at the start of `text`, 0 if there is none; clamped to 64 bits.
pub(super) fn integer(text: &str) -> i64 {
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

/// Degrees to 1e-7 degrees.
pub(super) fn degrees(value: f64) -> i32 {
    (value * 1e7).round() as i32
}

/// The moment that `text` starts with (`2016-01-31T12:00:00Z`; the fields may be out of range, what stands between
/// and after them is not looked at), or nothing if it is not one.
pub(super) fn timestamp(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let field = |from: usize, length: usize| -> Option<i64> {
        let part = bytes.get(from..from + length)?;
        part.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))
    };
    let (year, month, day) = (field(0, 4)?, field(5, 2)?, field(8, 2)?);
    let (hour, minute, second) = (field(11, 2)?, field(14, 2)?, field(17, 2)?);
    Some((days_from_civil(year, month, day) * 24 + hour) * 3600 + minute * 60 + second)
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar; months and days may be out of range.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let months = year * 12 + month - 1 + if month == 0 { 1 } else { 0 };
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
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
    fn reads_moments() {
        assert_eq!(timestamp("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(timestamp("2014-03-02T14:59:53Z"), Some(1_393_772_393));
        assert_eq!(timestamp("2000-02-29T00:00:00Z"), Some(951_782_400));
        assert_eq!(timestamp("yesterday"), None);
        assert_eq!(timestamp("2014-03-02"), None);
    }
}
