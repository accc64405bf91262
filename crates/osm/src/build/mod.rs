//! Making the sections of a snapshot from a stream of elements: everything is sorted by total keys, so neither the
//! number of threads nor the memory budget shows in the result.
//!
//! Nodes are sorted along the Hilbert curve, which gives them ordinals; ways find their nodes' ordinals and positions by
//! id, are sorted by the middle of their box; relations likewise by the box of their members; then pages are encoded in
//! parallel and written in order.

mod batch;
mod elements;
mod order;
mod pages;
mod place;
mod resolve;
mod tags;

pub use batch::Batch;
pub use elements::Builder;

use terrapin_base::external_sort;

use super::{ElementType, hilbert};

/// What can go wrong while elements are stored.
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
    Snapshot(#[from] terrapin_snapshot::Error),
    /// A temporary file failed.
    #[error(transparent)]
    Temporary(#[from] external_sort::Error),
    /// The names of users and roles, which stay in memory, take too much of it.
    #[error("the names of users and roles take more than a quarter of the memory; allow more with --memory")]
    Names,
    /// Something has more entries than the format can number.
    #[error("too many {0} for this snapshot format")]
    TooMany(&'static str),
}
