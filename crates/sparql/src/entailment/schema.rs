//! The vocabulary of RDFS in the stored triples: hierarchies of classes and properties, domains and ranges.

use std::collections::BTreeSet;

use oxrdf::NamedNode;
use rustc_hash::FxHashMap;

use super::regime::{RDF, RDFS};
use terrapin_triples::{ReadError, TermId, TripleView};

/// The numbers of the predicates of RDFS in a query's view.
#[derive(Debug, Clone, Copy)]
pub(super) struct RdfsSchema {
    pub(super) r#type: TermId,
    pub(super) sub_class: TermId,
    pub(super) sub_property: TermId,
    pub(super) domain: TermId,
    pub(super) range: TermId,
}

/// Bytes for a term in a sorted list and in the list of those to follow.
const LISTED_BYTES: i64 = 40;

/// A direction in a hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// To the more general terms.
    Up,
    /// To the more special terms.
    Down,
}

impl RdfsSchema {
    pub(super) fn new(view: &TripleView) -> RdfsSchema {
        let id = |space: &str, name: &str| view.id(&NamedNode::new_unchecked(format!("{space}{name}")).into());
        RdfsSchema {
            r#type: id(RDF, "type"),
            sub_class: id(RDFS, "subClassOf"),
            sub_property: id(RDFS, "subPropertyOf"),
            domain: id(RDFS, "domain"),
            range: id(RDFS, "range"),
        }
    }

    /// Returns a term and all terms that a hierarchy has above or below it, ascending. Memory is charged while the list
    /// grows, and then released: a caller that keeps the list charges it.
    ///
    /// # Errors
    /// Returns an error if a limit of the query is reached.
    pub(super) fn closure(
        view: &TripleView,
        hierarchy: TermId,
        start: impl IntoIterator<Item = TermId>,
        direction: Direction,
    ) -> Result<BTreeSet<TermId>, ReadError> {
        let mut reached: BTreeSet<TermId> = start.into_iter().collect();
        let mut open: Vec<TermId> = reached.iter().copied().collect();
        let mut held = 0;
        while let Some(term) = open.pop() {
            let triples = match direction {
                Direction::Up => view.triples(Some(term), Some(hierarchy), None),
                Direction::Down => view.triples(None, Some(hierarchy), Some(term)),
            };
            for triple in triples {
                let [below, _, above] = triple?;
                let next = if direction == Direction::Up { above } else { below };
                if reached.insert(next) {
                    view.hold(LISTED_BYTES)?;
                    held += LISTED_BYTES;
                    open.push(next);
                }
            }
        }
        view.hold(-held)?;
        Ok(reached)
    }

    /// Returns the properties whose subjects (`domain`) or objects (`range`) are in one of these classes.
    pub(super) fn properties_of(
        &self,
        view: &TripleView,
        side: TermId,
        classes: &BTreeSet<TermId>,
    ) -> Result<BTreeSet<TermId>, ReadError> {
        let mut properties = BTreeSet::new();
        for class in classes {
            for triple in view.triples(None, Some(side), Some(*class)) {
                properties.insert(triple?[0]);
            }
        }
        RdfsSchema::closure(view, self.sub_property, properties, Direction::Down)
    }

    /// Returns the terms that must be classes, or that must be properties, because of their position in a stored triple.
    /// The list is charged to the query's memory: a caller computes it once.
    ///
    /// # Errors
    /// Returns an error if a limit of the query is reached.
    pub(super) fn known(&self, view: &TripleView, hierarchy: TermId) -> Result<BTreeSet<TermId>, ReadError> {
        let mut terms = BTreeSet::new();
        let mut add = |term| if terms.insert(term) { view.hold(LISTED_BYTES) } else { Ok(()) };
        for triple in view.triples(None, Some(hierarchy), None) {
            let [below, _, above] = triple?;
            add(below)?;
            add(above)?;
        }
        for side in [self.domain, self.range] {
            for triple in view.triples(None, Some(side), None) {
                let [property, _, class] = triple?;
                add(if hierarchy == self.sub_class { class } else { property })?;
            }
        }
        if hierarchy == self.sub_class {
            let mut last = None;
            // The triples of a predicate are sorted by object.
            for triple in view.triples(None, Some(self.r#type), None) {
                let [_, _, class] = triple?;
                if last.replace(class) != Some(class) {
                    add(class)?;
                }
            }
        } else {
            view.store().predicates().try_for_each(add)?;
        }
        Ok(terms)
    }

    /// Returns the classes that a triple of a property makes its subject (`domain`) or its object (`range`) an instance
    /// of, by property, subproperties included. The list is charged to the query's memory: a caller computes it once.
    ///
    /// # Errors
    /// Returns an error if a limit of the query is reached.
    pub(super) fn classes_by_property(
        &self,
        view: &TripleView,
        side: TermId,
    ) -> Result<FxHashMap<TermId, BTreeSet<TermId>>, ReadError> {
        let mut stated: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
        let mut held = 0;
        for triple in view.triples(None, Some(side), None) {
            let [property, _, class] = triple?;
            view.hold(LISTED_BYTES)?;
            held += LISTED_BYTES;
            stated.entry(property).or_default().push(class);
        }
        let mut classes: FxHashMap<TermId, BTreeSet<TermId>> = FxHashMap::default();
        for (property, stated) in stated {
            for below in RdfsSchema::closure(view, self.sub_property, [property], Direction::Down)? {
                let classes = classes.entry(below).or_default();
                for class in &stated {
                    if classes.insert(*class) {
                        view.hold(2 * LISTED_BYTES)?;
                    }
                }
            }
        }
        view.hold(-held)?;
        Ok(classes)
    }
}
