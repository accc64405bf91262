//! Frees the memory of a query in the background. Freeing millions of small allocations takes up to seconds; the
//! answer, or the error for a reached limit, need not wait for it. A thread frees them. Call [`wait`] before the next
//! query begins.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::{Deref, DerefMut};
use std::thread::JoinHandle;

use terrapin_budget as budget;

/// Items from which on freeing them is left to a thread.
const MANY: usize = 1 << 16;

thread_local! {
    /// The threads that free memory for this thread.
    static FREEING: RefCell<Vec<JoinHandle<()>>> = const { RefCell::new(Vec::new()) };
}

/// Waits until the memory that this thread handed to other threads is free.
pub fn wait() {
    for thread in FREEING.take() {
        // A drop that panics is no concern of the next query's.
        let _ = thread.join();
    }
}

/// A collection.
pub trait Collection: Default + Send + 'static {
    /// Returns the number of items.
    fn items(&self) -> usize;
}

impl<T: Send + 'static> Collection for Vec<T> {
    fn items(&self) -> usize {
        self.len()
    }
}

impl<T: Send + 'static> Collection for BTreeSet<T> {
    fn items(&self) -> usize {
        self.len()
    }
}

impl<K: Send + 'static, V: Send + 'static> Collection for BTreeMap<K, V> {
    fn items(&self) -> usize {
        self.len()
    }
}

impl<T: Send + 'static, S: Default + Send + 'static> Collection for HashSet<T, S> {
    fn items(&self) -> usize {
        self.len()
    }
}

impl<K: Send + 'static, V: Send + 'static, S: Default + Send + 'static> Collection for HashMap<K, V, S> {
    fn items(&self) -> usize {
        self.len()
    }
}

/// A collection whose drop is deferred if it is large.
#[derive(Debug, Default)]
pub struct Deferred<C: Collection>(C);

impl<C: Collection> Deferred<C> {
    /// Defers the drop of a collection.
    pub fn new(collection: C) -> Self {
        Deferred(collection)
    }

    /// Returns the collection itself.
    pub fn take(&mut self) -> C {
        std::mem::take(&mut self.0)
    }
}

impl<C: Collection> Deref for Deferred<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.0
    }
}

impl<C: Collection> DerefMut for Deferred<C> {
    fn deref_mut(&mut self) -> &mut C {
        &mut self.0
    }
}

impl<C: Collection> Drop for Deferred<C> {
    fn drop(&mut self) {
        if self.0.items() < MANY {
            return;
        }
        let large = self.take();
        let current = budget::current();
        // If no thread can be started, the collection is freed here.
        let thread =
            std::thread::Builder::new().name("freeing".to_owned()).spawn(move || current.share(|| drop(large)));
        if let Ok(thread) = thread {
            FREEING.with_borrow_mut(|threads| threads.push(thread));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_ones_are_freed() {
        let alive = std::sync::Arc::new(());
        for items in [1, MANY] {
            let mut deferred = Deferred::<Vec<std::sync::Arc<()>>>::default();
            deferred.resize(items, alive.clone());
            drop(deferred);
            wait();
            assert_eq!(std::sync::Arc::strong_count(&alive), 1);
        }
    }
}
