//! Caches a program to run it again.

use std::sync::{Arc, OnceLock, Weak};

use super::program::Program;
use terrapin_triples::Store;

/// The cached program of a prepared query, valid for one triple store.
#[derive(Debug, Default)]
pub(crate) struct ProgramCache(OnceLock<(Weak<Store>, Program)>);

impl ProgramCache {
    /// Returns the program if it was compiled for this store.
    pub fn get(&self, store: &Arc<Store>) -> Option<&Program> {
        // The weak reference prevents the address from being reused.
        self.0.get().filter(|(of, _)| of.as_ptr() == Arc::as_ptr(store)).map(|(_, program)| program)
    }

    /// Caches a program if it can be run again and none is cached yet.
    ///
    /// # Errors
    /// Returns the program if it was not cached.
    pub fn keep(&self, store: &Arc<Store>, program: Program) -> Result<(), Program> {
        if !program.is_portable() {
            return Err(program);
        }
        self.0.set((Arc::downgrade(store), program)).map_err(|(_, program)| program)
    }
}
