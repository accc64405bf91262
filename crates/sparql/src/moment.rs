//! Points in time as WDQS reads them: a date means its midnight, and a missing time zone means UTC.

use oxrdf::Term;
use oxrdf::vocab::xsd;

/// Seconds in a day.
pub(crate) const DAY: i64 = 86_400;

/// A point in time on the proleptic Gregorian calendar, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Moment {
    /// Seconds since 1970-01-01T00:00:00Z.
    seconds: i64,
    nanos: u32,
}

/// Returns the days from 1970-01-01 to a day of the proleptic Gregorian calendar; year 0 is 1 BCE.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Returns the number of days in a month.
fn month_days(year: i64, month: i64) -> i64 {
    let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days(next_year, next, 1) - days(year, month, 1)
}

fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let fits = digits.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

impl Moment {
    /// Creates a moment from the seconds since 1970.
    pub fn at(seconds: i64) -> Moment {
        Moment { seconds, nanos: 0 }
    }

    /// Parses `2001`, `2001-2`, `2001-02-03`, `2001-02-03T04:05`, `2001-02-03T04:05:06.7+02:00`, and years of up to 12
    /// digits with a sign. Month 0 and day 0, which Wikidata uses for dates of low precision, are read as 1. Days after
    /// the end of a month and hours after 23 roll over, because data may contain days of another calendar.
    pub fn parse(text: &str) -> Option<Moment> {
        Moment::read(text, false)
    }

    /// Parses like [`Moment::parse`], but returns `None` if the calendar has no such day or the clock no such time.
    pub fn parse_valid(text: &str) -> Option<Moment> {
        Moment::read(text, true)
    }

    fn read(text: &str, valid: bool) -> Option<Moment> {
        let text = text.trim();
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (date, time) = match rest.split_once(['T', ' ']) {
            Some((date, time)) => (date, Some(time)),
            None => (rest.strip_suffix('Z').unwrap_or(rest), None),
        };
        let mut parts = date.splitn(3, '-');
        let year = number(parts.next()?, 1..=12)?;
        let month = parts.next().map_or(Some(1), |m| number(m, 1..=2))?.max(1);
        let mut shift = 0;
        let day = match parts.next() {
            None => 1,
            Some(day) => {
                // A date may also have a time zone.
                let (day, zone) = day.split_at(day.find(['+', '-', 'Z']).unwrap_or(day.len()));
                shift = offset(zone)?;
                number(day, 1..=2)?.max(1)
            }
        };
        if month > 12 || day > 31 {
            return None;
        }
        let year = if negative { -year } else { year };
        if valid && day > month_days(year, month) {
            return None;
        }
        let mut seconds = days(year, month, day) * DAY;
        let mut nanos = 0;
        if let Some(time) = time {
            let (clock, zone) = time.split_at(time.find(['+', '-', 'Z']).unwrap_or(time.len()));
            let mut parts = clock.splitn(3, ':');
            let (hour, minute) = (number(parts.next()?, 1..=2)?, number(parts.next().unwrap_or("0"), 1..=2)?);
            let second = parts.next().unwrap_or("0");
            let (whole, fraction) = second.split_once('.').unwrap_or((second, ""));
            let of_minute = number(whole, 1..=2)?;
            let fraction: String = fraction.chars().chain("000000000".chars()).take(9).collect();
            nanos = u32::try_from(number(&fraction, 9..=9)?).ok()?;
            // 24:00:00 is valid as the end of a day.
            let is_midnight = hour == 24 && minute == 0 && of_minute == 0 && nanos == 0;
            if valid && !is_midnight && (hour > 23 || minute > 59 || of_minute > 59) {
                return None;
            }
            seconds += hour * 3600 + minute * 60 + of_minute;
            shift = offset(zone)?;
        }
        Some(Moment { seconds: seconds - shift, nanos })
    }

    /// Returns the moment of a literal with a date or time datatype.
    pub fn of(term: &Term) -> Option<Moment> {
        let Term::Literal(literal) = term else { return None };
        let datatype = literal.datatype();
        let dated = [xsd::DATE_TIME, xsd::DATE, xsd::G_YEAR, xsd::G_YEAR_MONTH, xsd::DATE_TIME_STAMP];
        if dated.contains(&datatype) { Moment::parse(literal.value()) } else { None }
    }

    /// Returns the seconds from `other` to this moment.
    pub fn seconds_since(self, other: Moment) -> f64 {
        (self.seconds - other.seconds) as f64 + (f64::from(self.nanos) - f64::from(other.nanos)) / 1e9
    }

    /// Formats the moment in the lexical form of `xsd:dateTime`.
    pub fn lexical(self) -> String {
        let (day, of_day) = (self.seconds.div_euclid(DAY), self.seconds.rem_euclid(DAY));
        let shifted = day + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let part = (5 * of_year + 2) / 153;
        let month = if part < 10 { part + 3 } else { part - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let sign = if year < 0 { "-" } else { "" };
        let mut out = format!(
            "{sign}{:04}-{month:02}-{:02}T{:02}:{:02}:{:02}",
            year.abs(),
            of_year - (153 * part + 2) / 5 + 1,
            of_day / 3600,
            of_day / 60 % 60,
            of_day % 60
        );
        if self.nanos > 0 {
            out.push_str(format!(".{:09}", self.nanos).trim_end_matches('0'));
        }
        out.push('Z');
        out
    }
}

/// Parses a time zone's offset in seconds.
fn offset(zone: &str) -> Option<i64> {
    if zone.is_empty() || zone == "Z" {
        return Some(0);
    }
    let negative = zone.starts_with('-');
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let seconds = number(hours, 2..=2)? * 3600 + number(minutes, 2..=2)? * 60;
    Some(if negative { -seconds } else { seconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_what_it_reads() {
        for (text, written) in [
            ("2001-02-03T04:05:06Z", "2001-02-03T04:05:06Z"),
            ("2001", "2001-01-01T00:00:00Z"),
            ("2001-2-3", "2001-02-03T00:00:00Z"),
            ("-0044-03-15T00:00:00Z", "-0044-03-15T00:00:00Z"),
            ("2000-00-00T00:00:00Z", "2000-01-01T00:00:00Z"),
            ("+2000-02-29T23:30:00.25+01:00", "2000-02-29T22:30:00.25Z"),
            ("0000-12-31", "0000-12-31T00:00:00Z"),
        ] {
            assert_eq!(Moment::parse(text).map(Moment::lexical).as_deref(), Some(written), "{text}");
        }
        // Days and times that do not exist roll over; only strict parsing rejects them.
        for (text, written) in [
            ("2020-02-30", "2020-03-01T00:00:00Z"),
            ("1900-02-29", "1900-03-01T00:00:00Z"),
            ("2001-04-31T00:00:00Z", "2001-05-01T00:00:00Z"),
            ("2001-01-01T25:00:00Z", "2001-01-02T01:00:00Z"),
            ("2001-01-01T23:60:00Z", "2001-01-02T00:00:00Z"),
        ] {
            assert_eq!(Moment::parse(text).map(Moment::lexical).as_deref(), Some(written), "{text}");
            assert_eq!(Moment::parse_valid(text), None, "{text}");
        }
        for text in ["2020-02-29", "2000-02-29", "2001-12-31", "2001-00-00", "2001-01-01T24:00:00Z", "-0044-03-15"] {
            assert_eq!(Moment::parse_valid(text), Moment::parse(text), "{text}");
        }
        for text in ["", "yesterday", "2001-13-01", "2001-01-01T", "-", "2001-01-01T00:00:00+1"] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
