//! What can go wrong between a snapshot's file and the storage.

use std::io;
use std::path::PathBuf;

use terrapin_snapshot as snapshot;

/// What can go wrong between a snapshot's file and the storage.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An address that is none.
    #[error("{address}: {reason}")]
    Address {
        /// The address.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no such snapshot.
    #[error("{address}: there is no {place}")]
    Absent {
        /// The address.
        address: String,
        /// What was asked for.
        place: String,
    },
    /// The storage refused or did not answer.
    #[error("{address}: {place}: {source}")]
    Storage {
        /// The address.
        address: String,
        /// What was asked for.
        place: String,
        /// What it said.
        source: Box<object_store::Error>,
    },
    /// The storage sent more or fewer bytes than a range has.
    #[error("{place}: the server sent {found} bytes of a range of {wanted}; try again, or fetch from another server")]
    Length {
        /// What was fetched.
        place: String,
        /// The bytes of the range.
        wanted: u64,
        /// The bytes received before the transfer was ended.
        found: u64,
    },
    /// What lies there is another snapshot.
    #[error("{place} is the snapshot {found}, not {wanted}")]
    Other {
        /// Where it lies.
        place: String,
        /// Its digest.
        found: String,
        /// What was asked for.
        wanted: String,
    },
    /// What arrived, or what was to be sent, is no whole snapshot.
    #[error(transparent)]
    Snapshot(#[from] snapshot::Error),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No threads.
    #[error("threads: {0}")]
    Threads(io::Error),
}
