//! Reads the protocol buffer encoding in place: no message is built, and no number is copied before it is needed. This
//! module handles the encoding only, not the meaning of the fields.

use crate::error::Wire;
use std::borrow::Cow;

/// A byte slice that is read from the front.
#[derive(Clone, Copy)]
pub(super) struct WireCursor<'a> {
    rest: &'a [u8],
}

/// The content of a field.
pub(super) enum FieldValue<'a> {
    /// Integers, booleans and enumerations.
    Varint(u64),
    /// Strings, messages and packed lists.
    Bytes(&'a [u8]),
    /// Fixed-length numbers, which are skipped: no supported field has one.
    Fixed,
}

impl<'a> WireCursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the next field and its number, or `None` at the end.
    #[inline]
    pub(super) fn field(&mut self) -> Result<Option<(u32, FieldValue<'a>)>, Wire> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).map_err(|_| Wire::Encoding)?;
        let value = match key & 7 {
            0 => FieldValue::Varint(self.varint()?),
            1 => self.skip(8)?,
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| Wire::Ends)?;
                let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Wire::Ends)?;
                self.rest = rest;
                FieldValue::Bytes(bytes)
            }
            5 => self.skip(4)?,
            _ => return Err(Wire::Encoding),
        };
        Ok(Some((number, value)))
    }

    fn skip(&mut self, length: usize) -> Result<FieldValue<'a>, Wire> {
        self.rest = self.rest.get(length..).ok_or(Wire::Ends)?;
        Ok(FieldValue::Fixed)
    }

    #[inline(always)]
    pub(super) fn varint(&mut self) -> Result<u64, Wire> {
        match self.rest {
            [byte, rest @ ..] if *byte < 0x80 => {
                self.rest = rest;
                Ok(u64::from(*byte))
            }
            _ => self.long_varint(),
        }
    }

    #[inline]
    fn long_varint(&mut self) -> Result<u64, Wire> {
        // Decodes up to eight bytes at once. The first byte without its top bit is the last byte of the number. The
        // bytes after it are masked off, and the groups of seven bits are moved together in three steps.
        if let Some((chunk, _)) = self.rest.split_first_chunk::<8>() {
            let x = u64::from_le_bytes(*chunk);
            let ends = !x & 0x8080_8080_8080_8080;
            if ends != 0 {
                let x = x & (ends ^ (ends - 1));
                let x = (x & 0x007f_007f_007f_007f) | ((x & 0x7f00_7f00_7f00_7f00) >> 1);
                let x = (x & 0x0000_3fff_0000_3fff) | ((x & 0x3fff_0000_3fff_0000) >> 2);
                let x = (x & 0x0fff_ffff) | ((x & 0x0fff_ffff_0000_0000) >> 4);
                let length = (ends.trailing_zeros() as usize / 8) + 1;
                self.rest = self.rest.get(length..).unwrap_or_default();
                return Ok(x);
            }
        }
        let mut value = 0;
        for (position, byte) in self.rest.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (7 * position);
            if *byte < 0x80 {
                self.rest = self.rest.get(position + 1..).unwrap_or_default();
                return Ok(value);
            }
        }
        Err(if self.rest.len() < 10 { Wire::Ends } else { Wire::Varint })
    }
}

/// Decodes a zigzag-coded signed number.
#[inline(always)]
pub(super) fn zigzag(value: u64) -> i64 {
    ((value >> 1) as i64) ^ -((value & 1) as i64)
}

/// A list of integers. Writers usually pack it into one field, but it may also come in several fields or as single
/// numbers.
#[derive(Default)]
pub(super) struct PackedIntegers<'a> {
    bytes: Cow<'a, [u8]>,
}

impl<'a> PackedIntegers<'a> {
    pub(super) fn push(&mut self, number: u32, value: FieldValue<'a>) -> Result<(), Wire> {
        match value {
            FieldValue::Bytes(bytes) if self.bytes.is_empty() => self.bytes = Cow::Borrowed(bytes),
            FieldValue::Bytes(bytes) => self.bytes.to_mut().extend_from_slice(bytes),
            FieldValue::Varint(mut value) => {
                let bytes = self.bytes.to_mut();
                while value >= 0x80 {
                    bytes.push(value as u8 | 0x80);
                    value >>= 7;
                }
                bytes.push(value as u8);
            }
            FieldValue::Fixed => return Err(Wire::Mismatch(number)),
        }
        Ok(())
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    #[inline]
    pub(super) fn cursor(&self) -> WireCursor<'_> {
        WireCursor::new(&self.bytes)
    }
}

impl<'a> FieldValue<'a> {
    #[inline]
    pub(super) fn varint(self, number: u32) -> Result<u64, Wire> {
        match self {
            FieldValue::Varint(value) => Ok(value),
            _ => Err(Wire::Mismatch(number)),
        }
    }

    #[inline]
    pub(super) fn bytes(self, number: u32) -> Result<&'a [u8], Wire> {
        match self {
            FieldValue::Bytes(bytes) => Ok(bytes),
            _ => Err(Wire::Mismatch(number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    }

    #[test]
    fn numbers_of_every_length() {
        for shift in 0..64 {
            for value in [1u64 << shift, (1 << shift) - 1, (1 << shift) | 1, u64::MAX >> shift] {
                for tail in [0, 12] {
                    let mut bytes = encode(value);
                    bytes.extend(std::iter::repeat_n(0xff, tail));
                    let mut cursor = WireCursor::new(&bytes);
                    assert_eq!(cursor.varint(), Ok(value));
                    assert_eq!(cursor.rest.len(), tail);
                }
                let bytes = encode(value);
                let short = bytes.get(..bytes.len() - 1).unwrap();
                assert_eq!(WireCursor::new(short).varint(), Err(Wire::Ends));
            }
        }
        assert_eq!(WireCursor::new(&[0xff; 20]).varint(), Err(Wire::Varint));
        assert_eq!([zigzag(0), zigzag(1), zigzag(2), zigzag(u64::MAX)], [0, -1, 1, i64::MIN]);
    }

    #[test]
    fn lists_in_pieces_are_lists() {
        let mut list = PackedIntegers::default();
        list.push(1, FieldValue::Bytes(&[1, 2])).unwrap();
        list.push(1, FieldValue::Varint(300)).unwrap();
        list.push(1, FieldValue::Bytes(&[3])).unwrap();
        let mut cursor = list.cursor();
        let mut got = Vec::new();
        while !cursor.is_empty() {
            got.push(cursor.varint().unwrap());
        }
        assert_eq!(got, [1, 2, 300, 3]);
        assert_eq!(list.push(7, FieldValue::Fixed), Err(Wire::Mismatch(7)));
    }

    #[test]
    fn broken_fields_are_errors() {
        for bytes in [&[0x0a, 5, 1][..], &[0x09, 1, 2], &[0x0d, 1], &[0x80], &[0x0a]] {
            assert_eq!(WireCursor::new(bytes).field().err(), Some(Wire::Ends));
        }
        assert_eq!(WireCursor::new(&[0x0b]).field().err(), Some(Wire::Encoding));
    }
}
