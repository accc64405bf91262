//! Prints numbers two digits at a time.

/// The numbers from 00 to 99 as digits. Dividing by 100 instead of 10 halves the number of divisions.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut i = 0;
    while i < 100 {
        pairs[i] = [b'0' + (i / 10) as u8, b'0' + (i % 10) as u8];
        i += 1;
    }
    pairs
};

/// Returns the two digits of a number below 100.
#[inline]
pub(super) fn pair(value: u64) -> [u8; 2] {
    PAIRS[(value % 100) as usize]
}
