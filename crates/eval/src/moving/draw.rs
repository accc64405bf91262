//! Random numbers that depend only on a seed and texts.

/// A generator of random numbers: SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Debug, Clone)]
pub(crate) struct Draw(u64);

impl Draw {
    /// Creates a generator from a seed and texts.
    pub fn new(seed: u64, texts: &[&str]) -> Draw {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes());
        for text in texts {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        let mut first = [0; 8];
        first.iter_mut().zip(hasher.finalize().as_bytes()).for_each(|(to, from)| *to = *from);
        Draw(u64::from_le_bytes(first))
    }

    /// Returns the next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % (n.max(1) as u64)).unwrap_or_default()
    }

    /// Returns a member of a list.
    pub fn pick<'t, T>(&mut self, list: &'t [T]) -> Option<&'t T> {
        let at = self.below(list.len());
        list.get(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the generator for the seed 1234567, from its reference implementation.
    #[test]
    fn numbers_are_those_of_the_reference() {
        let mut draw = Draw(1_234_567);
        assert_eq!(
            [draw.next(), draw.next(), draw.next()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn numbers_depend_on_seed_and_texts() {
        let first = |seed, texts: &[&str]| Draw::new(seed, texts).next();
        assert_eq!(first(1, &["a"]), first(1, &["a"]));
        assert!(first(1, &["a"]) != first(2, &["a"]) && first(1, &["a", "b"]) != first(1, &["ab"]));
        assert_eq!(Draw(1).pick::<u8>(&[]), None);
    }
}
