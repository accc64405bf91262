//! Moments as they are printed.

use super::digits::pair;

/// Seconds since 1970 as `2016-11-09T15:50:10Z`.
pub(super) fn print(seconds: i64) -> String {
    let mut bytes = Vec::new();
    push(&mut bytes, seconds);
    bytes.into_iter().map(char::from).collect()
}

/// Adds it as bytes.
pub(super) fn push(bytes: &mut Vec<u8>, seconds: i64) {
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    let second = seconds.rem_euclid(86_400);
    // Four digits are enough for the years of data.
    let year = year.clamp(0, 9999);
    let mut text = *b"0000-00-00T00:00:00Z";
    let parts = [year / 100, year % 100, month, day, second / 3600, second / 60 % 60, second % 60];
    for (at, part) in [0, 2, 5, 8, 11, 14, 17].into_iter().zip(parts) {
        text[at..at + 2].copy_from_slice(&pair(part as u64));
    }
    bytes.extend_from_slice(&text);
}

/// Year, month and day of a day counted from 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    // Days since 0000-03-01, in eras of 400 years, years that begin in March.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
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
