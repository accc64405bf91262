//! Converts dates of the proleptic Gregorian and Julian calendars to days since 1970-01-01 and back, for years outside
//! the range of date libraries: Wikidata's begin 13.8 billion years ago. It does not know times, text or languages.
//!
//! Formulas: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms". Year 0 is 1 BCE.

/// The days of 400 years.
const ERA: i64 = 146_097;
/// The days from 0000-03-01 to 1970-01-01, Gregorian.
const EPOCH: i64 = 719_468;

/// Returns the days from 1970-01-01 to a date of the Gregorian calendar. The month is 1 to 12; a day outside its
/// month counts on into the next or previous one.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let (year, day) = (march_year(year, month), day_of_march_year(month, day));
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    era * ERA + of_era * 365 + of_era / 4 - of_era / 100 + day - EPOCH
}

/// Returns the year, month (1 to 12) and day (1 to 31) of the Gregorian calendar for a number of days since
/// 1970-01-01.
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH;
    let (era, day) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    of_march_year(era * 400 + year, day)
}

/// Returns the year, month (1 to 12) and day (1 to 31) of the Julian calendar for a number of days since 1970-01-01.
pub fn julian_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH + 2;
    let (leap, day) = (days.div_euclid(1461), days.rem_euclid(1461));
    let year = (day - day / 1460) / 365;
    of_march_year(leap * 4 + year, day - 365 * year)
}

/// Returns the days from 1970-01-01 to a date of the Julian calendar.
pub fn days_from_julian(year: i64, month: i64, day: i64) -> i64 {
    let (year, day) = (march_year(year, month), day_of_march_year(month, day));
    // Year 0 of the Julian calendar began two days before that of the Gregorian calendar.
    year.div_euclid(4) * 1461 + year.rem_euclid(4) * 365 + day - 2 - EPOCH
}

/// Returns the number of days of a month, 1 to 12, of the Gregorian calendar.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the year, counted from March, that contains a month; the leap day is then its last day.
fn march_year(year: i64, month: i64) -> i64 {
    if month <= 2 { year - 1 } else { year }
}

/// Returns the date of a day of such a year, counted from 0.
fn of_march_year(year: i64, day: i64) -> (i64, i64, i64) {
    let shifted = (5 * day + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + i64::from(month <= 2), month, day - (153 * shifted + 2) / 5 + 1)
}

/// Returns the number of a day in such a year, counted from 0.
fn day_of_march_year(month: i64, day: i64) -> i64 {
    (153 * ((month + 9) % 12) + 2) / 5 + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_lead_to_dates_and_back() {
        assert_eq!(days_from_civil(1970, 1, 1), 0);
        assert_eq!(civil_from_days(11_016), (2000, 2, 29));
        assert_eq!(civil_from_days(-1), (1969, 12, 31));
        // The October revolution was in November.
        assert_eq!(civil_from_days(days_from_julian(1917, 10, 25)), (1917, 11, 7));
        for days in (-2_000_000..2_000_000).step_by(97).chain([-5_000_000_000_000, 5_000_000_000_000]) {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), days);
            let (year, month, day) = julian_from_days(days);
            assert_eq!(days_from_julian(year, month, day), days);
            assert!((1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day));
        }
    }
}
