//! Making the sections of a snapshot from a stream of elements: everything is sorted by total keys, so neither the
//! number of threads nor the memory budget shows in the result.
//!
//! Nodes are sorted along the Hilbert curve, which gives them ordinals; ways find their nodes' ordinals and positions by
//! id, are sorted by the middle of their box; relations likewise by the box of their members; then pages are encoded in
//! parallel and written in order.

mod batch;
mod elements;
mod pages;
mod pile;
mod resolve;
mod strings;
mod tags;

use std::path::PathBuf;

pub use batch::Batch;
pub use elements::Builder;
pub use pile::Scratch;
pub(crate) use pile::{Pile, Sealed};
pub(crate) use strings::StringSorter;

use super::{ElementType, hilbert};

/// What can go wrong while a snapshot is made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The source file is broken.
    #[error(transparent)]
    Source(#[from] terrapin_loaders::Error),
    /// An element that cannot be stored.
    #[error("{} {id}: {reason}", kind.name())]
    Element {
        /// Its type.
        kind: ElementType,
        /// Its id.
        id: i64,
        /// Why.
        reason: String,
    },
    /// The snapshot cannot be written.
    #[error(transparent)]
    Snapshot(#[from] crate::snapshot::Error),
    /// A temporary file failed.
    #[error("temporary file in {}: {source}; choose another folder with --temp or more memory with --memory", folder.display())]
    Temporary {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A recipe is wrong.
    #[error("the recipe is wrong: {0}")]
    Recipe(String),
    /// The names of users and roles, which stay in memory, take too much of it.
    #[error("the names of users and roles take more than a quarter of the memory; allow more with --memory")]
    Names,
    /// Something has more entries than the format can number.
    #[error("too many {0} for this snapshot format")]
    TooMany(&'static str),
}

/// Hears how far a load is.
pub trait Progress: Sync {
    /// A phase begins; `total` is in units of its own (bytes of the source, pages), 0 where unknown.
    fn phase(&self, name: &str, total: u64);
    /// So much more of the phase is done.
    fn advance(&self, amount: u64);
}

/// Tells nobody.
pub struct Quiet;

impl Progress for Quiet {
    fn phase(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
}
