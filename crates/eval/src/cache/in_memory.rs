//! Results of queries in memory, up to a number of bytes: for pairs that are scored together and share queries.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::{Cache, Counts, Key};

/// Results that are kept as long as it lives. What no longer fits is not taken.
#[derive(Debug)]
pub struct InMemory {
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    results: BTreeMap<(String, String), Vec<u8>>,
    bytes: usize,
    counts: Counts,
}

impl InMemory {
    /// Keeps so many bytes at most.
    pub fn new(most: usize) -> InMemory {
        InMemory { most, kept: Mutex::default() }
    }
}

/// A key of one snapshot's results, which is the only one there is in its time.
fn name(key: &Key<'_>) -> (String, String) {
    (key.language.to_owned(), key.query.to_owned())
}

impl Cache for InMemory {
    fn get(&self, key: &Key<'_>) -> Option<Vec<u8>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.results.get(&name(key)).cloned();
        match found {
            Some(_) => kept.counts.hits += 1,
            None => kept.counts.misses += 1,
        }
        found
    }

    fn put(&self, key: &Key<'_>, results: Vec<u8>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = kept.bytes + results.len() + key.query.len();
        if bytes <= self.most && kept.results.insert(name(key), results).is_none() {
            kept.bytes = bytes;
        }
    }

    fn counts(&self) -> Option<Counts> {
        Some(self.kept.lock().unwrap_or_else(PoisonError::into_inner).counts)
    }

    fn finish(&self) -> Vec<String> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_kept() {
        let cache = InMemory::new(10);
        let key = |query| Key { snapshot: "s", language: "l", query };
        cache.put(&key("a"), vec![1; 6]);
        cache.put(&key("b"), vec![2; 6]);
        assert_eq!((cache.get(&key("a")), cache.get(&key("b"))), (Some(vec![1; 6]), None));
        assert_eq!(cache.get(&Key { language: "m", ..key("a") }), None);
        assert_eq!(cache.counts(), Some(Counts { hits: 1, misses: 2 }));
    }
}
