//! The execution of OverpassQL, with values for the shortcuts of Overpass Turbo.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use terrapin_engine::{Engine, OverpassRejection, QueryContext};
use terrapin_geocoder::PlaceTable;
use terrapin_osm::BoundingBox;
use terrapin_overpass::turbo::Reason;
use terrapin_overpass::{self as overpass, output::Recording};

use crate::bounds::CallLimits;
use crate::raise::RefusedQuery;

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

/// Runs a query in OverpassQL or its XML form.
///
/// # Errors
/// Returns an error if the query is invalid, fails, or reaches a limit.
pub fn overpass(
    engine: &Engine,
    text: &str,
    shortcuts: &Shortcuts,
    bounds: &CallLimits,
) -> Result<Recording, RefusedQuery> {
    let limits = bounds.limits();
    let read = engine.run(&limits, || {
        let places = engine.places(shortcuts.places.as_ref());
        let context = QueryContext { bbox: shortcuts.bbox, places: &places };
        let query = engine.prepare_overpass(text, &context).map_err(|rejection| match rejection {
            OverpassRejection::Syntax { text, failure } => RefusedQuery::of(failure, text),
            OverpassRejection::Shortcut(problem) => {
                let help = match problem.reason {
                    Reason::NoBox => Some("give the box: bbox=\"south,west,north,east\"".to_owned()),
                    Reason::NoPlace => Some("give names and where they lead: places={...}".to_owned()),
                    _ => None,
                };
                RefusedQuery::new(vec![problem.diagnostic(help).erase()], text)
            }
        })?;
        Ok((query.script, query.text.into_owned()))
    });
    let (script, text) = read.map_err(|stopped| RefusedQuery::stopped(stopped, text))??;
    overpass::record(engine.osm(), &script, &limits).map_err(|failure| RefusedQuery::of(failure, text))
}
