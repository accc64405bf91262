//! Caches of query results: their keys, and the decision which results are cached. Runs share them in SQLite
//! (`db.rs`, feature `cache`); pairs scored together share them in memory (`in_memory.rs`, `batch.rs`).

mod batch;
#[cfg(feature = "cache")]
mod db;
mod in_memory;

pub use batch::BatchCache;
#[cfg(feature = "cache")]
pub use db::{DbCache, Foreign};
pub use in_memory::InMemory;

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::sync::OnceLock;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::record::{FailedQuery, FailureKind};

/// The inputs that determine the results of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheKey<'a> {
    /// The snapshot's digest.
    pub snapshot: &'a str,
    /// The language and the reader of the answer.
    pub language: &'a str,
    /// The query as run.
    pub query: &'a str,
}

impl CacheKey<'_> {
    /// Returns the digest of language and query.
    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.language.as_bytes()).update(&[0]).update(self.query.as_bytes());
        *hasher.finalize().as_bytes()
    }
}

/// The counts of hits and misses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheCounts {
    /// The number of cached results used.
    pub hits: u64,
    /// The number of results computed.
    pub misses: u64,
}

/// A cache of results of queries, as bytes.
pub trait ResultCache: Sync {
    /// Returns the results stored for a key, if still present.
    fn get(&self, key: &CacheKey<'_>) -> Option<Vec<u8>>;
    /// Stores the results of a query. They may be evicted at any time.
    fn put(&self, key: &CacheKey<'_>, results: Vec<u8>);
    /// Returns the stored results like [`ResultCache::get`]. Without any, the caller must run the query and call
    /// [`ResultCache::leave`]; meanwhile other callers may wait.
    fn enter(&self, key: &CacheKey<'_>) -> Option<Vec<u8>> {
        self.get(key)
    }
    /// Ends an entry that [`ResultCache::enter`] began, after durable results were stored. `failed` contains results
    /// that are not durable.
    fn leave(&self, _key: &CacheKey<'_>, _failed: Option<Vec<u8>>) {}
    /// Returns the counts so far; `None` without a cache.
    fn counts(&self) -> Option<CacheCounts>;
    /// Writes pending results and returns messages for the user, such as a failure to write.
    fn finish(&self) -> Vec<String>;
}

/// A cache behind a reference or a shared pointer.
impl<P: Deref<Target: ResultCache> + Sync> ResultCache for P {
    fn get(&self, key: &CacheKey<'_>) -> Option<Vec<u8>> {
        (**self).get(key)
    }

    fn put(&self, key: &CacheKey<'_>, results: Vec<u8>) {
        (**self).put(key, results);
    }

    fn enter(&self, key: &CacheKey<'_>) -> Option<Vec<u8>> {
        (**self).enter(key)
    }

    fn leave(&self, key: &CacheKey<'_>, failed: Option<Vec<u8>>) {
        (**self).leave(key, failed);
    }

    fn counts(&self) -> Option<CacheCounts> {
        (**self).counts()
    }

    fn finish(&self) -> Vec<String> {
        (**self).finish()
    }
}

/// A cache that stores no results.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCache;

impl ResultCache for NoCache {
    fn get(&self, _: &CacheKey<'_>) -> Option<Vec<u8>> {
        None
    }

    fn put(&self, _: &CacheKey<'_>, _: Vec<u8>) {}

    fn counts(&self) -> Option<CacheCounts> {
        None
    }

    fn finish(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Returns the results stored for the key, or those of `run`. They are stored if another run would compute the same:
/// if the query succeeds or fails permanently.
///
/// # Errors
/// Returns an error if the query failed.
pub fn get_or_run<T: Serialize + DeserializeOwned, C: FailureKind>(
    cache: &dyn ResultCache,
    key: &CacheKey<'_>,
    run: impl FnOnce() -> Result<T, FailedQuery<C>>,
) -> Result<T, FailedQuery<C>> {
    let found = cache.enter(key);
    let mut entered = Entered { cache, key, failed: None, is_mine: found.is_none() };
    let known = found.and_then(|bytes| {
        let (known, used) = bincode::serde::decode_from_slice(&bytes, bincode::config::standard()).ok()?;
        (used == bytes.len()).then_some(known)
    });
    known.unwrap_or_else(|| {
        let results = run();
        let lasts = results.as_ref().map_or_else(|failed| failed.class.lasts(), |_| true);
        match bincode::serde::encode_to_vec(&results, bincode::config::standard()) {
            Ok(bytes) if lasts => cache.put(key, bytes),
            Ok(bytes) => entered.failed = Some(bytes),
            Err(_) => {}
        }
        results
    })
}

/// A query entered in a cache. Dropping it leaves the cache, even during unwinding.
struct Entered<'a> {
    cache: &'a dyn ResultCache,
    key: &'a CacheKey<'a>,
    failed: Option<Vec<u8>>,
    is_mine: bool,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if self.is_mine {
            self.cache.leave(self.key, self.failed.take());
        }
    }
}

/// Returns the digest of the running program. Two builds of one version may answer differently, so they do not share
/// cached results or unfinished runs.
///
/// # Errors
/// Returns an error if the program's file cannot be read.
pub fn program() -> io::Result<&'static str> {
    static DIGEST: OnceLock<String> = OnceLock::new();
    if let Some(digest) = DIGEST.get() {
        return Ok(digest);
    }
    // On Linux this also works if the file was replaced.
    let file = File::open("/proc/self/exe").or_else(|_| File::open(std::env::current_exe()?))?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file)?;
    Ok(DIGEST.get_or_init(|| hasher.finalize().to_hex().to_string()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use super::*;
    use crate::record::ErrorClass;

    #[derive(Default)]
    struct ResultTable(Mutex<BTreeMap<String, Vec<u8>>>);

    impl ResultCache for ResultTable {
        fn get(&self, key: &CacheKey<'_>) -> Option<Vec<u8>> {
            self.0.lock().unwrap().get(key.query).cloned()
        }

        fn put(&self, key: &CacheKey<'_>, results: Vec<u8>) {
            self.0.lock().unwrap().insert(key.query.to_owned(), results);
        }

        fn counts(&self) -> Option<CacheCounts> {
            None
        }

        fn finish(&self) -> Vec<String> {
            Vec::new()
        }
    }

    #[test]
    fn what_does_not_last_or_cannot_be_read_is_computed_again() {
        let table = ResultTable::default();
        let ask = |query, answer: Result<u32, ErrorClass>| {
            let key = CacheKey { snapshot: "s", language: "l", query };
            get_or_run(&table, &key, || answer.map_err(|class| FailedQuery::new(class, "x")))
                .map_err(|failed| failed.class)
        };
        assert_eq!(ask("a", Ok(1)), Ok(1));
        assert_eq!(ask("a", Ok(2)), Ok(1));
        let (late, wrong) = (ErrorClass::RuntimeErrorTimeout, ErrorClass::ParseError);
        assert_eq!(ask("b", Err(late)), Err(late));
        assert_eq!(ask("b", Ok(3)), Ok(3));
        assert_eq!(ask("c", Err(wrong)), Err(wrong));
        assert_eq!(ask("c", Ok(3)), Err(wrong));
        table.0.lock().unwrap().get_mut("a").unwrap().push(0);
        assert_eq!(ask("a", Ok(4)), Ok(4));
        table.0.lock().unwrap().get_mut("a").unwrap().clear();
        assert_eq!(ask("a", Ok(5)), Ok(5));
    }

    #[test]
    fn failures_have_the_bytes_that_caches_have() {
        let failed: Result<u8, FailedQuery<ErrorClass>> = Err(FailedQuery::new(ErrorClass::ParseError, "ab"));
        let bytes = bincode::serde::encode_to_vec(&failed, bincode::config::standard()).unwrap();
        assert_eq!(bytes, [1, 1, 2, b'a', b'b']);
    }

    #[test]
    fn the_program_has_a_digest() {
        assert_eq!(program().unwrap().len(), 64);
        assert_eq!(program().unwrap(), program().unwrap());
    }
}
