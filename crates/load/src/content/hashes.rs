//! Sorts the hashes of all records and digests them. They may exceed the memory and are uniformly distributed, so
//! they are partitioned by their leading bits instead of merged; each part is sorted in the processor's caches.

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use terrapin_base::external_sort::{SpillError, SpillScratch, SpillShares};

/// The approximate length of a part in bytes.
const PART: u64 = 32 << 20;
/// The maximum number of parts: more would be written in pieces too small for fast reading.
const MOST_PARTS: u64 = 1 << 14;

/// A SHA-256 as integers with the same order as its bytes.
pub(super) type Hash = [u64; 4];

/// Collects hashes.
pub(super) struct Hashes {
    parts: SpillShares<Hash>,
    /// The number of a hash's bits that do not select its part.
    shift: u32,
    len: u64,
}

/// Computes the hash of bytes.
pub(super) fn hash(bytes: &[u8]) -> Hash {
    let mut hash = Hash::default();
    for (number, bytes) in hash.iter_mut().zip(bytes.chunks_exact(8)) {
        *number = u64::from_be_bytes(bytes.try_into().unwrap_or_default());
    }
    hash
}

impl Hashes {
    /// Returns an empty collection for about `expected` hashes.
    pub fn new(scratch: &SpillScratch, expected: u64) -> Hashes {
        let parts = (expected * size_of::<Hash>() as u64 / PART).clamp(2, MOST_PARTS).next_power_of_two();
        Hashes { parts: SpillShares::new(scratch, parts as usize), shift: u64::BITS - parts.ilog2(), len: 0 }
    }

    /// Adds hashes.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn extend(&mut self, hashes: &[Hash]) -> Result<(), SpillError> {
        self.len += hashes.len() as u64;
        hashes.iter().for_each(|hash| self.parts.push((hash[0] >> self.shift) as usize, *hash));
        self.parts.make_room()
    }

    /// Adds the number of hashes and all hashes in ascending order to a digest.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn digest(self, digest: &mut Sha256) -> Result<(), SpillError> {
        digest.update(self.len.to_le_bytes());
        let parts = self.parts.finish()?;
        let numbers: Vec<usize> = (0..parts.len()).collect();
        let sorted = |part: &usize| {
            let mut hashes = parts.read(*part)?;
            hashes.sort_unstable();
            Ok(hashes)
        };
        // Later parts are sorted while earlier ones are digested.
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
            let sort = || next.par_iter().map(sorted).collect::<Result<Vec<_>, SpillError>>();
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
        // Equal hashes, all in one part.
        hashes.extend(vec![[0; 4]; 1000]);
        let mut sorted = hashes.clone();
        sorted.sort_unstable();
        let mut expected = Sha256::new();
        expected.update((hashes.len() as u64).to_le_bytes());
        sorted.iter().flatten().for_each(|number| expected.update(number.to_be_bytes()));
        let expected = expected.finalize();
        for (memory, count) in [(1, 100_000), (1, 1 << 30), (1 << 30, 0), (1 << 30, 1 << 24)] {
            let mut found = Hashes::new(&SpillScratch::new(folder.path(), memory), count);
            hashes.chunks(777).for_each(|some| found.extend(some).unwrap());
            let mut digest = Sha256::new();
            found.digest(&mut digest).unwrap();
            assert_eq!(digest.finalize(), expected, "{memory} bytes, {count} expected");
        }
    }
}
