//! The open snapshot behind one handle: [`Engine`] owns the file, its elements, its triples and its tags. It does not
//! know its clients: commands, the HTTP services, agents, questions and the Python module.

mod places;
mod query;
mod run;

use std::path::Path;
use std::sync::Arc;

use terrapin_geocoder::PlaceTable;
use terrapin_osm::{CACHE_BYTES, Osm};
use terrapin_snapshot::{Error, Manifest, Snapshot, hex};
use terrapin_sparql::Environment;
use terrapin_tags::{Docs, TagStatistics};

pub use places::PlaceSources;
pub use query::{OverpassQuery, OverpassRejection, QueryContext, SparqlRejection};
pub use run::Stop;

/// Options for opening a snapshot.
#[derive(Debug)]
pub struct EngineOptions {
    /// Maximum bytes of decoded pages in the cache.
    pub cache: u64,
    /// Descriptions of keys and tags.
    pub docs: Docs,
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions { cache: CACHE_BYTES, docs: Docs::default() }
    }
}

/// An open snapshot.
pub struct Engine {
    snapshot: Arc<Snapshot>,
    digest: String,
    manifest: Manifest,
    osm: Arc<Osm>,
    tags: TagStatistics,
    graph: Environment,
    has_triples: bool,
}

impl Engine {
    /// Opens a snapshot file with its elements and triples. Pages are read later, when queries need them.
    ///
    /// # Errors
    /// The file cannot be read, is not a snapshot, or is damaged.
    pub fn open(path: &Path, options: EngineOptions) -> Result<Engine, Error> {
        let snapshot = Arc::new(Snapshot::open(path)?);
        let manifest = snapshot.manifest().cloned().ok_or_else(|| Error::damaged("manifest", "it is missing"))?;
        let osm = Arc::new(Osm::open_with(Arc::clone(&snapshot), options.cache)?);
        let triples = Environment::open_beside(&snapshot, &osm)?;
        let digest = snapshot.digest();
        let has_triples = triples.is_some();
        let graph = triples.unwrap_or_else(|| Environment::of_elements(Arc::clone(&osm), Some(&manifest), &digest));
        let tags = TagStatistics::new(Arc::clone(&osm), options.docs);
        Ok(Engine { snapshot, digest, manifest, osm, tags, graph, has_triples })
    }

    /// Returns the file.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Returns the snapshot's digest.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the content digest in hexadecimal, if the file stores one.
    pub fn content(&self) -> Option<String> {
        self.manifest.content.map(|content| hex(&content))
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the time of the elements, in seconds since 1970.
    pub fn data_timestamp(&self) -> i64 {
        self.manifest.data_timestamp
    }

    /// Returns the elements.
    pub fn osm(&self) -> &Arc<Osm> {
        &self.osm
    }

    /// Returns the places that Overpass Turbo's shortcuts may name: those of `table`, if given, take precedence over the
    /// areas of the snapshot.
    pub fn places<'a>(&'a self, table: Option<&'a PlaceTable>) -> PlaceSources<'a> {
        PlaceSources::new(table, &self.osm)
    }

    /// Returns the tags of the elements, with their descriptions.
    pub fn tags(&self) -> &TagStatistics {
        &self.tags
    }

    /// Returns the environment for SPARQL queries over triples and elements; `None` if the snapshot has no triples.
    pub fn triples(&self) -> Option<&Environment> {
        self.has_triples.then_some(&self.graph)
    }

    /// Returns the environment over the triples and elements that the snapshot has. Without triples, only queries about
    /// elements alone have a meaning in it.
    pub fn graph(&self) -> &Environment {
        &self.graph
    }

    /// Fails if damaged elements or triples were read since the snapshot was opened.
    ///
    /// # Errors
    /// The first damage.
    pub fn fail_if_damaged(&self) -> Result<(), Error> {
        self.osm.check()?;
        self.graph.store.check()
    }
}
