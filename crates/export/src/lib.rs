//! Exports all data of a snapshot to files for other programs. Loaded again, they give the same content digest. The
//! same snapshot gives the same bytes, independent of threads, memory and time. This crate does not know query
//! languages or how snapshots are made.

mod by_id;
mod elements;
#[cfg(feature = "geoparquet")]
pub mod geoparquet;
mod triples;

pub use elements::{pbf, xml};
pub use terrapin_loaders::pbf::write::Compression;
pub use triples::triples;

use std::io;

use terrapin_base::external_sort;
use terrapin_osm::ElementType;

/// The errors of an export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The snapshot is damaged.
    #[error(transparent)]
    Snapshot(#[from] terrapin_snapshot::Error),
    /// A temporary file failed.
    #[error(transparent)]
    Temporary(#[from] external_sort::SpillError),
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[source] io::Error),
    /// An element has a character that XML lacks.
    #[error("{} {id} has a character that XML cannot hold; PBF holds all", kind.name())]
    Character {
        /// Its type.
        kind: ElementType,
        /// Its id.
        id: i64,
    },
    /// An element is larger than a block of PBF may be.
    #[error("{} {id} takes more than a block of PBF may; XML has no such bound", kind.name())]
    Size {
        /// Its type.
        kind: ElementType,
        /// Its id.
        id: i64,
    },
    /// The snapshot has named graphs, which N-Triples lacks.
    #[error("the snapshot has named graphs, which N-Triples cannot name; N-Quads can")]
    Graphs,
}
