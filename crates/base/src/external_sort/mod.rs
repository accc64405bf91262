//! External sorting: records and strings that may exceed the memory are written to temporary files and read back
//! sorted. The result does not depend on the amount of memory.

mod file;
mod pieces;
mod records;
mod rows;
mod shares;
mod sorter;
mod spool;
mod strings;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use pieces::{PieceFile, PiecesWriter};
pub use records::{RecordBuffer, SpillBuffer};
pub use rows::{PayloadSpan, RowsView, SortRecord, SortRows, get_fields, put_fields};
pub use shares::{Dealt, SpillShares};
pub use sorter::{Sortable, Sorted, SortedStream, Sorter};
pub use spool::{RecordSpool, SpoolBlock, SpoolWriter};
pub use strings::StringSorter;

/// A temporary file failed.
#[derive(Debug, thiserror::Error)]
#[error("temporary file in {}: {source}; choose another folder with --temp or more memory with --memory", folder.display())]
pub struct SpillError {
    /// The folder.
    pub folder: PathBuf,
    /// The error reported by the system.
    pub source: std::io::Error,
}

/// The folder for spilled data, and the memory limit of each buffer.
#[derive(Clone)]
pub struct SpillScratch {
    folder: Arc<PathBuf>,
    share: usize,
    memory: usize,
}

impl SpillScratch {
    /// Buffers alive at the same time at most; each gets this fraction of the budget.
    const BUFFERS: u64 = 10;

    /// Spills into `folder`; `memory` is the budget of the whole load in bytes.
    pub fn new(folder: &Path, memory: u64) -> SpillScratch {
        // Payloads are found by 32 bits, and a buffer grows by a block beyond its share.
        let share = (memory / Self::BUFFERS).clamp(1 << 20, 2 << 30);
        let whole = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        SpillScratch { folder: Arc::new(folder.to_owned()), share: whole(share), memory: whole(memory.max(16 << 20)) }
    }

    /// Bytes that the whole load may take; 16 MiB at least.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Bytes that one buffer may hold in memory.
    pub fn share(&self) -> usize {
        self.share
    }

    /// Creates an unnamed file. It disappears with the process, however that ends.
    pub fn file(&self) -> Result<File, SpillError> {
        tempfile::tempfile_in(&*self.folder).map_err(|e| self.error(e))
    }

    /// Returns the error for a failed operation on a temporary file.
    pub fn error(&self, source: std::io::Error) -> SpillError {
        SpillError { folder: (*self.folder).clone(), source }
    }
}
