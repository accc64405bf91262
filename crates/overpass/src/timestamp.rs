//! Prints timestamps.

use terrapin_calendar::civil_from_days;

use super::digits::pair;

/// The reference's text for a missing time.
const MISSING: &str = "0000-00-00T00:00:00Z";

/// Prints seconds since 1970 as `2016-11-09T15:50:10Z`.
pub(super) fn print(seconds: i64) -> String {
    let mut bytes = Vec::new();
    push(&mut bytes, seconds);
    bytes.into_iter().map(char::from).collect()
}

/// Appends the printed time as bytes.
pub(super) fn push(bytes: &mut Vec<u8>, seconds: i64) {
    let (year, month, day) = civil_from_days(seconds.div_euclid(86_400));
    let second = seconds.rem_euclid(86_400);
    // Four digits are sufficient for the years of the data.
    let year = year.clamp(0, 9999);
    let mut text = *b"0000-00-00T00:00:00Z";
    let parts = [year / 100, year % 100, month, day, second / 3600, second / 60 % 60, second % 60];
    for (at, part) in [0, 2, 5, 8, 11, 14, 17].into_iter().zip(parts) {
        text[at..at + 2].copy_from_slice(&pair(part as u64));
    }
    bytes.extend_from_slice(&text);
}

/// Prints the time of an element's version. A missing time (0) is printed like in the reference.
pub(super) fn print_version_time(seconds: i64) -> String {
    if seconds == 0 { MISSING.to_owned() } else { print(seconds) }
}

/// Appends the printed time of a version as bytes.
pub(super) fn push_version_time(bytes: &mut Vec<u8>, seconds: i64) {
    if seconds == 0 { bytes.extend_from_slice(MISSING.as_bytes()) } else { push(bytes, seconds) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_civil() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (1_478_706_610, "2016-11-09T15:50:10Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
        ] {
            assert_eq!(print(seconds), text);
        }
    }
}
