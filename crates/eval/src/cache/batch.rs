//! Shares results within a batch: each query runs once, even if it times out.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use terrapin_budget as budget;

use super::{Cache, Counts, Key};

/// The interval at which a waiting thread checks whether it is stopped.
const TICK: Duration = Duration::from_millis(20);

/// The number of steps after which the budget is checked in any case.
const LOOK: usize = 1 << 20;

/// The digest of a language and a query.
type Name = [u8; 32];

/// The state of a query in the batch.
#[derive(Debug)]
enum State {
    /// A thread is running it.
    Running,
    /// It failed for a reason specific to this batch; the other instances share the failure.
    Failed(Vec<u8>),
}

/// A cache for one batch on top of a longer-lived one. A second thread that needs a query waits for the first.
#[derive(Debug)]
pub struct Batch<C> {
    kept: C,
    states: Mutex<HashMap<Name, State>>,
    changed: Condvar,
}

impl<C: Cache> Batch<C> {
    /// Returns a batch on top of a cache.
    pub fn new(kept: C) -> Batch<C> {
        Batch { kept, states: Mutex::default(), changed: Condvar::new() }
    }

    fn states(&self) -> MutexGuard<'_, HashMap<Name, State>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Cache> Cache for Batch<C> {
    fn get(&self, key: &Key<'_>) -> Option<Vec<u8>> {
        self.kept.get(key)
    }

    fn put(&self, key: &Key<'_>, results: Vec<u8>) {
        self.kept.put(key, results);
    }

    fn enter(&self, key: &Key<'_>) -> Option<Vec<u8>> {
        let name = key.digest();
        let mut states = self.states();
        loop {
            match states.get(&name) {
                Some(State::Failed(results)) => return Some(results.clone()),
                None => break,
                Some(State::Running) => {}
            }
            states = self.changed.wait_timeout(states, TICK).unwrap_or_else(PoisonError::into_inner).0;
            drop(states);
            // Unwinds if the waiting query is stopped.
            budget::checkpoints(LOOK);
            states = self.states();
        }
        // Results outlive the pair that computed them.
        budget::unwatched(|| states.insert(name, State::Running));
        drop(states);
        let found = self.kept.get(key);
        if found.is_some() {
            self.leave(key, None);
        }
        found
    }

    fn leave(&self, key: &Key<'_>, failed: Option<Vec<u8>>) {
        let name = key.digest();
        let mut states = self.states();
        budget::unwatched(|| match failed {
            Some(results) => drop(states.insert(name, State::Failed(results.as_slice().to_vec()))),
            None => drop(states.remove(&name)),
        });
        drop(states);
        self.changed.notify_all();
    }

    fn counts(&self) -> Option<Counts> {
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
    use crate::record::{ErrorClass, Failed};

    const KEY: Key<'_> = Key { snapshot: "s", language: "l", query: "q" };

    fn late() -> Result<u8, Failed<ErrorClass>> {
        Err(Failed::new(ErrorClass::RuntimeErrorTimeout, "late"))
    }

    #[test]
    fn eight_threads_run_a_query_once() {
        for give in [late, || Ok(7)] {
            let kept = InMemory::new(1 << 20);
            let (batch, ran, begin) = (Batch::new(&kept), AtomicUsize::new(0), Barrier::new(8));
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
        assert_eq!(get_or_run(&Batch::new(&kept), &KEY, late), late());
        assert_eq!(get_or_run(&Batch::new(&kept), &KEY, || Ok::<_, Failed<ErrorClass>>(1)), Ok(1));
    }

    #[test]
    fn what_unwinds_leaves_the_query_to_the_next() {
        let batch = Batch::new(NoCache);
        let panics = || get_or_run(&batch, &KEY, || -> Result<u8, Failed<ErrorClass>> { panic!("on purpose") });
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        assert_eq!(get_or_run(&batch, &KEY, || Ok::<u8, Failed<ErrorClass>>(1)), Ok(1));
    }
}
