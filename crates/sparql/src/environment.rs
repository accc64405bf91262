//! What queries are asked of.

use std::sync::Arc;

use super::moment::Moment;
use terrapin_snapshot::{Manifest, Snapshot};
use terrapin_triples::Store;

/// What queries are asked of.
pub struct Environment {
    /// The triples.
    pub store: Arc<Store>,
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
        let Some(store) = Store::open(snapshot)? else { return Ok(None) };
        Ok(Some(Environment::of(Arc::new(store), snapshot.manifest(), &snapshot.digest())))
    }

    /// What queries of triples are asked of, whose snapshot has this manifest and digest.
    pub fn of(store: Arc<Store>, manifest: Option<&Manifest>, digest: &str) -> Environment {
        let newest = manifest
            .map_or(0, |manifest| manifest.triples.map_or(0, |triples| triples.newest).max(manifest.data_timestamp));
        Environment { store, now: Moment::at(newest).lexical(), seed: digest.as_bytes().to_vec() }
    }
}
