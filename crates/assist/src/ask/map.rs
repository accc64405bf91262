//! Converts SPARQL solutions to map features. The geometry is the first of these: a geometry in the solution, the
//! geometry of the first element in it, the coordinates (P625) of the first item that has some. Features have the
//! item's label, description and image, if the snapshot has them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use oxrdf::{NamedNodeRef, Term, TermRef};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use crate::agents::{Trouble, body, script};
use terrapin_budget::{self as budget, Limits};
use terrapin_engine::Engine;
use terrapin_overpass::output::{AnswerFormat, GeoJsonLayout, RECORD_SEPARATOR};
use terrapin_sparql::geo::{Crs, GeometryFormat, LocatedGeometry};
use terrapin_sparql::results::cell;
use terrapin_triples::Store;

/// The IRI prefix of elements, before type and id.
const ELEMENT: &str = "https://www.openstreetmap.org/";
const ENTITY: &str = "http://www.wikidata.org/entity/Q";
const COORDINATES: &str = "http://www.wikidata.org/prop/direct/P625";
const IMAGE: &str = "http://www.wikidata.org/prop/direct/P18";
const LABEL: &str = "http://www.w3.org/2000/01/rdf-schema#label";
const DESCRIPTION: &str = "http://schema.org/description";
/// The language of labels.
const LANGUAGE: &str = "en";

/// The geometries of solutions.
pub struct SolutionLocations<'a> {
    store: &'a Store,
    /// The geometries of the elements in the solutions, by type and id.
    elements: HashMap<String, Box<RawValue>>,
}

#[derive(Deserialize)]
struct Shaped {
    id: String,
    geometry: Box<RawValue>,
}

impl<'a> SolutionLocations<'a> {
    /// Looks up the geometries of the elements in `rows`.
    ///
    /// # Errors
    /// Returns an error if a limit was reached.
    pub fn of(
        engine: &Engine,
        store: &'a Store,
        rows: &[Vec<Option<Term>>],
        limits: &Limits,
    ) -> Result<SolutionLocations<'a>, Trouble> {
        let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        // A solution with a geometry does not need those of its elements.
        for row in rows.iter().filter(|row| !row.iter().flatten().any(|value| geometry(value).is_some())) {
            budget::checkpoint();
            for (kind, id) in row.iter().flatten().filter_map(element) {
                ids.entry(kind).or_default().insert(id);
            }
        }
        let mut elements = HashMap::new();
        if !ids.is_empty() {
            let listed = ids
                .iter()
                .map(|(kind, ids)| format!("{kind}(id:{});", ids.iter().copied().collect::<Vec<_>>().join(",")));
            let query = format!("({});out geom;", listed.collect::<String>());
            let query = script(engine, &query, None, limits)?;
            let shapes = body(engine.osm(), &query, AnswerFormat::GeoJson(GeoJsonLayout::Sequence), limits)?;
            let shaped = records(&shapes).filter_map(|record| serde_json::from_slice::<Shaped>(record).ok());
            elements.extend(shaped.map(|shaped| (shaped.id, shaped.geometry)));
        }
        Ok(SolutionLocations { store, elements })
    }

    /// Returns a solution as a feature, or `None` if it has no geometry.
    pub fn feature(&self, columns: &[String], row: &[Option<Term>]) -> Option<Box<RawValue>> {
        budget::checkpoint();
        let store = self.store;
        let values = || row.iter().flatten();
        let item = values().find(|value| matches!(value, Term::NamedNode(node) if node.as_str().starts_with(ENTITY)));
        let shape = || {
            let named = values().filter_map(element).map(|(kind, id)| format!("{kind}/{id}"));
            named.filter_map(|name| self.elements.get(&name)).find_map(|shape| serde_json::from_str(shape.get()).ok())
        };
        let geometry = values().find_map(geometry).or_else(shape).or_else(|| {
            values().find_map(|value| {
                let Term::NamedNode(node) = value else { return None };
                node.as_str().starts_with(ENTITY).then_some(())?;
                objects(store, value, COORDINATES).find_map(|place| geometry(&place))
            })
        })?;
        let mut properties: Map<String, Value> = columns
            .iter()
            .zip(row)
            // A geometry is not repeated among the properties.
            .filter_map(|(name, value)| {
                Some((name.clone(), value.as_ref().filter(|value| LocatedGeometry::from_term(value).is_none())?))
            })
            .map(|(name, value)| (name, Value::from(shown(value))))
            .collect();
        if let Some(item) = item {
            for (name, value) in [
                ("label", text(store, item, LABEL)),
                ("description", text(store, item, DESCRIPTION)),
                ("image", objects(store, item, IMAGE).next().map(|image| shown(&image))),
            ] {
                if let Some(value) = value.filter(|_| !properties.contains_key(name)) {
                    properties.insert(name.to_owned(), value.into());
                }
            }
        }
        let id = item.or_else(|| values().find(|value| element(value).is_some())).map(cell);
        to_raw_value(&json!({"type": "Feature", "id": id, "properties": properties, "geometry": geometry})).ok()
    }
}

/// Returns the features of a sequence, each as its JSON text.
fn records(sequence: &[u8]) -> impl Iterator<Item = &[u8]> {
    sequence.split(|byte| *byte == RECORD_SEPARATOR).map(<[u8]>::trim_ascii).filter(|record| !record.is_empty())
}

/// Returns the type and the id of an element.
fn element(value: &Term) -> Option<(&str, &str)> {
    let Term::NamedNode(node) = value else { return None };
    let (kind, id) = node.as_str().strip_prefix(ELEMENT)?.split_once('/')?;
    let is_one = ["node", "way", "relation"].contains(&kind) && id.parse::<i64>().is_ok();
    is_one.then_some((kind, id))
}

/// Returns a literal's geometry as GeoJSON, in longitude and latitude.
fn geometry(value: &Term) -> Option<Value> {
    let located = LocatedGeometry::from_term(value)?;
    if matches!(located.crs, Crs::Other(_)) {
        return None;
    }
    let Term::Literal(written) =
        (LocatedGeometry { format: GeometryFormat::GeoJson, crs: Crs::Crs84, ..located }).to_term()?
    else {
        return None;
    };
    serde_json::from_str(written.value()).ok()
}

/// Formats a value for people: a text without its language.
pub fn shown(value: &Term) -> String {
    match value {
        Term::Literal(literal) => literal.value().to_owned(),
        other => cell(other),
    }
}

fn objects<'a>(store: &'a Store, subject: &Term, predicate: &str) -> impl Iterator<Item = Term> + 'a {
    let subject = store.id(TermRef::from(subject));
    let predicate = store.id(NamedNodeRef::new_unchecked(predicate).into());
    let both = subject.zip(predicate);
    both.into_iter()
        .flat_map(|(subject, predicate)| store.triples(Some(subject), Some(predicate), None))
        .filter_map(|[_, _, object]| store.term(object))
}

fn text(store: &Store, subject: &Term, predicate: &str) -> Option<String> {
    objects(store, subject, predicate).find_map(|object| match object {
        Term::Literal(literal) if literal.language() == Some(LANGUAGE) => Some(literal.value().to_owned()),
        _ => None,
    })
}
