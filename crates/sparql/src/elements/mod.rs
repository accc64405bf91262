//! OpenStreetMap's elements as triples in osm2rdf's vocabulary, told from the snapshot's pages while a query runs: nothing
//! of it is stored. Patterns become relations (`triples/view.rs`), which the planner orders like any other pattern.
//!
//! ```text
//! vocabulary.rs  namespaces, and what predicates say
//! naming.rs      elements, geometries, members ↔ numbers ↔ names
//! session.rs     what one query has looked up
//! relation.rs    what relations share; stored triples of the same predicate beside the computed ones
//! tags.rs        osmkey:
//! links.rs       osm2rdfkey:
//! facts.rs       types, geometries, area, length, metadata
//! members.rs     members of relations, nodes of ways
//! shape.rs       an element's geometry
//! among.rs       the elements that one end of a relation may be, by where they are
//! near.rs        what may be near, for conditions on geometries
//! spatial.rs     how two elements lie to each other
//! exact.rs       how two shapes do
//! describe.rs    all that is said of an element, for queries that ask for any predicate
//! ```

mod among;
mod describe;
mod exact;
mod facts;
mod links;
mod members;
mod naming;
mod near;
mod relation;
mod session;
mod shape;
mod spatial;
mod tags;
pub(crate) mod vocabulary;

use std::rc::Rc;
use std::sync::Arc;

use oxrdf::NamedNode;
use percent_encoding::percent_decode_str;
use terrapin_osm::Osm;
use terrapin_triples::{Relation, Store, TermId, View};

pub(crate) use self::among::{Among, Asked};
pub(crate) use self::describe::{Said, SaidEnd, told};
pub(crate) use self::naming::{Element, element_iri};
pub(crate) use self::near::{Near, Side};
pub(crate) use self::relation::named;
pub(crate) use self::session::Session;
use self::vocabulary::Predicate;

/// The elements of a snapshot, as queries of triples see them.
pub struct Elements {
    osm: Arc<Osm>,
    shadowed: bool,
}

impl Elements {
    /// Those of a snapshot with these triples.
    pub fn new(osm: Arc<Osm>, store: &Store) -> Elements {
        let shadowed = [vocabulary::OSM, vocabulary::GEOMETRY].iter().any(|prefix| store.has_iri_beginning(prefix));
        Elements { osm, shadowed }
    }

    /// The pages.
    pub fn osm(&self) -> &Arc<Osm> {
        &self.osm
    }

    /// Whether triples are stored that speak of elements.
    pub(crate) fn speak_triples(&self) -> bool {
        self.shadowed
    }
}

/// The key of the tag that a predicate asks elements for; nothing where it asks for something else.
pub fn asked_key(predicate: &NamedNode) -> Option<String> {
    match Predicate::of(predicate.as_str())? {
        Predicate::Tag(key) | Predicate::Link(key) => Some(percent_decode_str(&key).decode_utf8_lossy().into_owned()),
        _ => None,
    }
}

/// Whether an IRI is a predicate or a class that elements may have, an element, or the geometry or centroid of one.
pub fn names_elements(name: &NamedNode) -> bool {
    let iri = name.as_str();
    Predicate::of(iri).is_some()
        || vocabulary::of_class(iri).is_some()
        || vocabulary::ELEMENTS.iter().any(|prefix| iri.starts_with(prefix))
        || iri.starts_with(vocabulary::GEOMETRY)
}

/// Whether a predicate asks elements for whole numbers.
pub fn asks_numbers(predicate: &NamedNode) -> bool {
    matches!(Predicate::of(predicate.as_str()), Some(Predicate::Tag(key)) if key == session::NUMBERS)
}

/// Predicates that were probably meant by one that no element has, in a namespace of theirs; nothing where some have it, or
/// it has nothing to do with elements.
pub fn meant_predicates(predicate: &NamedNode) -> Option<Vec<String>> {
    vocabulary::meant(predicate.as_str())
}

/// The elements that a relation's two ends may be.
pub(crate) struct Ends {
    /// What its subjects are among.
    pub(crate) subjects: Rc<Among>,
    /// What its objects are.
    pub(crate) objects: Rc<Among>,
}

/// The relation that answers for a predicate; with the stored triples that have it, too, where `stored` says what it is
/// called.
pub(crate) fn relation(
    predicate: &Predicate,
    session: &Rc<Session>,
    view: &View,
    stored: Option<TermId>,
    ends: impl FnOnce() -> Ends,
) -> Box<dyn Relation> {
    let session = Rc::clone(session);
    let computed: Box<dyn Relation> = match predicate {
        Predicate::Tag(key) => Box::new(tags::Tag::new(session, key)),
        Predicate::Link(key) => Box::new(links::Link::new(session, key)),
        Predicate::Fact(fact) => Box::new(facts::Facts::new(session, *fact)),
        Predicate::Member(what) => Box::new(members::Members::new(session, *what)),
        Predicate::Spatial(how) => {
            let Ends { subjects, objects } = ends();
            Box::new(spatial::Lie::new(session, *how, subjects, objects))
        }
    };
    match stored.filter(|&id| view.store().predicate(id).triples > 0) {
        Some(stored) => Box::new(relation::Together { computed, stored }),
        None => computed,
    }
}
