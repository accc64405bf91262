//! Two digits at a time, which is how numbers are printed.

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
pub(super) fn pair(value: u64) -> [u8; 2] {
    PAIRS[(value % 100) as usize]
}
