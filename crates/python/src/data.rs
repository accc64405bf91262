//! What is open of a snapshot, and how OverpassQL is run on it.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use terrapin_budget::{self as budget, Budget};
use terrapin_geocoder::{Areas, Chain, Places, Table};
use terrapin_osm::{BoundingBox, Osm};
use terrapin_overpass::turbo::{self, Reason, Surroundings};
use terrapin_overpass::{self as overpass, output::Recording};
use terrapin_snapshot::{self as file, Manifest};
use terrapin_sparql::{Environment, is_of_elements};
use terrapin_tags::Tags;

use crate::bounds::Bounds;
use crate::raise::Refused;

/// What is open of a snapshot.
pub struct Data {
    /// The file.
    pub file: Arc<file::Snapshot>,
    /// What it says of itself.
    pub manifest: Manifest,
    /// Its name.
    pub digest: String,
    /// Its elements.
    pub osm: Arc<Osm>,
    /// Which tags they have.
    pub tags: Tags,
    /// Its triples.
    pub triples: Option<Arc<Environment>>,
}

/// Where names lead that an answer is not to look up in the data.
///
/// # Errors
/// `ValueError` for what is not in the shape of `nominatim_cache.json`.
pub fn places(json: Option<&str>) -> PyResult<Option<Table>> {
    let table = json.map(|json| Table::parse(json.as_bytes())).transpose();
    table.map_err(|e| PyValueError::new_err(format!("places: {e}")))
}

/// What shortcuts of Overpass Turbo's stand for.
pub struct Shortcuts {
    /// The box of `{{bbox}}`.
    pub bbox: Option<BoundingBox>,
    /// Where names lead.
    pub places: Option<Table>,
}

impl Data {
    /// What a SPARQL query is asked of; nothing where there are no triples, and it is not of elements alone.
    pub fn asked(&self, query: &str) -> Option<Arc<Environment>> {
        let elements = || Arc::new(Environment::of_elements(Arc::clone(&self.osm), Some(&self.manifest), &self.digest));
        self.triples.clone().or_else(|| is_of_elements(query).then(elements))
    }

    /// Runs a query in OverpassQL or its XML form.
    ///
    /// # Errors
    /// It is refused, or a bound was reached.
    pub fn overpass(&self, text: &str, shortcuts: &Shortcuts, bounds: &Bounds) -> Result<Recording, Refused> {
        let limits = bounds.limits();
        let bounded = Arc::new(Budget::new(&limits));
        let read = budget::watched(&bounded, || {
            let areas = Areas::new(&self.osm);
            let mut places = Chain::default();
            places.0.extend(shortcuts.places.as_ref().map(|table| table as &dyn Places));
            places.0.push(&areas);
            let now = self.manifest.data_timestamp;
            let surroundings = Surroundings { bbox: shortcuts.bbox, now, places: &places };
            let text = turbo::expand(text, &surroundings).map_err(|problem| {
                let help = match problem.reason {
                    Reason::NoBox => Some("give the box: bbox=\"south,west,north,east\"".to_owned()),
                    Reason::NoPlace => Some("give names and where they lead: places={...}".to_owned()),
                    _ => None,
                };
                Refused::new(vec![problem.diagnostic(help).into()], text)
            })?;
            let script = overpass::parse(&text).map_err(|failure| Refused::of(failure, text.as_ref()))?;
            Ok((script, text.into_owned()))
        });
        let (script, text) = read.map_err(|stopped| Refused::stopped(&stopped, text))??;
        overpass::record(&self.osm, &script, &limits).map_err(|failure| Refused::of(failure, text))
    }
}
