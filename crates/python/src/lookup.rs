//! Search for tags by words, and for entities and places by name. The results have the form of the agent tools'
//! results.

use serde_json::{Value, json};
use terrapin_engine::Engine;
use terrapin_entities::{EntityKind, EntityMatch, EntityQuery, Languages, chain, description, find, label};
use terrapin_geocoder::{AreaLookup, Details, PlaceSource};
use terrapin_sparql::Environment;

use crate::bounds::CallLimits;
use crate::raise::RefusedQuery;

/// Maximum number of tags or entities.
const MOST: usize = 50;
/// Maximum number of keys.
const KEYS: usize = 10;

/// Searches for tags by English words. Returns JSON, best match first.
///
/// # Errors
/// Returns an error if a limit was reached or the snapshot is damaged.
pub fn search_tags(engine: &Engine, text: &str, limit: usize, bounds: &CallLimits) -> Result<Value, RefusedQuery> {
    within(engine, bounds, text, || {
        let found = engine.tags().search(text, limit.clamp(1, MOST));
        let tags = found.tags.into_iter().map(|found| {
            let mut tag = json!({ "key": found.tag.key, "value": found.tag.value, "count": found.tag.counts.all() });
            if let Some(together) = found.together {
                tag["with_first"] = together.into();
            }
            tag
        });
        let keys = found.keys.into_iter().take(KEYS);
        let keys = keys.map(|key| json!({ "key": key.key, "count": key.counts.all(), "values": key.values }));
        json!({ "total": found.total, "tags": tags.collect::<Vec<_>>(), "keys": keys.collect::<Vec<_>>() })
    })
}

/// Searches for entities by name. Returns JSON, likeliest first. Labels in `language` and its fallback languages are
/// searched first; if none matches, those in all languages are.
///
/// # Errors
/// Returns an error if a limit was reached or the snapshot is damaged.
pub fn search_entities(
    engine: &Engine,
    triples: &Environment,
    text: &str,
    kind: EntityKind,
    language: &str,
    limit: usize,
    bounds: &CallLimits,
) -> Result<Value, RefusedQuery> {
    within(engine, bounds, text, || {
        let (store, shown) = (&triples.store, chain(language));
        let limit = limit.clamp(1, MOST);
        let these = Languages::These(&shown);
        let search = EntityQuery { text, kind, languages: these, limit, descriptions: true, slips: false };
        let mut found = find(store, &search);
        if found.is_empty() {
            found = find(store, &EntityQuery { languages: Languages::All, ..search });
        }
        let entity = |found: EntityMatch| {
            let label = label(store, found.id, &shown).map(|label| label.value);
            json!({
                "id": found.id.to_string(),
                "label": label.or(found.is_label.then_some(found.text)),
                "description": description(store, found.id, &shown).map(|text| text.value),
                "uses": found.id.uses(store),
            })
        };
        found.into_iter().map(entity).collect()
    })
}

/// Finds the area with a name. Returns JSON, or null if no area matches.
///
/// # Errors
/// Returns an error if a limit was reached or the snapshot is damaged.
pub fn geocode(engine: &Engine, name: &str, bounds: &CallLimits) -> Result<Value, RefusedQuery> {
    within(engine, bounds, name, || {
        let (osm, name) = (engine.osm(), name.trim());
        let found = AreaLookup::new(osm).find(name).and_then(|place| Some((*place.element.value()?, place)));
        let Some((element, place)) = found else { return Value::Null };
        let details = osm.find(element.kind, element.id);
        let details = details.map(|ordinal| Details::of(osm, element.kind, ordinal));
        let details = details.unwrap_or(Details { tags: Vec::new() });
        let (key, value) = details.category();
        let degrees = |text: &str| text.parse::<f64>().ok();
        json!({
            "name": details.tag("name").unwrap_or(name),
            "osm_type": element.kind.name(),
            "osm_id": element.id,
            "category": format!("{key}={value}"),
            "admin_level": details.tag("admin_level"),
            "area_id": element.area_id(),
            "center": place.center.value().map(|at| [degrees(&at.lat), degrees(&at.lon)]),
            "bbox": place.bounds.value().map(|b| [&b.south, &b.west, &b.north, &b.east].map(|side| degrees(side))),
        })
    })
}

fn within(
    engine: &Engine,
    bounds: &CallLimits,
    text: &str,
    work: impl FnOnce() -> Value,
) -> Result<Value, RefusedQuery> {
    engine.run(&bounds.limits(), work).map_err(|stop| RefusedQuery::stopped(stop, text))
}
