//! Opens a snapshot for a command.

use std::path::Path;
use std::sync::Arc;

use super::{CommandError, slips};
use crate::engine::{Engine, EngineOptions};
use crate::eval::language::{self, QueryLanguage};
use crate::osm::{CACHE_BYTES, Osm};
use crate::snapshot::{self, Manifest, Snapshot};
use crate::sparql::{Environment, RunnableQuery, WITHOUT_TRIPLES};
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

/// Returns the environment for SPARQL queries over triples.
///
/// # Errors
/// Returns an error if the snapshot has no triples.
pub fn triples(opened: &OpenSnapshot, path: &Path) -> Result<Environment, CommandError> {
    let environment = Environment::open(&opened.snapshot).map_err(error)?;
    environment.ok_or_else(|| {
        CommandError::input("no-triples", format!("{} has no triples: {WITHOUT_TRIPLES}", path.display()))
    })
}

/// Returns the environment for `query`; a query about elements alone needs no triples.
pub fn asked(opened: &OpenSnapshot, path: &Path, query: &RunnableQuery) -> Result<Environment, CommandError> {
    if query.is_of_elements() { environment(opened) } else { triples(opened, path) }
}

/// Returns the environment over the triples and elements that the snapshot has.
pub fn environment(opened: &OpenSnapshot) -> Result<Environment, CommandError> {
    if let Some(environment) = Environment::open(&opened.snapshot).map_err(error)? {
        return Ok(environment);
    }
    let osm = Osm::open(Arc::clone(&opened.snapshot)).map_err(error)?;
    Ok(Environment::of_elements(Arc::new(osm), Some(&opened.manifest), &opened.snapshot.digest()))
}

/// Returns whether a query begins like SPARQL.
pub fn begins_as_sparql(query: &str) -> bool {
    language::of(query) == Some(QueryLanguage::Sparql)
}

/// Opens the elements of a snapshot file.
pub fn elements(path: &Path) -> Result<(OpenSnapshot, Arc<Osm>), CommandError> {
    elements_within(path, CACHE_BYTES)
}

/// Opens the elements of a snapshot file, keeping at most `cache` bytes of decoded pages.
pub fn elements_within(path: &Path, cache: u64) -> Result<(OpenSnapshot, Arc<Osm>), CommandError> {
    let opened = snapshot(path)?;
    let osm = Osm::open_with(Arc::clone(&opened.snapshot), cache).map_err(error)?;
    Ok((opened, Arc::new(osm)))
}

/// Opens all parts of a snapshot file.
pub fn engine(path: &Path, options: EngineOptions) -> Result<Engine, CommandError> {
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
