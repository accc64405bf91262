//! The hashes of all records, and the digest over them in ascending order. They are more than memory may hold, and as
//! evenly spread as anything can be: so they are not merged but dealt out by their first bits, into parts of which each
//! is sorted on its own, in the processor's caches.

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use terrapin_base::external_sort::{Error, Scratch, Shares};

/// Bytes of a part, about.
const PART: u64 = 32 << 20;
/// More parts would be written in pieces that are too small to be read quickly.
const MOST_PARTS: u64 = 1 << 14;

/// A SHA-256, as numbers whose order is that of its bytes.
pub(super) type Hash = [u64; 4];

/// Collects hashes.
pub(super) struct Hashes {
    parts: Shares<Hash>,
    /// Bits of a hash that its part does not depend on.
    shift: u32,
    len: u64,
}

/// Of its bytes.
pub(super) fn hash(bytes: &[u8]) -> Hash {
    let mut hash = Hash::default();
    for (number, bytes) in hash.iter_mut().zip(bytes.chunks_exact(8)) {
        *number = u64::from_be_bytes(bytes.try_into().unwrap_or_default());
    }
    hash
}

impl Hashes {
    /// For about so many of them.
    pub fn new(scratch: &Scratch, expected: u64) -> Hashes {
        let parts = (expected * size_of::<Hash>() as u64 / PART).clamp(2, MOST_PARTS).next_power_of_two();
        Hashes { parts: Shares::new(scratch, parts as usize), shift: u64::BITS - parts.ilog2(), len: 0 }
    }

    /// Adds some.
    ///
    /// # Errors
    /// The temporary file's.
    pub fn extend(&mut self, hashes: &[Hash]) -> Result<(), Error> {
        self.len += hashes.len() as u64;
        hashes.iter().for_each(|hash| self.parts.push((hash[0] >> self.shift) as usize, *hash));
        self.parts.make_room()
    }

    /// Adds to a digest how many there are, and all of them in ascending order.
    ///
    /// # Errors
    /// The temporary file's.
    pub fn digest(self, digest: &mut Sha256) -> Result<(), Error> {
        digest.update(self.len.to_le_bytes());
        let parts = self.parts.finish()?;
        let numbers: Vec<usize> = (0..parts.len()).collect();
        let sorted = |part: &usize| {
            let mut hashes = parts.read(*part)?;
            hashes.sort_unstable();
            Ok(hashes)
        };
        // Some are sorted while those before are digested.
        let mut ready: Vec<Vec<Hash>> = Vec::new();
        for next in numbers.chunks(rayon::current_num_threads()).chain([&[][..]]) {
            let add = || {
                let mut bytes = Vec::new();
                for some in ready.iter().flat_map(|hashes| hashes.chunks(1 << 12)) {
                    bytes.clear();
                    bytes.extend(some.iter().flatten().flat_map(|number| number.to_be_bytes()));
                    digest.update(&bytes);
                }
            };
            let sort = || next.par_iter().map(sorted).collect::<Result<Vec<_>, Error>>();
            let ((), sorted) = rayon::join(add, sort);
            ready = sorted?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_sorted_hashes() {
        let folder = tempfile::tempdir().unwrap();
        let mut hashes: Vec<Hash> = (0..100_000_u32).map(|n| hash(&Sha256::digest(n.to_le_bytes()))).collect();
        // Equal ones, and all of one part.
        hashes.extend(vec![[0; 4]; 1000]);
        let mut sorted = hashes.clone();
        sorted.sort_unstable();
        let mut expected = Sha256::new();
        expected.update((hashes.len() as u64).to_le_bytes());
        sorted.iter().flatten().for_each(|number| expected.update(number.to_be_bytes()));
        let expected = expected.finalize();
        for (memory, count) in [(1, 100_000), (1, 1 << 30), (1 << 30, 0), (1 << 30, 1 << 24)] {
            let mut found = Hashes::new(&Scratch::new(folder.path(), memory), count);
            hashes.chunks(777).for_each(|some| found.extend(some).unwrap());
            let mut digest = Sha256::new();
            found.digest(&mut digest).unwrap();
            assert_eq!(digest.finalize(), expected, "{memory} bytes, {count} expected");
        }
    }
}
