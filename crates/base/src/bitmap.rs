//! A set of numbers as a bitmap.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The number of bits of a piece, as a power of two.
const PIECE_BITS: u32 = 16;
/// The number of words of a piece.
const WORDS: usize = 1 << (PIECE_BITS - 6);

/// A set of numbers: a bitmap in pieces of 65,536 numbers. Only pieces with a number exist.
#[derive(Debug, Clone, Default)]
pub struct NumberBitmap {
    pieces: BTreeMap<u64, Box<[u64; WORDS]>>,
}

fn word_of(number: u64) -> usize {
    (number >> 6) as usize & (WORDS - 1)
}

impl NumberBitmap {
    /// Adds a number; returns whether it is new.
    pub fn insert(&mut self, number: u64) -> bool {
        let piece = self.pieces.entry(number >> PIECE_BITS).or_insert_with(|| Box::new([0; WORDS]));
        let Some(word) = piece.get_mut(word_of(number)) else { return false };
        let bit = 1 << (number & 63);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Adds numbers; fastest if they are ascending.
    pub fn extend(&mut self, numbers: &[u64]) {
        for run in numbers.chunk_by(|a, b| a >> PIECE_BITS == b >> PIECE_BITS) {
            let Some(first) = run.first() else { continue };
            let piece = self.pieces.entry(first >> PIECE_BITS).or_insert_with(|| Box::new([0; WORDS]));
            for &number in run {
                if let Some(word) = piece.get_mut(word_of(number)) {
                    *word |= 1 << (number & 63);
                }
            }
        }
    }

    /// Adds the numbers of another set.
    pub fn union(&mut self, other: NumberBitmap) {
        for (number, bits) in other.pieces {
            match self.pieces.entry(number) {
                Entry::Vacant(entry) => drop(entry.insert(bits)),
                Entry::Occupied(mut entry) => {
                    entry.get_mut().iter_mut().zip(bits.iter()).for_each(|(word, other)| *word |= other);
                }
            }
        }
    }

    /// Returns whether the set has a number.
    pub fn contains(&self, number: u64) -> bool {
        let word = self.pieces.get(&(number >> PIECE_BITS)).and_then(|piece| piece.get(word_of(number)));
        word.is_some_and(|word| word >> (number & 63) & 1 == 1)
    }

    /// Returns the number of numbers.
    pub fn len(&self) -> u64 {
        self.pieces.values().flat_map(|piece| piece.iter()).map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Iterates over the numbers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.pieces.iter().flat_map(|(piece, words)| {
            let words = (0..).zip(words.iter()).filter(|(_, word)| **word != 0);
            words.flat_map(move |(place, &word)| {
                let rest = std::iter::successors(Some(word), |rest| Some(rest & (rest - 1)).filter(|rest| *rest != 0));
                rest.map(move |rest| (piece << PIECE_BITS) + place * 64 + u64::from(rest.trailing_zeros()))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Numbers at the borders of words and pieces, and the largest ones of 64 bits.
    const NUMBERS: [u64; 12] =
        [0, 1, 63, 64, 65_535, 65_536, 65_537, 131_071, 1 << 31, 1 << 40, u64::MAX - 1, u64::MAX];

    #[test]
    fn numbers_are_those_that_were_added() {
        let (mut one, mut all) = (NumberBitmap::default(), NumberBitmap::default());
        assert!(all.is_empty() && all.iter().next().is_none());
        for number in NUMBERS {
            assert!(one.insert(number) && !one.insert(number), "{number}");
        }
        let mut reversed = NUMBERS;
        reversed.reverse();
        all.extend(&reversed);
        for bitmap in [&one, &all] {
            assert_eq!(bitmap.iter().collect::<Vec<_>>(), NUMBERS);
            assert_eq!(bitmap.len(), NUMBERS.len() as u64);
            assert!(NUMBERS.iter().all(|&number| bitmap.contains(number)));
            assert!([2, 62, 65, 65_534, 131_072, u64::MAX - 2].iter().all(|&number| !bitmap.contains(number)));
        }
    }

    #[test]
    fn unions_have_the_numbers_of_both() {
        let (left, right) = ([1_u64, 5, 70_000, 900_000], [5_u64, 6, 70_001]);
        let (mut all, mut other) = (NumberBitmap::default(), NumberBitmap::default());
        all.extend(&left);
        other.extend(&right);
        all.union(other);
        let expected: BTreeSet<u64> = left.into_iter().chain(right).collect();
        assert!(all.iter().eq(expected));
    }
}
