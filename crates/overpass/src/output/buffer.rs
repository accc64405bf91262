//! A buffered writer with the printing of integers, coordinates and times that all formats share.

use std::io::{self, Write};

use super::Item;
use crate::set::Position;
use terrapin_osm::Coord;

/// Bytes gathered before they go to the underlying writer.
const FLUSH: usize = 1 << 16;

/// The numbers from 00 to 99 in digits: dividing by a hundred is half the divisions.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut i = 0;
    while i < 100 {
        pairs[i] = [b'0' + (i / 10) as u8, b'0' + (i % 10) as u8];
        i += 1;
    }
    pairs
};

/// The two digits of a number below 100.
#[inline]
fn pair(value: u64) -> [u8; 2] {
    PAIRS[(value % 100) as usize]
}

/// A buffer before a writer.
pub struct Buffer<'a> {
    pub(super) bytes: Vec<u8>,
    out: &'a mut dyn Write,
    started: bool,
}

impl<'a> Buffer<'a> {
    /// An empty one.
    pub fn new(out: &'a mut dyn Write) -> Self {
        Buffer { bytes: Vec::with_capacity(FLUSH + (FLUSH >> 2)), out, started: false }
    }

    /// How many bytes it holds.
    pub fn held(&self) -> usize {
        self.bytes.len()
    }

    /// What it holds.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Whether bytes have left the buffer.
    pub(super) fn started(&self) -> bool {
        self.started
    }

    /// Hands the bytes on where there are enough of them.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        if self.bytes.len() >= FLUSH { self.flush() } else { Ok(()) }
    }

    /// Adds many bytes; they are not copied where there are enough of them.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.bytes.len() + bytes.len() < FLUSH {
            self.bytes.extend_from_slice(bytes);
            return Ok(());
        }
        self.flush()?;
        self.out.write_all(bytes)
    }

    /// Hands all bytes on.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.started = true;
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        self.out.flush()
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(super) fn integer(&mut self, value: i64) {
        if value < 0 {
            self.bytes.push(b'-');
        }
        self.unsigned(value.unsigned_abs());
    }

    /// An element's id: those of elements that a query made have no sign in the reference.
    pub(super) fn id(&mut self, item: &Item<'_>, id: i64) {
        if item.is_derived() { self.unsigned(id as u64) } else { self.integer(id) }
    }

    pub(super) fn unsigned(&mut self, mut value: u64) {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        while value >= 10 {
            at -= 2;
            digits[at..at + 2].copy_from_slice(&pair(value));
            value /= 100;
        }
        if value > 0 || at == digits.len() {
            at -= 1;
            digits[at] = b'0' + value as u8;
        }
        self.bytes.extend_from_slice(&digits[at..]);
    }

    /// 1e-7 degrees as degrees with seven decimals, exactly.
    pub(super) fn degrees(&mut self, value: i32) {
        if value < 0 {
            self.bytes.push(b'-');
        }
        let value = value.unsigned_abs();
        self.unsigned(u64::from(value / 10_000_000));
        let rest = u64::from(value % 10_000_000);
        let ([a, b], [c, d], [e, f]) = (pair(rest / 10_000), pair(rest / 100), pair(rest));
        self.bytes.extend_from_slice(&[b'.', b'0' + (rest / 1_000_000) as u8, a, b, c, d, e, f]);
    }

    /// Degrees with seven decimals.
    pub(super) fn float(&mut self, value: f64) {
        use std::fmt::Write as _;
        let mut text = String::new();
        // Writing into a string does not fail.
        let _ = write!(text, "{value:.7}");
        self.text(&text);
    }

    /// `{latitude}{between}{longitude}`.
    pub(super) fn coord(&mut self, c: Coord, between: &str) {
        self.degrees(c.lat);
        self.text(between);
        self.degrees(c.lon);
    }

    /// `{latitude}{between}{longitude}`.
    pub(super) fn position(&mut self, p: Position, between: &str) {
        self.float(p.lat);
        self.text(between);
        self.float(p.lon);
    }

    /// Seconds since 1970 as `2016-11-09T15:50:10Z`.
    pub(super) fn time(&mut self, seconds: i64) {
        push_time(&mut self.bytes, seconds);
    }
}

/// Seconds since 1970 as `2016-11-09T15:50:10Z`.
pub(super) fn time(seconds: i64) -> String {
    let mut bytes = Vec::new();
    push_time(&mut bytes, seconds);
    bytes.into_iter().map(char::from).collect()
}

fn push_time(bytes: &mut Vec<u8>, seconds: i64) {
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

    fn printed(f: impl FnOnce(&mut Buffer<'_>)) -> String {
        let mut out = Vec::new();
        let mut buffer = Buffer::new(&mut out);
        f(&mut buffer);
        buffer.flush().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn coordinates_have_seven_decimals() {
        for (value, text) in [
            (-190_561_022, "-19.0561022"),
            (-1_698_613_410, "-169.8613410"),
            (0, "0.0000000"),
            (-1, "-0.0000001"),
            (1_800_000_000, "180.0000000"),
            (i32::MIN, "-214.7483648"),
        ] {
            assert_eq!(printed(|b| b.degrees(value)), text);
        }
    }

    #[test]
    fn times_are_civil() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (1_478_706_610, "2016-11-09T15:50:10Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
        ] {
            assert_eq!(printed(|b| b.time(seconds)), text);
        }
    }

    #[test]
    fn integers_keep_their_sign() {
        assert_eq!(printed(|b| b.integer(i64::MIN)), i64::MIN.to_string());
        assert_eq!(printed(|b| b.integer(0)), "0");
    }
}
