//! The open parts of a snapshot, and the execution of OverpassQL on it.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use terrapin_budget::{self as budget, Budget};
use terrapin_geocoder::{AreaLookup, Chain, PlaceSource, PlaceTable};
use terrapin_osm::{BoundingBox, Osm};
use terrapin_overpass::turbo::{self, Reason, ShortcutValues};
use terrapin_overpass::{self as overpass, output::Recording};
use terrapin_snapshot::{self as file, Manifest};
use terrapin_sparql::{Environment, is_of_elements};
use terrapin_tags::TagStatistics;

use crate::bounds::CallLimits;
use crate::raise::RefusedQuery;

/// The open parts of a snapshot.
pub struct SnapshotContents {
    /// The snapshot file.
    pub file: Arc<file::Snapshot>,
    /// The manifest of the file.
    pub manifest: Manifest,
    /// The digest, which identifies the snapshot.
    pub digest: String,
    /// The elements.
    pub osm: Arc<Osm>,
    /// The statistics of tags.
    pub tags: TagStatistics,
    /// The triples, if the snapshot has any.
    pub triples: Option<Arc<Environment>>,
}

/// Parses the places of a call: names with their places, which take precedence over the data.
///
/// # Errors
/// Returns a `ValueError` if the JSON does not have the form of `nominatim_cache.json`.
pub fn places(json: Option<&str>) -> PyResult<Option<PlaceTable>> {
    let table = json.map(|json| PlaceTable::parse(json.as_bytes())).transpose();
    table.map_err(|e| PyValueError::new_err(format!("places: {e}")))
}

/// Values of the shortcuts of Overpass Turbo.
pub struct Shortcuts {
    /// The bounding box for `{{bbox}}`.
    pub bbox: Option<BoundingBox>,
    /// Places by name, for `{{geocodeArea:}}` and similar shortcuts.
    pub places: Option<PlaceTable>,
}

impl SnapshotContents {
    /// Returns the environment for a SPARQL query. Returns `None` if the snapshot has no triples and the query needs
    /// more than elements.
    pub fn asked(&self, query: &str) -> Option<Arc<Environment>> {
        let elements = || Arc::new(Environment::of_elements(Arc::clone(&self.osm), Some(&self.manifest), &self.digest));
        self.triples.clone().or_else(|| is_of_elements(query).then(elements))
    }

    /// Runs a query in OverpassQL or its XML form.
    ///
    /// # Errors
    /// Returns an error if the query is invalid, fails, or reaches a limit.
    pub fn overpass(&self, text: &str, shortcuts: &Shortcuts, bounds: &CallLimits) -> Result<Recording, RefusedQuery> {
        let limits = bounds.limits();
        let bounded = Arc::new(Budget::new(&limits));
        let read = budget::watched(&bounded, || {
            let areas = AreaLookup::new(&self.osm);
            let mut places = Chain::default();
            places.0.extend(shortcuts.places.as_ref().map(|table| table as &dyn PlaceSource));
            places.0.push(&areas);
            let now = self.manifest.data_timestamp;
            let surroundings = ShortcutValues { bbox: shortcuts.bbox, now, places: &places };
            let text = turbo::expand(text, &surroundings).map_err(|problem| {
                let help = match problem.reason {
                    Reason::NoBox => Some("give the box: bbox=\"south,west,north,east\"".to_owned()),
                    Reason::NoPlace => Some("give names and where they lead: places={...}".to_owned()),
                    _ => None,
                };
                RefusedQuery::new(vec![problem.diagnostic(help).into()], text)
            })?;
            let script = overpass::parse(&text).map_err(|failure| RefusedQuery::of(failure, text.as_ref()))?;
            Ok((script, text.into_owned()))
        });
        let (script, text) = read.map_err(|stopped| RefusedQuery::stopped(&stopped, text))??;
        overpass::record(&self.osm, &script, &limits).map_err(|failure| RefusedQuery::of(failure, text))
    }
}
