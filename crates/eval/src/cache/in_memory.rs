//! A cache of results in memory with a size limit, for pairs scored together that share queries.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use terrapin_budget as budget;

use super::{CacheCounts, CacheKey, ResultCache};

/// A cache of one snapshot's results. If it is full, the least recently used half is evicted.
#[derive(Debug)]
pub struct InMemory {
    /// The size limit of each half in bytes.
    half: usize,
    kept: Mutex<ResultGenerations>,
}

#[derive(Debug, Default)]
struct ResultGenerations {
    /// The recently used results.
    new: Half,
    /// The older results.
    old: Half,
    counts: CacheCounts,
}

#[derive(Debug, Default)]
struct Half {
    results: HashMap<Name, Arc<[u8]>>,
    bytes: usize,
}

/// The digest of a language and a query: the results are of one snapshot.
type Name = [u8; 32];

/// The overhead of an entry in bytes.
const ENTRY: usize = 64;

impl InMemory {
    /// Returns a cache of at most `most` bytes.
    pub fn new(most: usize) -> InMemory {
        InMemory { half: most / 2, kept: Mutex::default() }
    }
}

impl ResultGenerations {
    fn put(&mut self, name: Name, results: Arc<[u8]>, half: usize) {
        let bytes = results.len() + ENTRY;
        if bytes > half || self.new.results.contains_key(&name) {
            return;
        }
        if self.new.bytes + bytes > half {
            self.old = std::mem::take(&mut self.new);
        }
        self.new.bytes += bytes;
        self.new.results.insert(name, results);
    }
}

impl ResultCache for InMemory {
    fn get(&self, key: &CacheKey<'_>) -> Option<Vec<u8>> {
        let name = key.digest();
        let found = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let found = match kept.new.results.get(&name) {
                Some(found) => Some(Arc::clone(found)),
                None => {
                    let found = kept.old.results.get(&name).map(Arc::clone);
                    if let Some(found) = &found {
                        budget::unwatched(|| kept.put(name, Arc::clone(found), self.half));
                    }
                    found
                }
            };
            match found {
                Some(_) => kept.counts.hits += 1,
                None => kept.counts.misses += 1,
            }
            found
        };
        found.map(|found| found.to_vec())
    }

    fn put(&self, key: &CacheKey<'_>, results: Vec<u8>) {
        let name = key.digest();
        // Results outlive the pair that computed them.
        budget::unwatched(|| {
            let results = Arc::from(results.as_slice());
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).put(name, results, self.half);
        });
    }

    fn counts(&self) -> Option<CacheCounts> {
        Some(self.kept.lock().unwrap_or_else(PoisonError::into_inner).counts)
    }

    fn finish(&self) -> Vec<String> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(query: &str) -> CacheKey<'_> {
        CacheKey { snapshot: "s", language: "l", query }
    }

    #[test]
    fn what_fits_is_kept() {
        let cache = InMemory::new(2 * (ENTRY + 6));
        cache.put(&key("a"), vec![1; 6]);
        cache.put(&key("b"), vec![2; 7]);
        assert_eq!((cache.get(&key("a")), cache.get(&key("b"))), (Some(vec![1; 6]), None));
        assert_eq!(cache.get(&CacheKey { language: "m", ..key("a") }), None);
        assert_eq!(cache.counts(), Some(CacheCounts { hits: 1, misses: 2 }));
    }

    #[test]
    fn what_is_asked_for_again_and_again_stays() {
        let most = 1 << 16;
        let cache = InMemory::new(most);
        cache.put(&key("gold"), vec![7; 100]);
        for n in 0..10_000 {
            cache.put(&key(&n.to_string()), vec![0; 100]);
            assert_eq!(cache.get(&key("gold")), Some(vec![7; 100]), "{n}");
        }
        assert_eq!(cache.get(&key("1")), None);
        let kept = cache.kept.lock().unwrap();
        assert!(kept.new.bytes + kept.old.bytes <= most);
    }
}
