//! Random numbers that are the same in every run, because they are seeded with the snapshot and the query.

use std::sync::atomic::{AtomicU64, Ordering};

/// A sequence of pseudo-random values.
pub(crate) struct RandomSequence {
    key: [u8; 32],
    count: AtomicU64,
}

impl RandomSequence {
    /// Creates the sequence for a seed and a purpose.
    pub fn new(seed: &[u8], purpose: &str) -> Self {
        let key = *blake3::Hasher::new().update(purpose.as_bytes()).update(&[0]).update(seed).finalize().as_bytes();
        RandomSequence { key, count: AtomicU64::new(0) }
    }

    fn next(&self) -> u128 {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let hash = blake3::keyed_hash(&self.key, &count.to_le_bytes());
        hash.as_bytes().iter().take(16).fold(0, |all, byte| all << 8 | u128::from(*byte))
    }

    /// Returns a number from 0 (inclusive) to 1 (exclusive).
    pub fn fraction(&self) -> f64 {
        (self.next() >> 75) as f64 / (1_u64 << 53) as f64
    }

    /// Returns the label of a new blank node. An answer numbers labels of this form.
    pub fn label(&self) -> String {
        format!("{:032x}", self.next())
    }

    /// Returns a version 4 UUID.
    pub fn uuid(&self) -> String {
        let bits = self.next() & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
        let hex = format!("{bits:032x}");
        let part = |from: usize, to: usize| hex.get(from..to).unwrap_or("").to_owned();
        [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_values() {
        let (a, b) = (RandomSequence::new(b"x", "rand"), RandomSequence::new(b"x", "rand"));
        let values: Vec<f64> = (0..100).map(|_| a.fraction()).collect();
        assert!(values.iter().all(|v| (0.0..1.0).contains(v) && *v == b.fraction()));
        let uuid = a.uuid();
        assert_eq!((uuid.len(), uuid.as_bytes()[14]), (36, b'4'));
    }
}
