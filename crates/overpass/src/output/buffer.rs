//! A buffered writer that prints integers, coordinates and times for all formats.

use std::io::{self, Write};

use super::OutputItem;
use crate::digits::pair;
use crate::set::DegreePosition;
use crate::timestamp;
use terrapin_osm::Coord;

/// The number of bytes collected before they are passed to the underlying writer.
const FLUSH: usize = 1 << 16;

/// A buffer in front of a writer.
pub struct Buffer<'a> {
    pub(super) bytes: Vec<u8>,
    out: &'a mut dyn Write,
    started: bool,
}

impl<'a> Buffer<'a> {
    /// Creates an empty buffer.
    pub fn new(out: &'a mut dyn Write) -> Self {
        Buffer { bytes: Vec::with_capacity(FLUSH + (FLUSH >> 2)), out, started: false }
    }

    /// Returns the number of buffered bytes.
    pub fn held(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the buffered bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns whether bytes have left the buffer.
    pub(super) fn started(&self) -> bool {
        self.started
    }

    /// Passes the bytes on if the buffer is full.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        if self.bytes.len() >= FLUSH { self.flush() } else { Ok(()) }
    }

    /// Adds many bytes. They are not copied if there are enough of them.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.bytes.len() + bytes.len() < FLUSH {
            self.bytes.extend_from_slice(bytes);
            return Ok(());
        }
        self.flush()?;
        self.out.write_all(bytes)
    }

    /// Passes all bytes on.
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

    /// Prints an element's id. In the reference, the ids of derived elements are unsigned.
    pub(super) fn id(&mut self, item: &OutputItem<'_>, id: i64) {
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

    /// Prints units of 1e-7 degrees as degrees with seven decimals, exactly.
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

    /// Prints degrees with seven decimals.
    pub(super) fn float(&mut self, value: f64) {
        use std::fmt::Write as _;
        let mut text = String::new();
        // Writing into a string does not fail.
        let _ = write!(text, "{value:.7}");
        self.text(&text);
    }

    /// Prints `{latitude}{between}{longitude}`.
    pub(super) fn coord(&mut self, c: Coord, between: &str) {
        self.degrees(c.lat);
        self.text(between);
        self.degrees(c.lon);
    }

    /// Prints `{latitude}{between}{longitude}`.
    pub(super) fn position(&mut self, p: DegreePosition, between: &str) {
        self.float(p.lat);
        self.text(between);
        self.float(p.lon);
    }

    /// Prints seconds since 1970 as `2016-11-09T15:50:10Z`.
    pub(super) fn time(&mut self, seconds: i64) {
        timestamp::push(&mut self.bytes, seconds);
    }

    /// Prints the time of an element's version, which may be missing in the data.
    pub fn version_time(&mut self, seconds: i64) {
        timestamp::push_version_time(&mut self.bytes, seconds);
    }
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
    fn integers_keep_their_sign() {
        assert_eq!(printed(|b| b.integer(i64::MIN)), i64::MIN.to_string());
        assert_eq!(printed(|b| b.integer(0)), "0");
    }
}
