//! Opens a snapshot and its companion files for a command.

use std::path::Path;
use std::sync::Arc;

use super::{CommandError, slips};
use crate::engine::{Engine, EngineOptions};
use crate::eval::language::{self, QueryLanguage};
use crate::geocoder::PlaceTable;
use crate::snapshot::{self, Manifest, Snapshot};
use crate::sparql::{Environment, WITHOUT_TRIPLES};
use crate::tags::Docs;

/// A snapshot with its manifest.
pub struct OpenSnapshot {
    /// The file.
    pub snapshot: Arc<Snapshot>,
    /// Its manifest.
    pub manifest: Manifest,
}

impl OpenSnapshot {
    /// Returns the content digest in hexadecimal, if the file stores one.
    pub fn content(&self) -> Option<String> {
        self.manifest.content.map(|content| snapshot::hex(&content))
    }
}

/// Opens a snapshot file.
pub fn snapshot(path: &Path) -> Result<OpenSnapshot, CommandError> {
    slips::no_address(path)?;
    facts(Snapshot::open(path).map_err(error)?)
}

/// Returns the snapshot with its manifest.
///
/// # Errors
/// Returns an error if the snapshot is unfinished.
pub fn facts(snapshot: Snapshot) -> Result<OpenSnapshot, CommandError> {
    let manifest =
        snapshot.manifest().cloned().ok_or_else(|| CommandError::input("snapshot", "the snapshot is unfinished"))?;
    Ok(OpenSnapshot { snapshot: Arc::new(snapshot), manifest })
}

/// Returns `environment`, or an error if the snapshot lacks the triples for it.
pub fn with_triples<'a>(environment: Option<&'a Environment>, path: &Path) -> Result<&'a Environment, CommandError> {
    environment.ok_or_else(|| no_triples(path))
}

/// Returns the error for a snapshot without triples.
pub fn no_triples(path: &Path) -> CommandError {
    CommandError::input("no-triples", format!("{} has no triples: {WITHOUT_TRIPLES}", path.display()))
}

/// Reads a file of geocoded places; without a path, returns `None`.
pub fn places(path: Option<&Path>) -> Result<Option<PlaceTable>, CommandError> {
    path.map(PlaceTable::open).transpose().map_err(|error| CommandError::input("places-unreadable", error))
}

/// Returns whether a query begins like SPARQL.
pub fn begins_as_sparql(query: &str) -> bool {
    language::of(query) == Some(QueryLanguage::Sparql)
}

/// Opens all parts of a snapshot file with the default options.
pub fn engine(path: &Path) -> Result<Engine, CommandError> {
    engine_with(path, EngineOptions::default())
}

/// Opens all parts of a snapshot file.
pub fn engine_with(path: &Path, options: EngineOptions) -> Result<Engine, CommandError> {
    slips::no_address(path)?;
    Engine::open(path, options).map_err(error)
}

/// Reads the descriptions of keys and tags; without a path, returns none.
pub fn tag_docs(path: Option<&Path>) -> Result<Docs, CommandError> {
    let docs = path.map(Docs::read).transpose().map_err(|error| CommandError::input("tag-docs", error))?;
    Ok(docs.unwrap_or_default())
}

/// Converts an error of a snapshot file to the error of a command.
pub fn error(error: snapshot::Error) -> CommandError {
    let code = match &error {
        snapshot::Error::Io { .. } => "snapshot-unreadable",
        snapshot::Error::Foreign { .. } => "snapshot-foreign",
        snapshot::Error::Version { .. } => "snapshot-version",
        _ => "snapshot-damaged",
    };
    CommandError::input(code, error)
}

/// Runs `work` on a snapshot, if there is one.
///
/// # Errors
/// Returns an error if the snapshot is damaged.
pub fn checked<T>(engine: Option<&Engine>, work: impl FnOnce() -> T) -> Result<T, CommandError> {
    match engine {
        Some(engine) => engine.checked(work).map_err(error),
        None => Ok(work()),
    }
}
