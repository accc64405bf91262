//! Builds the sections of a snapshot from a stream of elements. Everything is sorted by total keys, so that the result
//! does not depend on the number of threads or the memory budget.
//!
//! Nodes are sorted along the Hilbert curve, which gives them ordinals. Ways find their nodes' ordinals and positions
//! by id, and are then sorted by the middle of their box. Relations are sorted in the same way by the box of their
//! members. Pages are encoded in parallel while sorted elements are read.
//!
//! Data that may exceed the memory is never accessed at random. References are sorted in the order of the elements they
//! refer to, read next to these, and sorted back (`join.rs`). Therefore a load reads and writes temporary files only
//! sequentially, whatever its size.

mod batch;
mod elements;
mod gather;
mod join;
mod nodes;
mod pages;
mod payload;
mod postings;
mod records;
mod relations;
mod state;
mod tables;
mod values;
mod versions;
mod ways;

pub use batch::ElementBatch;
pub use elements::{ElementBuildReport, ElementBuilder};
pub(crate) use payload::{get_members, get_nodes, get_tags};
pub(crate) use records::ElementRecord as Version;
pub use state::{Tables, write_state};
pub(crate) use versions::decode as decode_versions;

use terrapin_base::LoadProgress;
use terrapin_base::external_sort::{self, SpillScratch};

use super::{ElementType, hilbert};

/// The inputs that all steps share.
struct BuildContext<'a> {
    scratch: &'a SpillScratch,
    /// zstd's level.
    level: i32,
    progress: &'a dyn LoadProgress,
    /// The pairs for the tag numbers of the blocks.
    pairs: &'a values::PairNumbers,
    users: &'a tables::UserTable,
    roles: &'a tables::Roles,
    /// Whether versions, times, changesets and users are written.
    metadata: bool,
}

/// An error while elements are stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ElementBuildError {
    /// The source file is broken.
    #[error(transparent)]
    Source(#[from] terrapin_loaders::LoaderError),
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
    /// A file of changes has an older version of an element than a file before it.
    #[error(
        "{} {id}: version {} in file {} of changes, after version {} in file {}", kind.name(),
        .versions[1], .files[1], .versions[0], .files[0]
    )]
    Backwards {
        /// The element's type.
        kind: ElementType,
        /// Its id.
        id: i64,
        /// The newer version and the older one.
        versions: [u32; 2],
        /// The numbers, from 1, of the files that have them.
        files: [usize; 2],
    },
    /// The snapshot cannot be written.
    #[error(transparent)]
    Snapshot(#[from] terrapin_snapshot::Error),
    /// A temporary file failed.
    #[error(transparent)]
    Temporary(#[from] external_sort::SpillError),
    /// The names of users and roles, which stay in memory, take too much of it.
    #[error("the names of users and roles take more than a quarter of the memory; allow more with --memory")]
    Names,
    /// Something has more entries than the format can number.
    #[error("too many {0} for this snapshot format")]
    TooMany(&'static str),
}
