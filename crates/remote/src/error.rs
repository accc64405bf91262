//! The errors of transfers between a snapshot file and object storage.

use std::io;
use std::path::PathBuf;

use terrapin_snapshot as snapshot;

/// An error of a transfer between a snapshot file and object storage.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The address is invalid.
    #[error("{address}: {reason}")]
    Address {
        /// The address.
        address: String,
        /// The reason.
        reason: String,
    },
    /// The snapshot does not exist.
    #[error("{address}: {place} does not exist")]
    Absent {
        /// The address.
        address: String,
        /// The requested object.
        place: String,
    },
    /// The storage rejected the request or did not answer.
    #[error("{address}: {place}: {source}")]
    Storage {
        /// The address.
        address: String,
        /// The requested object.
        place: String,
        /// The storage's error.
        source: Box<object_store::Error>,
    },
    /// The storage sent more or fewer bytes than a range has.
    #[error(
        "{place}: the server sent {found} bytes for a range of {wanted} bytes; retry, or fetch from another server"
    )]
    Length {
        /// The requested object.
        place: String,
        /// The bytes of the range.
        wanted: u64,
        /// The bytes received before the transfer was ended.
        found: u64,
    },
    /// The object is another snapshot.
    #[error("{place} has the digest {found}, expected {wanted}")]
    Other {
        /// The object.
        place: String,
        /// Its digest.
        found: String,
        /// The requested object.
        wanted: String,
    },
    /// The received or sent bytes are not a valid snapshot.
    #[error(transparent)]
    Snapshot(#[from] snapshot::Error),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The system cannot start threads.
    #[error("threads: {0}")]
    Threads(io::Error),
}
