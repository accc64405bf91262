//! What can go wrong while a snapshot is made.

use std::path::PathBuf;

use terrapin_base::external_sort;
use terrapin_loaders as loaders;
use terrapin_osm::build::BuildError as OsmError;
use terrapin_snapshot as snapshot;
use terrapin_triples::build::BuildError as TriplesError;

/// What can go wrong while a snapshot is made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A source file is broken.
    #[error(transparent)]
    Source(#[from] loaders::Error),
    /// An element cannot be stored, or there are too many.
    #[error(transparent)]
    Elements(OsmError),
    /// The triples cannot be stored.
    #[error(transparent)]
    Triples(TriplesError),
    /// A moment is asked for of a file that has one state only.
    #[error("{}: not a history file, which has all versions (.osh.pbf): only its newest state is known", path.display())]
    NoHistory {
        /// The file.
        path: PathBuf,
    },
    /// A source has no triple.
    #[error("{}: no triples in this file", path.display())]
    NoTriples {
        /// The file.
        path: PathBuf,
    },
    /// The recipe takes nothing.
    #[error("the recipe takes no entity: {}", .0.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    NothingTaken(
        /// The dumps.
        Vec<PathBuf>,
    ),
    /// A file cannot be read or written.
    #[error(transparent)]
    Snapshot(#[from] snapshot::Error),
    /// A temporary file failed.
    #[error(transparent)]
    Temporary(#[from] external_sort::Error),
    /// A recipe is wrong.
    #[error("the recipe is wrong: {0}")]
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
