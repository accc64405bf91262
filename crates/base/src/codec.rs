//! Variable-length integers: seven bits a byte, least significant first, signed ones zigzag first (the encoding of
//! Protocol Buffers).

/// Appends an unsigned integer.
#[inline]
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a signed integer.
#[inline]
pub fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Appends the difference between `value` and `previous`, and sets `previous` to `value`.
#[inline]
pub fn put_delta(out: &mut Vec<u8>, previous: &mut i64, value: i64) {
    put_signed(out, value.wrapping_sub(*previous));
    *previous = value;
}

/// A reader for the output of the functions above. Every method returns `None` beyond the end or for an overlong
/// integer.
pub struct ByteReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ByteReader<'a> {
    /// Starts at the first of `bytes`.
    pub fn new(bytes: &'a [u8]) -> ByteReader<'a> {
        ByteReader { bytes, at: 0 }
    }

    /// Reads an unsigned integer.
    #[inline]
    pub fn get(&mut self) -> Option<u64> {
        let first = *self.bytes.get(self.at)?;
        self.at += 1;
        if first < 0x80 {
            return Some(first.into());
        }
        let mut value = u64::from(first & 0x7f);
        let mut shift = 7;
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
            shift += 7;
            if shift > 63 {
                return None;
            }
        }
    }

    /// Reads a signed integer.
    #[inline]
    pub fn get_signed(&mut self) -> Option<i64> {
        let value = self.get()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads the value that [`put_delta`] wrote.
    #[inline]
    pub fn get_delta(&mut self, previous: &mut i64) -> Option<i64> {
        *previous = previous.wrapping_add(self.get_signed()?);
        Some(*previous)
    }

    /// Reads the next `len` bytes.
    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let bytes = self.bytes.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(bytes)
    }

    /// Returns the number of bytes read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns whether all bytes have been read.
    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_survive() {
        let values = [0, 1, -1, 63, 64, -64, -65, i64::MAX, i64::MIN, 1 << 40];
        let mut bytes = Vec::new();
        let mut previous = 0;
        for v in values {
            put_signed(&mut bytes, v);
            put(&mut bytes, v as u64);
            put_delta(&mut bytes, &mut previous, v);
        }
        let mut reader = ByteReader::new(&bytes);
        let mut previous = 0;
        for v in values {
            assert_eq!(reader.get_signed(), Some(v));
            assert_eq!(reader.get(), Some(v as u64));
            assert_eq!(reader.get_delta(&mut previous), Some(v));
        }
        assert!(reader.is_at_end());
        assert_eq!(reader.get(), None);
        assert_eq!(ByteReader::new(&[0xff; 11]).get(), None);
    }
}
