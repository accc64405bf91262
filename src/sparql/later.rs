//! Freeing what a query has kept: millions of rows take up to a second, for which an answer, or the error that a bound
//! was reached, need not wait.

use std::ops::{Deref, DerefMut};

use crate::budget;

/// Items from which on freeing them is left to a thread.
const MANY: usize = 1 << 16;

/// A collection.
pub(super) trait Collection: Default + Send + 'static {
    /// How many items it has.
    fn items(&self) -> usize;
}

impl<T: Send + 'static> Collection for Vec<T> {
    fn items(&self) -> usize {
        self.len()
    }
}

impl<T: Send + 'static, S: Default + Send + 'static> Collection for std::collections::HashSet<T, S> {
    fn items(&self) -> usize {
        self.len()
    }
}

impl<K: Send + 'static, V: Send + 'static, S: Default + Send + 'static> Collection
    for std::collections::HashMap<K, V, S>
{
    fn items(&self) -> usize {
        self.len()
    }
}

/// A collection that is freed apart where it is large.
#[derive(Debug, Default)]
pub(super) struct Later<C: Collection>(C);

impl<C: Collection> Later<C> {
    /// The collection itself.
    pub fn take(&mut self) -> C {
        std::mem::take(&mut self.0)
    }
}

impl<C: Collection> Deref for Later<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.0
    }
}

impl<C: Collection> DerefMut for Later<C> {
    fn deref_mut(&mut self) -> &mut C {
        &mut self.0
    }
}

impl<C: Collection> Drop for Later<C> {
    fn drop(&mut self) {
        if self.0.items() >= MANY {
            let large = self.take();
            let current = budget::current();
            // Where there is no thread to be had, it is freed here.
            let _ = std::thread::Builder::new().name("freeing".to_owned()).spawn(move || current.share(|| drop(large)));
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
            let mut later = Later::<Vec<std::sync::Arc<()>>>::default();
            later.resize(items, alive.clone());
            drop(later);
            let start = std::time::Instant::now();
            while std::sync::Arc::strong_count(&alive) > 1 {
                assert!(start.elapsed().as_secs() < 60, "never freed");
                std::thread::yield_now();
            }
        }
    }
}
