//! Random changes of inputs, always the same for a given seed.

/// A xorshift generator.
pub struct XorShift(u64);

/// Numbers at which behaviour may change.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1e308",
    "-0.0",
    "NaN",
    "180",
    "-90.0000001",
    "255",
    "65536",
    "2147483648",
    "4294967295",
    "9223372036854775807",
    "18446744073709551616",
    "0.0000000000000000000000000000000000001",
];
const BYTES: [u8; 12] = [0, 1, 0x0a, 0x7f, 0x80, 0xff, b'"', b'<', b'{', b'(', b' ', b'9'];
/// The maximum number of times that a piece is repeated.
const REPEATED: usize = 3000;

impl XorShift {
    /// Starts a sequence of random numbers.
    pub fn new(seed: u64) -> Self {
        XorShift(seed ^ 88_172_645_463_325_252)
    }

    /// Returns a number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// Returns an input from the corpus with pieces removed, repeated, moved, replaced or taken from other inputs. It
    /// has at most `longest` bytes.
    pub fn change(&mut self, corpus: &[Vec<u8>], words: &[&str], longest: usize) -> Vec<u8> {
        let mut input = self.one_of(corpus).clone();
        for _ in 0..=self.below(6) {
            let start = self.below(input.len() + 1);
            let end = (start + 1 + self.below(12)).min(input.len());
            match self.below(12) {
                0 => drop(input.drain(start..end)),
                1 => {
                    let times = if self.below(40) == 0 { self.below(REPEATED) } else { 1 + self.below(4) };
                    let piece = input[start..end].repeat(times);
                    input.splice(start..start, piece);
                }
                2 | 3 => {
                    let other = self.one_of(corpus);
                    let from = self.below(other.len() + 1);
                    let to = (from + 1 + self.below(40)).min(other.len());
                    let piece = other[from..to].to_vec();
                    let end = if self.below(2) == 0 { start } else { end };
                    input.splice(start..end, piece);
                }
                4 => input.insert(start, *self.one_of(&BYTES)),
                5 if start < input.len() => input[start] = *self.one_of(&BYTES),
                6 if start < input.len() => input[start] ^= 1 << self.below(8),
                7 if start < input.len() => input[start] = self.below(256) as u8,
                8 | 9 if !words.is_empty() => {
                    let word = self.one_of(words).as_bytes().to_vec();
                    input.splice(start..start, word);
                }
                10 => {
                    let number = |byte: &u8| byte.is_ascii_digit();
                    if let Some(from) = input[start..].iter().position(number).map(|at| start + at) {
                        let to = input[from..].iter().position(|byte| !number(byte)).map_or(input.len(), |n| from + n);
                        let new = self.one_of(&NUMBERS).bytes();
                        input.splice(from..to, new);
                    }
                }
                11 if self.below(4) == 0 => input.truncate(start.max(1)),
                _ => {
                    let to = self.below(input.len() + 1);
                    let piece: Vec<u8> = input.drain(start..end).collect();
                    let to = to.min(input.len());
                    input.splice(to..to, piece);
                }
            }
        }
        input.truncate(longest);
        input
    }
}
