//! Converts SPARQL solutions to map features. The geometry is the first of these: a geometry in the solution, the
//! geometry of the first element in it, the coordinates (P625) of the first item that has some. Features have the
//! item's label, description and image, if the snapshot has them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

use oxrdf::{NamedNodeRef, Term, TermRef};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::agents::{Trouble, script, stopped};
use terrapin_budget::{self as budget, Limits};
use terrapin_engine::Engine;
use terrapin_overpass as overpass;
use terrapin_overpass::output::{MapFeature, MapFeatureSink};
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
    /// The geometries of the elements in the solutions.
    elements: ElementShapes,
}

/// Geometries of elements by name, such as `node/1`.
#[derive(Default)]
struct ElementShapes(HashMap<String, Box<RawValue>>);

/// A solution as a feature.
#[derive(Serialize)]
struct SolutionFeature {
    r#type: &'static str,
    id: Option<String>,
    properties: Map<String, Value>,
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
        let mut elements = ElementShapes::default();
        if !ids.is_empty() {
            let listed = ids
                .iter()
                .map(|(kind, ids)| format!("{kind}(id:{});", ids.iter().copied().collect::<Vec<_>>().join(",")));
            let query = format!("({});out geom;", listed.collect::<String>());
            let query = script(engine, &query, None, limits)?;
            overpass::run_features(engine.osm(), &query, None, limits, &mut elements).map_err(|why| stopped(&why))?;
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
            named.filter_map(|name| self.elements.0.get(&name)).next().cloned()
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
        to_raw_value(&SolutionFeature { r#type: "Feature", id, properties, geometry }).ok()
    }
}

impl MapFeatureSink for ElementShapes {
    fn feature(&mut self, feature: &MapFeature<'_>) -> io::Result<()> {
        budget::checkpoint();
        let shape = RawValue::from_string(feature.geometry.to_owned())?;
        self.0.insert(format!("{}/{}", feature.type_name, feature.id), shape);
        Ok(())
    }
}

/// Returns the type and the id of an element.
fn element(value: &Term) -> Option<(&str, &str)> {
    let Term::NamedNode(node) = value else { return None };
    let (kind, id) = node.as_str().strip_prefix(ELEMENT)?.split_once('/')?;
    let is_one = ["node", "way", "relation"].contains(&kind) && id.parse::<i64>().is_ok();
    is_one.then_some((kind, id))
}

/// Returns a literal's geometry as GeoJSON, in longitude and latitude.
fn geometry(value: &Term) -> Option<Box<RawValue>> {
    let located = LocatedGeometry::from_term(value)?;
    if matches!(located.crs, Crs::Other(_)) {
        return None;
    }
    let Term::Literal(written) =
        (LocatedGeometry { format: GeometryFormat::GeoJson, crs: Crs::Crs84, ..located }).to_term()?
    else {
        return None;
    };
    RawValue::from_string(written.value().to_owned()).ok()
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
