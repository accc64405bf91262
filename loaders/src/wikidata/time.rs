//! Converts times of Wikidata to `xsd:dateTime`: proleptic Gregorian calendar, with a year 0 as in XSD 1.1.

use terrapin_calendar::{civil_from_days, days_from_julian, days_in_month};

/// The precisions of a year and of a day. Larger numbers are finer.
const YEAR: u8 = 9;
const DAY: u8 = 11;

/// Dates from this year on are not converted between calendars.
const FAR: i64 = 10_000_000;

/// Converts a time such as `+1952-03-00T00:00:00Z` or `-0044-03-15T00:00:00Z`. Wikidata has no year 0, and month and
/// day may be 0. A time of the Julian calendar is converted if it is precise to the day. Returns `None` for an invalid
/// time.
pub(super) fn date_time(time: &str, precision: u8, julian: bool) -> Option<String> {
    let (negative, rest) = match time.split_at_checked(1)? {
        ("-", rest) => (true, rest),
        ("+", rest) => (false, rest),
        _ => (false, time),
    };
    let (date, clock) = rest.split_once('T').unwrap_or((rest, "00:00:00Z"));
    let mut parts = date.split('-');
    let year: i64 = number(parts.next()?)?.try_into().ok()?;
    let month = number(parts.next()?)?;
    let day = number(parts.next()?)?;
    if parts.next().is_some() || month > 12 || day > 31 || !is_clock(clock) {
        return None;
    }
    let year = match negative && year > 0 {
        true if precision >= YEAR => 1 - year,
        true => -year,
        false => year,
    };
    let (month, day) = (i64::try_from(month.max(1)).ok()?, i64::try_from(day.max(1)).ok()?);
    let (year, month, day) = if julian && precision >= DAY && year.abs() < FAR {
        civil_from_days(days_from_julian(year, month, day))
    } else {
        (year, month, day.min(days_in_month(year, month)))
    };
    let sign = if year < 0 { "-" } else { "" };
    Some(format!("{sign}{:04}-{month:02}-{day:02}T{clock}", year.unsigned_abs()))
}

fn number(digits: &str) -> Option<u64> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

/// Returns whether a text is a time of day in UTC such as `12:30:00Z`.
fn is_clock(clock: &str) -> bool {
    let at_most = |part: Option<&str>, limit| {
        part.is_some_and(|part| part.len() == 2 && number(part).is_some_and(|number| number <= limit))
    };
    let Some(clock) = clock.strip_suffix('Z') else { return false };
    let mut parts = clock.split(':');
    at_most(parts.next(), 23) && at_most(parts.next(), 59) && at_most(parts.next(), 59) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_xsd_does() {
        let of = |time| date_time(time, 11, false);
        assert_eq!(of("+2001-05-11T00:00:00Z").as_deref(), Some("2001-05-11T00:00:00Z"));
        assert_eq!(of("+00000002013-00-00T00:00:00Z").as_deref(), Some("2013-01-01T00:00:00Z"));
        assert_eq!(of("-0001-00-00T00:00:00Z").as_deref(), Some("0000-01-01T00:00:00Z"));
        let universe = date_time("-13798000000-00-00T00:00:00Z", 3, false);
        assert_eq!(universe.as_deref(), Some("-13798000000-01-01T00:00:00Z"));
        assert_eq!(of("+2001-02-31T00:00:00Z").as_deref(), Some("2001-02-28T00:00:00Z"));
        for bad in ["", "+", "2001", "+2001-13-01T00:00:00Z", "+2001-01-01T24:00:00Z", "+1-1-1-1T00:00:00Z", "é"] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }

    #[test]
    fn julian_days_are_converted() {
        let of = |time| date_time(time, 11, true).unwrap();
        assert_eq!(of("+1582-10-05T00:00:00Z"), "1582-10-15T00:00:00Z");
        assert_eq!(of("+1917-10-25T00:00:00Z"), "1917-11-07T00:00:00Z");
        assert_eq!(of("-0044-03-15T00:00:00Z"), "-0043-03-13T00:00:00Z");
        assert_eq!(of("+0306-07-25T00:00:00Z"), "0306-07-26T00:00:00Z");
        assert_eq!(of("+0272-02-27T00:00:00Z"), "0272-02-27T00:00:00Z");
        assert_eq!(of("+1700-02-29T00:00:00Z"), "1700-03-11T00:00:00Z");
        assert_eq!(date_time("+1517-10-00T00:00:00Z", 10, true).unwrap(), "1517-10-01T00:00:00Z");
    }
}
