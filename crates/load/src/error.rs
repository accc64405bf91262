//! The errors of a load.

use std::path::PathBuf;

use terrapin_base::{external_sort, size};
use terrapin_loaders as loaders;
use terrapin_osm::ElementType;
use terrapin_osm::build::ElementBuildError as OsmError;
use terrapin_snapshot as snapshot;
use terrapin_triples::build::TripleBuildError as TriplesError;

use super::room::Room;

/// An error of a load.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A source file is broken.
    #[error(transparent)]
    Source(#[from] loaders::LoaderError),
    /// An element cannot be stored, or there are too many elements.
    #[error(transparent)]
    Elements(OsmError),
    /// The triples cannot be stored.
    #[error(transparent)]
    Triples(TriplesError),
    /// A time was requested from a file with a single state.
    #[error("{}: not a history file (.osh.pbf): it has only the newest state", path.display())]
    NoHistory {
        /// The file.
        path: PathBuf,
    },
    /// A file of changes has an older version of an element than an earlier file.
    #[error(
        "{} {id}: version {} in {}, after version {} in {}; pass the changes oldest first",
        kind.name(), .versions[1], .files[1].display(), .versions[0], .files[0].display()
    )]
    Backwards {
        /// The element's type.
        kind: ElementType,
        /// Its id.
        id: i64,
        /// The newer version and the older one.
        versions: [u32; 2],
        /// The files with these versions.
        files: [PathBuf; 2],
    },
    /// The part of a snapshot is empty.
    #[error("the snapshot has no elements in the requested part: {0}")]
    NothingThere(
        /// The requested part.
        String,
    ),
    /// A source has no triples.
    #[error("{}: no triples in this file", path.display())]
    NoTriples {
        /// The file.
        path: PathBuf,
    },
    /// Lexical forms are to be kept, and the triples of the base have lost theirs.
    #[error(
        "--lexical-forms: the base stores literals in canonical form, and their written forms are lost; load its sources \
         again with --lexical-forms, or leave the option out"
    )]
    LexicalForms,
    /// The recipe selects no entity.
    #[error("the recipe selects no entity: {}", .0.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    NothingTaken(
        /// The dumps.
        Vec<PathBuf>,
    ),
    /// The disk is too small.
    #[error(
        "{}: the load needs {} to {} here, and {} are free; free some space, or choose other folders with --out and --temp",
        .0.folder.display(), size::show(.0.least), size::show(.0.most), size::show(.0.free)
    )]
    Room(Room),
    /// A file cannot be read or written.
    #[error(transparent)]
    Snapshot(#[from] snapshot::Error),
    /// A temporary file failed.
    #[error(transparent)]
    Temporary(#[from] external_sort::SpillError),
    /// A recipe is wrong.
    #[error("the recipe is invalid: {0}")]
    Recipe(String),
}

impl From<OsmError> for LoadError {
    fn from(error: OsmError) -> Self {
        match error {
            OsmError::Source(error) => LoadError::Source(error),
            OsmError::Snapshot(error) => LoadError::Snapshot(error),
            OsmError::Temporary(error) => LoadError::Temporary(error),
            other => LoadError::Elements(other),
        }
    }
}

impl From<TriplesError> for LoadError {
    fn from(error: TriplesError) -> Self {
        match error {
            TriplesError::Snapshot(error) => LoadError::Snapshot(error),
            TriplesError::Temporary(error) => LoadError::Temporary(error),
            other => LoadError::Triples(other),
        }
    }
}
