//! The rules of GeoSPARQL's query rewrite extension: topological relations between features and geometries that follow
//! from their serializations, without those that are stored.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::places::{PlaceIndex, StoredPlaces};
use crate::elements::{none, one, or_failed};
use crate::geo::TopologicalRelation;
use terrapin_budget as budget;
use terrapin_triples::{End, Pairs, ReadError, TermId, TermRelation, TripleView};

/// Estimated share of geometries that are related to a geometry.
const RELATED: f64 = 0.01;

/// The pairs of terms with geometries in a topological relation.
pub(super) struct TopologicalPairs {
    predicate: TermId,
    /// The name of the relation, for errors.
    name: String,
    relation: TopologicalRelation,
    /// Whether the relation can hold between geometries whose boxes do not meet.
    apart: bool,
    index: Rc<PlaceIndex>,
}

impl TopologicalPairs {
    /// Creates the relation of a property by its local name; returns `None` if it is not one of the vocabulary.
    pub(super) fn new(predicate: TermId, name: &str, index: &Rc<PlaceIndex>) -> Option<TopologicalPairs> {
        let relation = TopologicalRelation::of_property(name)?;
        let apart = TopologicalRelation::holds_apart(name);
        Some(TopologicalPairs { predicate, name: name.to_owned(), relation, apart, index: Rc::clone(index) })
    }

    /// Returns whether the relation holds between two geometries; false if no conversion between their reference
    /// systems exists.
    fn holds(&self, view: &TripleView, places: &StoredPlaces, pair: [usize; 2]) -> Result<bool, ReadError> {
        view.work(1)?;
        let [Some(a), Some(b)] = pair.map(|number| places.geometry(number)) else { return Ok(false) };
        if a.crs != b.crs && !(a.crs.is_geographic() && b.crs.is_geographic()) {
            return Ok(false);
        }
        budget::tolerant(|| self.relation.holds(a, b)).flatten().ok_or_else(|| {
            ReadError::Relation(format!("two geometries are too complex to test geo:{} between them", self.name))
        })
    }

    /// Returns the terms related to `known`, ascending; `first` is true if `known` is the subject.
    fn others(&self, view: &TripleView, known: TermId, first: bool) -> Result<BTreeSet<TermId>, ReadError> {
        let places = self.index.places(view)?;
        let mut others = BTreeSet::new();
        for &number in places.of(known) {
            let Some(located) = places.geometry(number) else { continue };
            for other in places.near(located, self.apart) {
                let pair = if first { [number, other] } else { [other, number] };
                if self.holds(view, places, pair)? {
                    others
                        .extend(places.terms(other).iter().filter(|term| !self.is_stored(view, known, **term, first)));
                }
            }
        }
        Ok(others)
    }

    fn is_stored(&self, view: &TripleView, known: TermId, other: TermId, first: bool) -> bool {
        let (subject, object) = if first { (known, other) } else { (other, known) };
        view.has(subject, self.predicate, object)
    }

    fn found<'a>(
        &'a self,
        view: &'a TripleView,
        subject: Option<TermId>,
        object: Option<TermId>,
    ) -> Result<Pairs<'a>, ReadError> {
        Ok(match (subject, object) {
            (Some(a), Some(b)) => {
                if self.is_stored(view, a, b, true) {
                    return Ok(none());
                }
                let places = self.index.places(view)?;
                let mut pairs = places.of(a).iter().flat_map(|x| places.of(b).iter().map(|y| [*x, *y]));
                let holds =
                    pairs.try_fold(false, |held, pair| Ok::<_, ReadError>(held || self.holds(view, places, pair)?))?;
                one(holds.then_some((a, b)))
            }
            (Some(a), None) => Box::new(self.others(view, a, true)?.into_iter().map(move |b| Ok((a, b)))),
            (None, Some(b)) => Box::new(self.others(view, b, false)?.into_iter().map(move |a| Ok((a, b)))),
            (None, None) => {
                let all = self.index.places(view)?.all();
                Box::new(all.into_iter().flat_map(move |a| or_failed(self.found(view, Some(a), None))))
            }
        })
    }
}

impl TermRelation for TopologicalPairs {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, view: &TripleView, subject: End, object: End) -> f64 {
        let all = PlaceIndex::estimate(view);
        let share = if self.apart { 1.0 } else { RELATED };
        match (subject, object) {
            (End::Free, End::Free) => all * (all * share).max(1.0),
            (End::Free, _) | (_, End::Free) => (all * share).max(1.0),
            _ => 0.5,
        }
    }
}
