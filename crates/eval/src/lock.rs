//! One process at a time in a folder. A lock goes with its process, however that ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// Held until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock that a file stands for; `None` where another process has it.
    ///
    /// # Errors
    /// The file cannot be made, or the file system has no locks.
    pub(crate) fn take(path: &Path) -> io::Result<Option<Lock>> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
