//! Parses attribute values exactly: coordinates and times.

/// Parses degrees in decimal notation, with or without an exponent, to units of 1e-7 degrees. Finer values are rounded
/// to the nearest unit, halves away from zero. Returns `None` if the text is not a number or its magnitude exceeds
/// `limit` (in units of 1e-7 degrees).
pub(super) fn coordinate(text: &str, limit: i32) -> Option<i32> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, exponent) = match digits.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() || !(-40..=40).contains(&exponent) {
        return None;
    }
    // Keeps 18 significant digits, far more than a coordinate has. Later digits cannot change the rounding.
    let mut value: i64 = 0;
    let mut scale = exponent + 7;
    let all = whole.bytes().map(|digit| (digit, 0)).chain(fraction.bytes().map(|digit| (digit, 1)));
    for (digit, behind_point) in all {
        if !digit.is_ascii_digit() {
            return None;
        }
        if value < 10_i64.pow(17) {
            value = value * 10 + i64::from(digit - b'0');
            scale -= behind_point;
        } else {
            scale += 1 - behind_point;
        }
    }
    if value == 0 {
        return Some(0);
    }
    while scale > 0 {
        value = value.checked_mul(10)?;
        scale -= 1;
    }
    let unit = 10_i64.checked_pow(scale.unsigned_abs()).unwrap_or(i64::MAX);
    value = value / unit + i64::from(unit > 1 && value % unit >= unit / 2);
    let value = i32::try_from(value).ok().filter(|value| *value <= limit)?;
    Some(if negative { -value } else { value })
}

/// Parses a time such as `2012-09-12T06:55:00Z` to seconds since 1970. Fractions of a second are cut off; time zones
/// are supported.
pub(crate) fn timestamp(text: &str) -> Option<i64> {
    let (time, zone) = text
        .strip_suffix('Z')
        .map_or_else(|| text.split_at_checked(text.len().checked_sub(6)?), |time| Some((time, "+00:00")))?;
    let time = match time.split_once('.') {
        Some((time, parts)) if !parts.is_empty() && parts.bytes().all(|byte| byte.is_ascii_digit()) => time,
        Some(_) => return None,
        None => time,
    };
    let [year, month, day, hour, minute, second] = fields(time, "dddd-dd-ddTdd:dd:dd")?;
    let (sign, zone) = match zone.split_at_checked(1)? {
        ("+", zone) => (1, zone),
        ("-", zone) => (-1, zone),
        _ => return None,
    };
    let [zone_hour, zone_minute] = fields(zone, "dd:dd")?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if !(1..=days).contains(&day) || hour > 23 || minute > 59 || second > 60 || zone_hour > 23 || zone_minute > 59 {
        return None;
    }
    // Days since 1970-01-01. Years are counted from March, so that the leap day is the last day of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second - sign * (zone_hour * 60 + zone_minute) * 60)
}

/// Returns the numbers in a text that matches `pattern` exactly; `d` is a digit.
fn fields<const N: usize>(text: &str, pattern: &str) -> Option<[i64; N]> {
    if text.len() != pattern.len() {
        return None;
    }
    let mut numbers = [0; N];
    let mut slots = numbers.iter_mut();
    let mut slot = slots.next()?;
    for (byte, expected) in text.bytes().zip(pattern.bytes()) {
        if expected == b'd' {
            if !byte.is_ascii_digit() {
                return None;
            }
            *slot = *slot * 10 + i64::from(byte - b'0');
        } else if byte == expected {
            slot = slots.next()?;
        } else {
            return None;
        }
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_exact() {
        let lon = |text| coordinate(text, 1_800_000_000);
        for (text, expected) in [
            ("0", 0),
            ("-0.0", 0),
            ("7.4246157", 74_246_157),
            ("-179.9999999", -1_799_999_999),
            ("180", 1_800_000_000),
            ("+1.5", 15_000_000),
            (".5", 5_000_000),
            ("5.", 50_000_000),
            ("1.0E-5", 100),
            ("1.2e2", 1_200_000_000),
            ("0.00000005", 1),
            ("0.000000049999999999999999999999", 0),
            ("-0.00000015", -2),
            ("12.345678949999999999999999999999999999", 123_456_789),
            ("12.34567895", 123_456_790),
            ("000000000000000000000000000012", 120_000_000),
            ("0e40", 0),
        ] {
            assert_eq!(lon(text), Some(expected), "{text}");
        }
        for text in
            ["", "-", ".", "abc", "1,5", "1.2.3", "180.0000001", "1e9", "1e99999999999", "--1", "1e", "0x1", "NaN"]
        {
            assert_eq!(lon(text), None, "{text}");
        }
        assert_eq!(coordinate("90.1", 900_000_000), None);
        assert_eq!(lon("123456789012345678901234567890"), None);
    }

    #[test]
    fn times() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2012-09-12T06:55:00Z", 1_347_432_900),
            ("2024-02-29T23:59:59.999Z", 1_709_251_199),
            ("2000-03-01T00:00:00Z", 951_868_800),
            ("1969-12-31T23:59:59Z", -1),
            ("2020-01-01T02:00:00+02:00", 1_577_836_800),
            ("2019-12-31T22:30:00-01:30", 1_577_836_800),
        ] {
            assert_eq!(timestamp(text), Some(expected), "{text}");
        }
        for text in
            ["", "Z", "2012", "2012-13-01T00:00:00Z", "2023-02-29T00:00:00Z", "2012-09-12 06:55:00Z", "ä+00:00é"]
        {
            assert_eq!(timestamp(text), None, "{text}");
        }
    }
}
