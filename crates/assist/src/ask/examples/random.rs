//! A random selection by a seed.

use sha2::{Digest, Sha256};
use terrapin_chat::{ChatError, Patience};

use super::ExampleScorer;

/// Scores examples at random. The scores of a question depend on the seed and its text only, so that they are the same
/// in every order of questions, in every shard and after a resume.
pub struct RandomScorer {
    seed: u64,
    count: usize,
}

impl RandomScorer {
    pub fn new(seed: u64, count: usize) -> RandomScorer {
        RandomScorer { seed, count }
    }
}

impl ExampleScorer for RandomScorer {
    fn scores(&self, question: &str, _: Patience<'_>) -> Result<Vec<f64>, ChatError> {
        let digest = Sha256::new().chain_update(self.seed.to_le_bytes()).chain_update(question).finalize();
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        let mut generator = SplitMix(u64::from_le_bytes(first));
        Ok((0..self.count).map(|_| generator.next()).collect())
    }
}

/// The generator SplitMix of Steele, Lea and Flood.
struct SplitMix(u64);

impl SplitMix {
    /// Returns the next number in [0, 1).
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        // A double has 53 bits of precision.
        (z >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::patience;
    use super::*;

    #[test]
    fn numbers_are_those_of_the_generators_authors() {
        // The first outputs of splitmix64.c with seed 1234567, as in Rosetta Code.
        let mut generator = SplitMix(1_234_567);
        for expected in [6_457_827_717_110_365_317_u64, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423] {
            assert_eq!(generator.next(), (expected >> 11) as f64 / (1_u64 << 53) as f64);
        }
    }

    #[test]
    fn a_selection_depends_on_seed_and_question_only() {
        let scores = |seed, question| RandomScorer::new(seed, 50).scores(question, patience()).unwrap();
        assert_eq!(scores(1, "Cafes?"), scores(1, "Cafes?"));
        assert_ne!(scores(1, "Cafes?"), scores(2, "Cafes?"));
        assert_ne!(scores(1, "Cafes?"), scores(1, "Bars?"));
        // A longer file keeps the scores of its beginning.
        assert_eq!(RandomScorer::new(1, 10).scores("Cafes?", patience()).unwrap(), scores(1, "Cafes?")[..10]);
    }
}
