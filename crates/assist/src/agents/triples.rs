//! The triples of a snapshot, for the tools that need them.

use terrapin_engine::Engine;
use terrapin_sparql::Environment;

use super::Trouble;

/// The use of SPARQL without triples.
const ELEMENTS: &str = "query its elements in SPARQL, as in SELECT * { ?e osmkey:amenity \"cafe\" } LIMIT 10 (terrapin://cheatsheet/elements)";

/// Returns the triples with their environment, or an error if the snapshot has none.
pub fn triples(engine: &Engine) -> Result<&Environment, Trouble> {
    engine.triples().ok_or_else(no_triples)
}

/// Returns the error for a snapshot without triples.
pub fn no_triples() -> Trouble {
    let message = "this snapshot has no triples: only elements of OpenStreetMap";
    Trouble::new(message).hint(format!("{ELEMENTS}; or use search_tags and query_overpass"))
}
