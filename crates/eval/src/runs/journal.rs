//! The finished part of a run, so that a killed run can resume.

use std::collections::BTreeMap;
use std::io;

use crate::record::StoredOutcome;

/// Stores outcomes during a run.
pub trait Journal: Sync {
    /// Returns the outcomes of an earlier attempt at the same run, by line.
    fn known(&self) -> BTreeMap<usize, StoredOutcome>;
    /// Appends outcomes durably: after it returns, a kill or power cut does not lose them.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    fn append(&self, outcomes: &[StoredOutcome]) -> io::Result<()>;
}

/// A journal that discards everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoJournal;

impl Journal for NoJournal {
    fn known(&self) -> BTreeMap<usize, StoredOutcome> {
        BTreeMap::new()
    }

    fn append(&self, _: &[StoredOutcome]) -> io::Result<()> {
        Ok(())
    }
}
