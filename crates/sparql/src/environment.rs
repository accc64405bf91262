//! What queries are asked of.

use std::sync::Arc;

use super::elements::Elements;
use super::moment::Moment;
use terrapin_osm::Osm;
use terrapin_snapshot::{Manifest, Snapshot};
use terrapin_triples::Store;

/// What queries are asked of.
pub struct Environment {
    /// The triples.
    pub store: Arc<Store>,
    /// The elements of OpenStreetMap, if the snapshot has some: they are asked as triples, too.
    pub elements: Option<Arc<Elements>>,
    /// The snapshot's time as `xsd:dateTime` is written: what `NOW()` gives.
    pub now: String,
    /// What random values depend on besides the query: the snapshot's digest.
    pub seed: Vec<u8>,
}

impl Environment {
    /// What queries of a snapshot are asked of; `None` if it has no triples.
    ///
    /// # Errors
    /// The snapshot is damaged.
    pub fn open(snapshot: &Arc<Snapshot>) -> std::result::Result<Option<Environment>, terrapin_snapshot::Error> {
        let has_elements = snapshot.manifest().is_some_and(|manifest| manifest.counts.nodes > 0);
        match has_elements {
            true => Environment::open_beside(snapshot, &Arc::new(Osm::open(Arc::clone(snapshot))?)),
            false => Ok(Store::open(snapshot)?.map(|store| Environment::of_snapshot(store, snapshot))),
        }
    }

    /// The same where the snapshot's elements are open already.
    ///
    /// # Errors
    /// The snapshot is damaged.
    pub fn open_beside(
        snapshot: &Arc<Snapshot>,
        osm: &Arc<Osm>,
    ) -> std::result::Result<Option<Environment>, terrapin_snapshot::Error> {
        let store = Store::open(snapshot)?;
        Ok(store.map(|store| Environment::of_snapshot(store, snapshot).with_elements(Arc::clone(osm))))
    }

    fn of_snapshot(store: Store, snapshot: &Snapshot) -> Environment {
        Environment::of(Arc::new(store), snapshot.manifest(), &snapshot.digest())
    }

    /// What queries of elements are asked of, where there are no triples.
    pub fn of_elements(osm: Arc<Osm>, manifest: Option<&Manifest>, digest: &str) -> Environment {
        Environment::of(Arc::new(Store::none()), manifest, digest).with_elements(osm)
    }

    /// The same with the snapshot's elements.
    #[must_use]
    pub fn with_elements(self, osm: Arc<Osm>) -> Environment {
        let elements = Elements::new(osm, &self.store);
        Environment { elements: Some(Arc::new(elements)), ..self }
    }

    /// What queries of triples are asked of, whose snapshot has this manifest and digest.
    pub fn of(store: Arc<Store>, manifest: Option<&Manifest>, digest: &str) -> Environment {
        let newest = manifest
            .map_or(0, |manifest| manifest.triples.map_or(0, |triples| triples.newest).max(manifest.data_timestamp));
        Environment { store, elements: None, now: Moment::at(newest).lexical(), seed: digest.as_bytes().to_vec() }
    }
}
