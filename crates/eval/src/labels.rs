//! Labels of a gold query's identifiers, for a model or a person who writes questions for it: names of elements and areas,
//! descriptions of tags, labels of Wikidata's entities.

use serde::Serialize;
use terrapin_engine::Engine;
use terrapin_osm::ElementType;
use terrapin_osm::areas::{RELATION_AREAS, WAY_AREAS};
use terrapin_overpass::syntax::Tag;
use terrapin_sparql::labelled::label;

use crate::dataset::GoldPair;
use crate::language::QueryLanguage;
use crate::moving::parts::{PartKind, QueryParts, tag_text};

/// A gold query with labels in place of identifiers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct LabelledQuery {
    /// The query with `[area:Malta]`, `[node:Café Cordina]` or `[entity:film]` in place of identifiers. It cannot run.
    pub labelled: String,
    /// The label of each identifier and the description of each tag, in the order of the query.
    pub labels: Vec<QueryLabel>,
    /// Identifiers without a label, which stay in the query.
    pub without_label: Vec<String>,
}

/// A label or a description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueryLabel {
    /// The identifier or the tag: `area 3600365307`, `amenity=cafe`.
    pub name: String,
    /// The label.
    pub label: String,
}

/// Labels a query with the names of a snapshot. `language` is that of labels, such as `en`. Descriptions of tags are those
/// of the engine's documentation of tags, if it has one.
pub fn labelled(engine: &Engine, pair: &GoldPair, language: &str) -> LabelledQuery {
    if pair.language() == QueryLanguage::Sparql {
        let Some(triples) = engine.triples() else {
            return LabelledQuery { labelled: pair.query.clone(), ..LabelledQuery::default() };
        };
        let found = label(&pair.query, &triples.store, language);
        return LabelledQuery { labelled: found.text, labels: Vec::new(), without_label: found.kept };
    }
    let parts = QueryParts::of(&pair.query);
    let mut found = LabelledQuery::default();
    let mut end = 0;
    for part in &parts.parts {
        let (what, elements): (_, Vec<(ElementType, i64)>) = match &part.kind {
            PartKind::AreaId(id) => ("area", area_element(*id).into_iter().collect()),
            PartKind::AreaRelation(id) => ("relation", vec![(ElementType::Relation, *id)]),
            PartKind::Id(kinds, id) => match kinds.as_slice() {
                [kind] => (kind.name(), vec![(*kind, *id)]),
                kinds => ("element", kinds.iter().map(|kind| (*kind, *id)).collect()),
            },
            _ => continue,
        };
        let written = pair.query.get(part.range.clone()).unwrap_or_default();
        let identifier = format!("{what} {written}");
        // An id of several types has the names of several elements.
        let mut names =
            elements.into_iter().filter_map(|(kind, id)| Some((kind, name_of(engine, kind, id, language)?)));
        let name = names.next().filter(|_| names.next().is_none());
        match name.filter(|(_, name)| !name.contains(['[', ']', '\n'])) {
            Some((kind, name)) => {
                let what = if what == "element" { kind.name() } else { what };
                found.labelled.push_str(pair.query.get(end..part.range.start).unwrap_or_default());
                found.labelled.push_str(&format!("[{what}:{name}]"));
                end = part.range.end;
                found.add(identifier, name);
            }
            None if !found.without_label.contains(&identifier) => found.without_label.push(identifier),
            None => {}
        }
    }
    found.labelled.push_str(pair.query.get(end..).unwrap_or_default());
    for tag in parts.queries.iter().flat_map(|query| &query.tags) {
        if let Some((name, description)) = description(engine, tag) {
            found.add(name, description);
        }
    }
    found
}

impl LabelledQuery {
    /// Adds a label once.
    fn add(&mut self, name: String, label: String) {
        if self.labels.iter().all(|known| known.name != name) {
            self.labels.push(QueryLabel { name, label });
        }
    }
}

/// Returns the element of an area by its id in OverpassQL.
fn area_element(id: i64) -> Option<(ElementType, i64)> {
    match id {
        id if id >= RELATION_AREAS => Some((ElementType::Relation, id - RELATION_AREAS)),
        id if id >= WAY_AREAS => Some((ElementType::Way, id - WAY_AREAS)),
        _ => None,
    }
}

/// Returns the name of an element in a language, else its local name.
fn name_of(engine: &Engine, kind: ElementType, id: i64, language: &str) -> Option<String> {
    let osm = engine.osm();
    let (page, slot) = osm.place(kind, osm.find(kind, id)?);
    let page = osm.tag_page(kind, page);
    let tag = |key: &str| {
        let range = osm.pairs_of(osm.key(key)?);
        let pair = page.tags(slot).iter().find(|pair| range.contains(pair))?;
        Some(osm.with_value(*pair, str::to_owned))
    };
    tag(&format!("name:{language}")).or_else(|| tag("name"))
}

/// Returns a tag with its description.
fn description(engine: &Engine, tag: &Tag) -> Option<(String, String)> {
    let docs = engine.tags().docs();
    let (name, text) = match (tag_text(tag), tag) {
        (Some((key, value, false)), _) => (format!("{key}={value}"), docs.tag(key, value).or_else(|| docs.key(key))),
        (Some((key, _, true)), _) => (key.to_owned(), docs.key(key)),
        (None, Tag::HasKey { key } | Tag::NotKey { key }) => (key.clone(), docs.key(key)),
        _ => return None,
    };
    text.map(|text| (name, text.to_owned()))
}
