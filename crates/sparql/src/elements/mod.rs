//! OpenStreetMap elements as triples in osm2rdf's vocabulary. The triples are computed from the snapshot's pages while
//! a query runs; none is stored. Patterns become relations (`triples/view.rs`), which the planner orders like any other
//! pattern.
//!
//! ```text
//! vocabulary.rs  namespaces and predicates
//! naming.rs      elements, geometries, members ↔ numbers ↔ names
//! session.rs     caches of one query
//! relation.rs    shared functions; union of computed and stored triples
//! tags.rs        osmkey:
//! links.rs       osm2rdfkey:
//! facts.rs       types, geometries, area, length, metadata
//! members.rs     members of relations, nodes of ways
//! shape.rs       an element's geometry
//! among.rs       candidates for one end of a relation, spatial index
//! near.rs        prefilter for conditions on geometries
//! spatial.rs     spatial relations of elements
//! exact.rs       exact test of two shapes
//! describe.rs    triples with a variable predicate
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
use terrapin_triples::{Store, TermId, TermRelation, TripleView};

pub(crate) use self::among::{Among, ElementCondition};
pub(crate) use self::describe::{SaidEnd, StatementEndRelation, told};
pub(crate) use self::naming::{ElementNode, element_iri};
pub(crate) use self::near::{CandidateSide, DistanceRelation};
pub(crate) use self::relation::{named, none, one, or_failed};
pub(crate) use self::session::Session;
use self::vocabulary::Predicate;

/// The elements of a snapshot, as a source of triples.
pub struct ElementSource {
    osm: Arc<Osm>,
    shadowed: bool,
}

impl ElementSource {
    /// Combines the elements of a snapshot with its triple store.
    pub fn new(osm: Arc<Osm>, store: &Store) -> ElementSource {
        let shadowed = [vocabulary::OSM, vocabulary::GEOMETRY].iter().any(|prefix| store.has_iri_beginning(prefix));
        ElementSource { osm, shadowed }
    }

    /// Returns the element pages.
    pub fn osm(&self) -> &Arc<Osm> {
        &self.osm
    }

    /// Returns whether the store also has triples about elements.
    pub(crate) fn speak_triples(&self) -> bool {
        self.shadowed
    }
}

/// Returns the tag key of a predicate, or `None` for any other predicate.
pub fn asked_key(predicate: &NamedNode) -> Option<String> {
    match Predicate::of(predicate.as_str())? {
        Predicate::Tag(key) | Predicate::Link(key) => Some(percent_decode_str(&key).decode_utf8_lossy().into_owned()),
        _ => None,
    }
}

/// Returns whether an IRI is a predicate or class of elements, an element, a geometry or a centroid.
pub fn names_elements(name: &NamedNode) -> bool {
    let iri = name.as_str();
    Predicate::of(iri).is_some()
        || vocabulary::of_class(iri).is_some()
        || vocabulary::ELEMENTS.iter().any(|prefix| iri.starts_with(prefix))
        || iri.starts_with(vocabulary::GEOMETRY)
}

/// Returns whether the values of a predicate are integers.
pub fn asks_numbers(predicate: &NamedNode) -> bool {
    matches!(Predicate::of(predicate.as_str()), Some(Predicate::Tag(key)) if key == session::NUMBERS)
}

/// Suggests predicates for an unknown one in a namespace of elements. Returns `None` if the predicate is known or in
/// another namespace.
pub fn meant_predicates(predicate: &NamedNode) -> Option<Vec<String>> {
    vocabulary::meant(predicate.as_str())
}

/// The candidates for the two ends of a relation.
pub(crate) struct EndCandidates {
    /// The candidates for its subjects.
    pub(crate) subjects: Rc<Among>,
    /// The candidates for its objects.
    pub(crate) objects: Rc<Among>,
}

/// Creates the relation of a predicate. If `stored` is the predicate's id in the store, the relation includes the
/// stored triples.
pub(crate) fn relation(
    predicate: &Predicate,
    session: &Rc<Session>,
    view: &TripleView,
    stored: Option<TermId>,
    ends: impl FnOnce() -> EndCandidates,
) -> Box<dyn TermRelation> {
    let session = Rc::clone(session);
    let computed: Box<dyn TermRelation> = match predicate {
        Predicate::Tag(key) => Box::new(tags::KeyRelation::new(session, key)),
        Predicate::Link(key) => Box::new(links::LinkRelation::new(session, key)),
        Predicate::Fact(fact) => Box::new(facts::PropertyRelation::new(session, *fact)),
        Predicate::Member(what) => Box::new(members::MembershipRelation::new(session, *what)),
        Predicate::Spatial(how) => {
            let EndCandidates { subjects, objects } = ends();
            Box::new(spatial::Lie::new(session, *how, subjects, objects))
        }
    };
    match stored.filter(|&id| view.store().predicate(id).triples > 0) {
        Some(stored) => Box::new(relation::UnionRelation { computed, stored }),
        None => computed,
    }
}
