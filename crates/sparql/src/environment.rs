//! The data that a query runs on.

use std::sync::Arc;

use super::elements::ElementSource;
use super::moment::Moment;
use terrapin_osm::Osm;
use terrapin_snapshot::{Manifest, Snapshot};
use terrapin_triples::Store;

/// The data that a query runs on: triples, elements, and fixed inputs for `NOW()` and random values.
pub struct Environment {
    /// The triple store.
    pub store: Arc<Store>,
    /// The OpenStreetMap elements, if the snapshot has any. Queries see them as triples.
    pub elements: Option<Arc<ElementSource>>,
    /// The value of `NOW()`: the snapshot's time in the lexical form of `xsd:dateTime`.
    pub now: String,
    /// The part of the random seed that does not depend on the query: the snapshot's digest.
    pub seed: Vec<u8>,
}

impl Environment {
    /// Opens a snapshot for queries; returns `None` if it has no triples.
    ///
    /// # Errors
    /// Returns an error if the snapshot is damaged.
    pub fn open(snapshot: &Arc<Snapshot>) -> std::result::Result<Option<Environment>, terrapin_snapshot::Error> {
        Environment::open_beside(snapshot, &Arc::new(Osm::open(Arc::clone(snapshot))?))
    }

    /// Opens a snapshot for queries if its elements are already open; returns `None` if it has no triples.
    ///
    /// # Errors
    /// Returns an error if the snapshot is damaged.
    pub fn open_beside(
        snapshot: &Arc<Snapshot>,
        osm: &Arc<Osm>,
    ) -> std::result::Result<Option<Environment>, terrapin_snapshot::Error> {
        let Some(store) = Store::open(snapshot)? else { return Ok(None) };
        let environment = Environment::of_snapshot(store, snapshot);
        let has_elements = snapshot.manifest().is_some_and(|manifest| manifest.counts.nodes > 0);
        Ok(Some(if has_elements { environment.with_elements(Arc::clone(osm)) } else { environment }))
    }

    fn of_snapshot(store: Store, snapshot: &Snapshot) -> Environment {
        Environment::of(Arc::new(store), snapshot.manifest(), &snapshot.digest())
    }

    /// Creates an environment with elements and an empty triple store.
    pub fn of_elements(osm: Arc<Osm>, manifest: Option<&Manifest>, digest: &str) -> Environment {
        Environment::of(Arc::new(Store::none()), manifest, digest).with_elements(osm)
    }

    /// Adds the snapshot's elements.
    #[must_use]
    pub fn with_elements(self, osm: Arc<Osm>) -> Environment {
        let elements = ElementSource::new(osm, &self.store);
        Environment { elements: Some(Arc::new(elements)), ..self }
    }

    /// Creates an environment from a triple store and its snapshot's manifest and digest.
    pub fn of(store: Arc<Store>, manifest: Option<&Manifest>, digest: &str) -> Environment {
        let newest = manifest
            .map_or(0, |manifest| manifest.triples.map_or(0, |triples| triples.newest).max(manifest.data_timestamp));
        Environment { store, elements: None, now: Moment::at(newest).lexical(), seed: digest.as_bytes().to_vec() }
    }
}
