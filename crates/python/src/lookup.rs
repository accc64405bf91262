//! What helps to write a query: tags found in words, entities and places found by name. The answers are those of the tools of agents.

use std::sync::Arc;

use serde_json::{Value, json};
use terrapin_budget::{self as budget, Budget};
use terrapin_entities::{EntityKind, Languages, Match, Search, chain, description, find, label};
use terrapin_geocoder::{Areas, Details, Places};
use terrapin_sparql::Environment;

use crate::bounds::Bounds;
use crate::data::Data;
use crate::raise::Refused;

/// Most tags that are given.
const MOST: usize = 50;
/// Most keys that are given beside them.
const KEYS: usize = 10;

/// The tags that words in English stand for, the best first, as JSON.
///
/// # Errors
/// A bound was reached.
pub fn search_tags(data: &Data, text: &str, limit: usize, bounds: &Bounds) -> Result<Value, Refused> {
    within(bounds, text, || {
        let found = data.tags.search(text, limit.clamp(1, MOST));
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

/// The entities that a name stands for, the likeliest first, as JSON: in a language and those that stand in for it, else in any.
///
/// # Errors
/// A bound was reached.
pub fn search_entities(
    triples: &Environment,
    text: &str,
    kind: EntityKind,
    language: &str,
    limit: usize,
    bounds: &Bounds,
) -> Result<Value, Refused> {
    within(bounds, text, || {
        let (store, shown) = (&triples.store, chain(language));
        let limit = limit.clamp(1, MOST);
        let these = Languages::These(&shown);
        let search = Search { text, kind, languages: these, limit, descriptions: true, slips: false };
        let mut found = find(store, &search);
        if found.is_empty() {
            found = find(store, &Search { languages: Languages::All, ..search });
        }
        let entity = |found: Match| {
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

/// The area that a name stands for, as JSON; null where there is none.
///
/// # Errors
/// A bound was reached.
pub fn geocode(data: &Data, name: &str, bounds: &Bounds) -> Result<Value, Refused> {
    within(bounds, name, || {
        let name = name.trim();
        let found = Areas::new(&data.osm).find(name).and_then(|place| Some((*place.element.value()?, place)));
        let Some((element, place)) = found else { return Value::Null };
        let details = data.osm.find(element.kind, element.id);
        let details = details.map(|ordinal| Details::of(&data.osm, element.kind, ordinal));
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

fn within(bounds: &Bounds, text: &str, work: impl FnOnce() -> Value) -> Result<Value, Refused> {
    let budget = Arc::new(Budget::new(&bounds.limits()));
    budget::watched(&budget, work).map_err(|stopped| Refused::stopped(&stopped, text))
}
