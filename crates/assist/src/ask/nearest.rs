//! The baseline without a model: the query of the nearest example, with the place of its question replaced by that of
//! the new one. Nothing leaves the machine.
//!
//! Moved in OverpassQL by [`with_places`]: `{{geocodeArea:X}}` and the other shortcuts with a name, and `area[...]` with
//! a name, an ISO code, or a Wikipedia or Wikidata link. Everything else stays: `{{bbox}}`, coordinates, ids, dates.
//! SPARQL stays as it is, because the parts of a query that depend on a place cannot be told from its text.

use serde_json::json;
use terrapin_budget::Limits;
use terrapin_engine::Engine;
use terrapin_geocoder::{AreaLookup, Hit, PlaceSource};
use terrapin_osm::ElementType;

use super::examples::Example;
use crate::agents;
use terrapin_eval::language::QueryLanguage;
use terrapin_eval::moving::question::spans;
use terrapin_eval::moving::{PlaceName, with_places};

/// Returns the query of an example with its places replaced by those of a question. Without a known place in the
/// question, the query stays unchanged.
pub fn moved(engine: &Engine, example: &Example, question: &str, limits: &Limits) -> String {
    if example.language == QueryLanguage::Sparql {
        return example.query.clone();
    }
    with_places(&example.query, &places(engine, question, limits))
}

/// Returns the areas of the snapshot that a question names, in the order of the question.
fn places(engine: &Engine, question: &str, limits: &Limits) -> Vec<PlaceName> {
    let lookup = AreaLookup::new(engine.osm());
    let mut found: Vec<(usize, usize, PlaceName)> = Vec::new();
    for span in spans(question) {
        let overlaps = |(start, end, _): &(usize, usize, PlaceName)| span.start < *end && *start < span.end;
        if found.iter().any(overlaps) {
            continue;
        }
        if let Some(place) = named(engine, &lookup, &span.text) {
            found.push((span.start, span.end, place));
        }
    }
    if found.is_empty() {
        // Names in other languages and other spellings.
        let spelled = spans(question).into_iter().filter(|span| span.is_name);
        found.extend(
            spelled
                .filter_map(|span| Some((span.start, span.end, geocoded(engine, &lookup, &span.text, limits)?)))
                .take(1),
        );
    }
    found.sort_by_key(|(start, ..)| *start);
    found.into_iter().map(|(_, _, place)| place).collect()
}

/// Returns the area with this name, if it is a boundary or a settlement.
fn named(engine: &Engine, lookup: &AreaLookup<'_>, text: &str) -> Option<PlaceName> {
    let element = *lookup.find(text)?.element.value()?;
    let hit = Hit::of(engine.osm(), element, &|_| None)?;
    let is_region = ["boundary", "place"].iter().any(|key| hit.details.tag(key).is_some());
    if !is_region && element.kind != ElementType::Relation {
        return None;
    }
    Some(PlaceName {
        shortcut: text.to_owned(),
        name: hit.details.tag("name").unwrap_or(text).to_owned(),
        admin_level: hit.details.tag("admin_level").map(str::to_owned),
        ..PlaceName::default()
    })
}

/// Returns the settlement or region that the geocoder finds for a name, if its own name leads to its area.
fn geocoded(engine: &Engine, lookup: &AreaLookup<'_>, text: &str, limits: &Limits) -> Option<PlaceName> {
    let answer = agents::find("geocode")?.call(engine, json!({"name": text, "limit": 0}), limits).ok()?;
    let category = answer["category"].as_str()?;
    let is_region = ["boundary=", "place="].iter().any(|key| category.starts_with(key));
    if !is_region {
        return None;
    }
    named(engine, lookup, answer["name"].as_str()?)
}
