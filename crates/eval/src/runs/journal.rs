//! What of a run is done, so that a killed run goes on where it was.

use std::collections::BTreeMap;
use std::io;

use crate::record::Outcome;

/// Keeps what came out while a run goes on.
pub trait Journal: Sync {
    /// What an earlier attempt at the same run left, by line.
    fn known(&self) -> BTreeMap<usize, Outcome>;
    /// Adds what came out; when it returns, a kill or a power cut loses none of it.
    ///
    /// # Errors
    /// It cannot be written.
    fn append(&self, outcomes: &[Outcome]) -> io::Result<()>;
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoJournal;

impl Journal for NoJournal {
    fn known(&self) -> BTreeMap<usize, Outcome> {
        BTreeMap::new()
    }

    fn append(&self, _: &[Outcome]) -> io::Result<()> {
        Ok(())
    }
}
