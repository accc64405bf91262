//! Explains an empty result by a likely mistake, so that no user takes it for the content of the map. Checks only the
//! query and the extent of the data, therefore it is fast.

use terrapin_osm::{BoundingBox, ElementType, Osm};

use crate::run::to_osm;
use crate::syntax::{FilterKind, Script, StatementKind, Tag, on_statements};

/// The maximum number of notes.
const NOTES: usize = 5;

/// Returns the likely mistakes in the order of the text, without duplicates.
pub fn notes(script: &Script, osm: &Osm) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut add = |note: Option<String>| {
        if let Some(note) = note.filter(|note| notes.len() < NOTES && !notes.contains(note)) {
            notes.push(note);
        }
    };
    add(script.settings.bbox.as_ref().and_then(|bbox| is_swapped(osm, &to_osm(bbox))));
    let mut writes = false;
    on_statements(&script.statements, &mut |statement| match &statement.kind {
        StatementKind::Out(_) => writes = true,
        StatementKind::Query(query) => query.filters.iter().for_each(|filter| add(filter_note(osm, &filter.kind))),
        _ => {}
    });
    if !writes {
        add(Some("nothing is written without \"out\": node[amenity=cafe]; out;".to_owned()));
    }
    notes
}

fn filter_note(osm: &Osm, filter: &FilterKind) -> Option<String> {
    match filter {
        FilterKind::Bbox(bbox) => is_swapped(osm, &to_osm(&bbox.bounds)),
        FilterKind::Tag(Tag::HasKey { key }) => {
            let (key, value) = key.split_once('=')?;
            Some(format!("[\"{key}={value}\"] asks for a key with a \"=\" in it; a tag is [\"{key}\"=\"{value}\"]"))
        }
        _ => None,
    }
}

/// Returns a note if a box contains no data, but would with latitudes and longitudes swapped.
fn is_swapped(osm: &Osm, bbox: &BoundingBox) -> Option<String> {
    let swapped = BoundingBox { south: bbox.west, west: bbox.south, north: bbox.east, east: bbox.north };
    let has_data = |bbox: &BoundingBox| !osm.pages_in(ElementType::Node, bbox).is_empty();
    let is = !bbox.is_empty() && !swapped.is_empty() && !has_data(bbox) && has_data(&swapped);
    is.then(|| "a box has no data; were latitude and longitude swapped? It is (south,west,north,east)".to_owned())
}
