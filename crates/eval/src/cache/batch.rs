//! Shares results within a batch: each query runs once, even if it times out.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use terrapin_budget as budget;

use super::{CacheCounts, CacheKey, ResultCache};

/// The interval at which a waiting thread checks whether it is stopped.
const TICK: Duration = Duration::from_millis(20);

/// The number of steps after which the budget is checked in any case.
const LOOK: usize = 1 << 20;

/// The digest of a language and a query.
type Name = [u8; 32];

/// The state of a query in the batch.
#[derive(Debug)]
enum BatchQueryState {
    /// A thread is running it.
    Running,
    /// It failed for a reason specific to this batch; the other instances share the failure.
    Failed(Vec<u8>),
}

/// A cache for one batch on top of a longer-lived one. A second thread that needs a query waits for the first.
#[derive(Debug)]
pub struct BatchCache<C> {
    kept: C,
    states: Mutex<HashMap<Name, BatchQueryState>>,
    changed: Condvar,
}

impl<C: ResultCache> BatchCache<C> {
    /// Returns a batch on top of a cache.
    pub fn new(kept: C) -> BatchCache<C> {
        BatchCache { kept, states: Mutex::default(), changed: Condvar::new() }
    }

    fn states(&self) -> MutexGuard<'_, HashMap<Name, BatchQueryState>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: ResultCache> ResultCache for BatchCache<C> {
    fn get(&self, key: &CacheKey<'_>) -> Option<Vec<u8>> {
        self.kept.get(key)
    }

    fn put(&self, key: &CacheKey<'_>, results: Vec<u8>) {
        self.kept.put(key, results);
    }

    fn enter(&self, key: &CacheKey<'_>) -> Option<Vec<u8>> {
        let name = key.digest();
        let mut states = self.states();
        loop {
            match states.get(&name) {
                Some(BatchQueryState::Failed(results)) => return Some(results.clone()),
                None => break,
                Some(BatchQueryState::Running) => {}
            }
            states = self.changed.wait_timeout(states, TICK).unwrap_or_else(PoisonError::into_inner).0;
            drop(states);
            // Unwinds if the waiting query is stopped.
            budget::checkpoints(LOOK);
            states = self.states();
        }
        // Results outlive the pair that computed them.
        budget::unwatched(|| states.insert(name, BatchQueryState::Running));
        drop(states);
        let found = self.kept.get(key);
        if found.is_some() {
            self.leave(key, None);
        }
        found
    }

    fn leave(&self, key: &CacheKey<'_>, failed: Option<Vec<u8>>) {
        let name = key.digest();
        let mut states = self.states();
        budget::unwatched(|| match failed {
            Some(results) => drop(states.insert(name, BatchQueryState::Failed(results.as_slice().to_vec()))),
            None => drop(states.remove(&name)),
        });
        drop(states);
        self.changed.notify_all();
    }

    fn counts(&self) -> Option<CacheCounts> {
        self.kept.counts()
    }

    fn finish(&self) -> Vec<String> {
        self.kept.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;
    use crate::cache::{InMemory, NoCache, get_or_run};
    use crate::record::{ErrorClass, FailedQuery};

    const KEY: CacheKey<'_> = CacheKey { snapshot: "s", language: "l", query: "q" };

    fn late() -> Result<u8, FailedQuery<ErrorClass>> {
        Err(FailedQuery::new(ErrorClass::RuntimeErrorTimeout, "late"))
    }

    #[test]
    fn eight_threads_run_a_query_once() {
        for give in [late, || Ok(7)] {
            let kept = InMemory::new(1 << 20);
            let (batch, ran, begin) = (BatchCache::new(&kept), AtomicUsize::new(0), Barrier::new(8));
            let one = || {
                begin.wait();
                get_or_run(&batch, &KEY, || {
                    ran.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(Duration::from_millis(50));
                    give()
                })
            };
            let all: Vec<_> = thread::scope(|scope| {
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(all.iter().all(|result| *result == give()), "{all:?}");
            assert_eq!(ran.into_inner(), 1);
        }
    }

    #[test]
    fn a_time_out_is_forgotten_with_the_batch() {
        let kept = InMemory::new(1 << 20);
        assert_eq!(get_or_run(&BatchCache::new(&kept), &KEY, late), late());
        assert_eq!(get_or_run(&BatchCache::new(&kept), &KEY, || Ok::<_, FailedQuery<ErrorClass>>(1)), Ok(1));
    }

    #[test]
    fn what_unwinds_leaves_the_query_to_the_next() {
        let batch = BatchCache::new(NoCache);
        let panics = || get_or_run(&batch, &KEY, || -> Result<u8, FailedQuery<ErrorClass>> { panic!("on purpose") });
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        assert_eq!(get_or_run(&batch, &KEY, || Ok::<u8, FailedQuery<ErrorClass>>(1)), Ok(1));
    }
}
