//! A program that is run again.

use std::sync::{Arc, OnceLock, Weak};

use super::program::Program;
use terrapin_triples::Store;

/// The program of a prepared query, kept for the next time that it is asked of the same triples.
#[derive(Debug, Default)]
pub(crate) struct Kept(OnceLock<(Weak<Store>, Program)>);

impl Kept {
    /// The program for these triples.
    pub fn get(&self, store: &Arc<Store>) -> Option<&Program> {
        // The weak reference keeps the address from being used again.
        self.0.get().filter(|(of, _)| of.as_ptr() == Arc::as_ptr(store)).map(|(_, program)| program)
    }

    /// Keeps a program, if it can be run again and none is kept.
    ///
    /// # Errors
    /// It is not kept: here it is.
    pub fn keep(&self, store: &Arc<Store>, program: Program) -> Result<(), Program> {
        if !program.is_portable() {
            return Err(program);
        }
        self.0.set((Arc::downgrade(store), program)).map_err(|(_, program)| program)
    }
}
