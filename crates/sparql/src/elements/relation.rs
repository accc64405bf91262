//! Functions that the relations share.

use std::sync::Arc;

use terrapin_osm::{ElementType, Ordinal};
use terrapin_triples::{End, Pairs, ReadError, TermId, TermRelation, TripleView};

use super::naming::{ComputedNode, ElementNode};
use super::session::Session;

/// Returns an empty iterator of pairs.
pub fn none<'a>() -> Pairs<'a> {
    Box::new(std::iter::empty())
}

/// Returns the pairs, or an iterator of the one error.
pub fn or_failed<'a>(pairs: Result<Pairs<'a>, ReadError>) -> Pairs<'a> {
    pairs.unwrap_or_else(|error| Box::new(std::iter::once(Err(error))))
}

/// Returns an iterator of at most one pair.
pub fn one<'a>(pair: Option<(TermId, TermId)>) -> Pairs<'a> {
    Box::new(pair.into_iter().map(Ok))
}

/// Sorts pairs.
pub fn sorted<'a>(mut pairs: Vec<(TermId, TermId)>) -> Pairs<'a> {
    pairs.sort_unstable();
    Box::new(pairs.into_iter().map(Ok))
}

/// Iterates over the elements of ascending lists, nodes first. Each element counts as one unit of work.
pub fn listed<'a>(
    view: &'a TripleView,
    lists: [Arc<[Ordinal]>; 3],
) -> impl Iterator<Item = Result<ElementNode, ReadError>> + use<'a> {
    ElementType::ALL.into_iter().zip(lists).flat_map(move |(kind, list)| {
        (0..list.len()).filter_map(move |at| {
            let ordinal = *list.get(at)?;
            Some(view.work(1).map(|()| ElementNode { kind, ordinal }))
        })
    })
}

/// Iterates over all elements of some types. Each element counts as one unit of work.
pub fn all<'a>(
    view: &'a TripleView,
    session: &Session,
    kinds: &'static [ElementType],
) -> impl Iterator<Item = Result<ElementNode, ReadError>> + use<'a> {
    let counts = ElementType::ALL.map(|kind| session.osm().count(kind));
    kinds.iter().flat_map(move |&kind| {
        (0..counts[kind as usize]).map(move |ordinal| view.work(1).map(|()| ElementNode { kind, ordinal }))
    })
}

/// Returns the term id of a computed node.
pub fn id(view: &TripleView, named: ComputedNode) -> Result<TermId, ReadError> {
    view.computed(named.number())
}

/// Returns the computed node of a term id, if it is one.
pub fn named(view: &TripleView, id: TermId) -> Option<ComputedNode> {
    ComputedNode::of(view.computed_number(id)?)
}

/// Returns the element of a term id, if it is one.
pub fn element(view: &TripleView, id: TermId) -> Option<ElementNode> {
    match named(view, id)? {
        ComputedNode::Element(element) => Some(element),
        _ => None,
    }
}

/// The union of the computed and the stored pairs of a predicate.
pub struct UnionRelation {
    /// The computed relation.
    pub computed: Box<dyn TermRelation>,
    /// The predicate's id in the store.
    pub stored: TermId,
}

impl TermRelation for UnionRelation {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        let stored = view.triples(subject, Some(self.stored), object).map(|triple| triple.map(|[s, _, o]| (s, o)));
        let computed = || self.computed.pairs(view, subject, object);
        // A triple that is both stored and computed counts once.
        let new = stored.filter(move |pair| match pair {
            Ok((s, o)) => element(view, *s).is_none() || self.computed.pairs(view, Some(*s), Some(*o)).next().is_none(),
            Err(_) => true,
        });
        match self.computed.answers(subject.is_some(), object.is_some()) {
            true => Box::new(computed().chain(new)),
            false => Box::new(new),
        }
    }

    fn estimate(&self, view: &TripleView, subject: End, object: End) -> f64 {
        let term = |end| match end {
            End::Term(id) => Some(id),
            _ => None,
        };
        let counts = view.store().predicate(self.stored);
        let mut stored = view.store().count(term(subject), Some(self.stored), term(object)) as f64;
        if subject == End::Bound {
            stored /= (counts.subjects as f64).max(1.0);
        }
        if object == End::Bound {
            stored /= (counts.objects as f64).max(1.0);
        }
        self.computed.estimate(view, subject, object) + stored
    }

    fn answers(&self, subject_given: bool, object_given: bool) -> bool {
        self.computed.answers(subject_given, object_given)
    }
}
