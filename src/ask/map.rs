//! Solutions of SPARQL on a map: by what geometry a solution has, or else by the coordinates (P625) of the first item in it
//! that has some. The item's label, description and image are told where the snapshot has them.

use oxrdf::{NamedNodeRef, Term, TermRef};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use crate::budget;
use crate::rdf::Store;
use crate::sparql::geo::{Crs, Format, Located};
use crate::sparql::results::cell;

const ENTITY: &str = "http://www.wikidata.org/entity/Q";
const COORDINATES: &str = "http://www.wikidata.org/prop/direct/P625";
const IMAGE: &str = "http://www.wikidata.org/prop/direct/P18";
const LABEL: &str = "http://www.w3.org/2000/01/rdf-schema#label";
const DESCRIPTION: &str = "http://schema.org/description";
/// The language of labels.
const LANGUAGE: &str = "en";

/// A solution as a feature; nothing where it is nowhere.
pub fn feature(store: &Store, columns: &[String], row: &[Option<Term>]) -> Option<Box<RawValue>> {
    budget::checkpoint();
    let values = || row.iter().flatten();
    let item = values().find(|value| matches!(value, Term::NamedNode(node) if node.as_str().starts_with(ENTITY)));
    let own = values().find_map(geometry);
    let geometry = own.or_else(|| {
        values().find_map(|value| {
            let Term::NamedNode(node) = value else { return None };
            node.as_str().starts_with(ENTITY).then_some(())?;
            objects(store, value, COORDINATES).find_map(|place| geometry(&place))
        })
    })?;
    let mut properties: Map<String, Value> = columns
        .iter()
        .zip(row)
        // The shape itself is beside them.
        .filter_map(|(name, value)| {
            Some((name.clone(), value.as_ref().filter(|value| Located::from_term(value).is_none())?))
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
    let id = item.map(cell);
    to_raw_value(&json!({"type": "Feature", "id": id, "properties": properties, "geometry": geometry})).ok()
}

/// A literal's shape, in longitude and latitude.
fn geometry(value: &Term) -> Option<Value> {
    let located = Located::from_term(value)?;
    if matches!(located.crs, Crs::Other(_)) {
        return None;
    }
    let Term::Literal(written) = (Located { format: Format::GeoJson, crs: Crs::Crs84, ..located }).to_term()? else {
        return None;
    };
    serde_json::from_str(written.value()).ok()
}

/// A value as people read it: a text without its language.
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
