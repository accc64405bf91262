//! Spatial relations of elements, as a join. From the known element, candidates come from the R-tree of pages. They are
//! filtered by bounding box, then by an exact test. Points, and shapes entirely inside an area, are decided in
//! integers. All other cases use `geo`'s `Relate` on the two geometries, with exact predicates.
//!
//! A node without tags is only a vertex of ways and has no spatial relations. No element is related to itself.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use terrapin_osm::{BoundingBox, ElementType};
use terrapin_triples::{End, Pairs, ReadError, TermId, TermRelation, TripleView};

use super::among::Among;
use super::exact::PreparedShape;
use super::naming::{ComputedNode, ElementNode};
use super::relation::{element, id, none, one, or_failed};
use super::session::Session;
use crate::geo::Spatial;

/// Estimated number of areas around a point.
const AROUND: f64 = 8.0;
/// Estimated number of elements inside an element.
const INSIDE: f64 = 100.0;
/// Estimated ratio of all nodes to nodes with tags.
const TAGGED: f64 = 10.0;
/// Maximum number of elements in the cache of results.
const KEPT: usize = 1 << 20;

/// The pairs of elements in one spatial relation.
pub struct Lie {
    session: Rc<Session>,
    how: Spatial,
    subjects: Rc<Among>,
    objects: Rc<Among>,
    kept: RefCell<SpatialCache>,
}

/// A cache of the related elements by known element; the flag is true if the known element is the first of the pair. It
/// helps because many solutions share an element.
#[derive(Default)]
struct SpatialCache {
    found: FxHashMap<(ElementNode, bool), Rc<[ElementNode]>>,
    number: usize,
}

/// An iterator of elements.
type Found<'a> = Box<dyn Iterator<Item = Result<ElementNode, ReadError>> + 'a>;

/// The condition on the bounding box of a candidate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BoxCondition {
    /// It is inside the box of the known element.
    Within,
    /// It contains the box of the known element.
    Around,
    /// It intersects the box of the known element.
    Meet,
}

impl Lie {
    /// Creates the relation `how` between candidates for subjects and for objects.
    pub fn new(session: Rc<Session>, how: Spatial, subjects: Rc<Among>, objects: Rc<Among>) -> Lie {
        Lie { session, how, subjects, objects, kept: RefCell::default() }
    }

    /// Returns the condition on the candidate's box; `first` is true if the known element is the first of the pair.
    fn boxes(&self, first: bool) -> BoxCondition {
        match (self.how, first) {
            (Spatial::Contains | Spatial::Covers, true) | (Spatial::Within, false) => BoxCondition::Within,
            (Spatial::Contains | Spatial::Covers, false) | (Spatial::Within, true) => BoxCondition::Around,
            _ => BoxCondition::Meet,
        }
    }

    /// Returns whether an element takes part in spatial relations.
    fn counts(&self, at: ElementNode) -> bool {
        at.kind != ElementType::Node || self.session.with_tags(at, |tags| !tags.is_empty())
    }

    /// Returns whether the relation holds for `a` and `b`.
    fn holds(&self, view: &TripleView, a: ElementNode, b: ElementNode) -> Result<bool, ReadError> {
        view.work(1)?;
        let boxes = self.boxes(true);
        if a == b || !self.counts(a) || !self.counts(b) || !fit(boxes, &self.session.bounds(a), &self.session.bounds(b))
        {
            return Ok(false);
        }
        let (a, b) = (self.session.shape(view, a)?, self.session.shape(view, b)?);
        match (a, b) {
            (Some(a), Some(b)) => PreparedShape::new(a).lies(view, self.how, &b, true),
            _ => Ok(false),
        }
    }

    /// Returns the elements related to `known`, in the order of their names, from the cache if possible.
    fn others<'a>(&'a self, view: &'a TripleView, known: ElementNode, first: bool) -> Result<Found<'a>, ReadError> {
        if let Some(kept) = self.kept.borrow().found.get(&(known, first)).map(Rc::clone) {
            let places = 0..kept.len();
            let others = places.filter_map(move |place| kept.get(place).copied());
            return Ok(Box::new(others.map(move |at| view.work(1).map(|()| at))));
        }
        let mut others = self.look(view, known, first)?;
        let mut seen = Some(Vec::new());
        Ok(Box::new(std::iter::from_fn(move || {
            let next = others.next();
            match &next {
                Some(Ok(at)) => {
                    seen = seen.take().filter(|seen| seen.len() < KEPT);
                    seen.iter_mut().for_each(|seen| seen.push(*at));
                }
                Some(Err(_)) => seen = None,
                None => {
                    if let Some(Err(error)) = seen.take().map(|seen| self.keep(view, (known, first), seen)) {
                        return Some(Err(error));
                    }
                }
            }
            next
        })))
    }

    /// Caches related elements; clears the cache first if they would exceed its limit.
    fn keep(&self, view: &TripleView, known: (ElementNode, bool), found: Vec<ElementNode>) -> Result<(), ReadError> {
        let bytes = |number: usize| (number * size_of::<ElementNode>()) as i64;
        let mut kept = self.kept.borrow_mut();
        // Each entry counts as four additional elements, for its overhead.
        let number = found.len() + 4;
        if kept.number + number > KEPT {
            view.hold(-bytes(kept.number))?;
            *kept = SpatialCache::default();
        }
        view.hold(bytes(number))?;
        kept.number += number;
        kept.found.insert(known, found.into());
        Ok(())
    }

    /// Searches the elements related to `known`.
    fn look<'a>(&'a self, view: &'a TripleView, known: ElementNode, first: bool) -> Result<Found<'a>, ReadError> {
        if !self.counts(known) {
            return Ok(Box::new(std::iter::empty()));
        }
        let Some(shape) = self.session.shape(view, known)? else { return Ok(Box::new(std::iter::empty())) };
        let held = Rc::new(PreparedShape::new(shape));
        let among = if first { &self.objects } else { &self.subjects };
        // A whole page cannot be skipped if candidates must contain the known box, because one of them may be larger
        // than the page.
        let decided = (self.boxes(first) != BoxCondition::Around).then(|| Rc::clone(&held));
        let passes = move |page: &BoundingBox| decided.as_ref().is_some_and(|held| held.is_apart_from(page));
        let near = among.near(view, held.bounds(), passes)?;
        Ok(Box::new(near.filter_map(move |near| {
            let lies = near.and_then(|near| Ok((self.lies(view, &held, known, near, first)?, near.0)));
            lies.map(|(lies, at)| lies.then_some(at)).transpose()
        })))
    }

    /// Returns whether the relation holds for the known element and a candidate with the box `bounds`.
    fn lies(
        &self,
        view: &TripleView,
        held: &PreparedShape,
        known: ElementNode,
        (at, bounds): (ElementNode, BoundingBox),
        first: bool,
    ) -> Result<bool, ReadError> {
        let (a, b) = if first { (held.bounds(), bounds) } else { (bounds, held.bounds()) };
        if at == known || !fit(self.boxes(true), &a, &b) || !self.counts(at) {
            return Ok(false);
        }
        view.work(1)?;
        if let Some(lies) = held.lies_to_box(self.how, &bounds, first) {
            return Ok(lies);
        }
        match self.session.shape(view, at)? {
            Some(other) => held.lies(view, self.how, &other, first),
            None => Ok(false),
        }
    }

    fn found<'a>(
        &'a self,
        view: &'a TripleView,
        subject: Option<TermId>,
        object: Option<TermId>,
    ) -> Result<Pairs<'a>, ReadError> {
        let [a, b] = [subject, object].map(|end| end.map(|end| element(view, end)));
        Ok(match (a, b) {
            (Some(None), _) | (_, Some(None)) => none(),
            (Some(Some(a)), Some(Some(b))) => {
                let holds = self.holds(view, a, b)?;
                one(subject.zip(object).filter(|_| holds))
            }
            (Some(Some(a)), None) => {
                let subject = id(view, ComputedNode::Element(a))?;
                Box::new(self.others(view, a, true)?.map(move |b| Ok((subject, id(view, ComputedNode::Element(b?))?))))
            }
            (None, Some(Some(b))) => {
                let object = id(view, ComputedNode::Element(b))?;
                Box::new(self.others(view, b, false)?.map(move |a| Ok((id(view, ComputedNode::Element(a?))?, object))))
            }
            (None, None) => Box::new(self.subjects.all(view).flat_map(move |a| {
                let pairs = || -> Result<Pairs<'a>, ReadError> {
                    let a = a?;
                    let subject = id(view, ComputedNode::Element(a))?;
                    Ok(Box::new(
                        self.others(view, a, true)?.map(move |b| Ok((subject, id(view, ComputedNode::Element(b?))?))),
                    ))
                };
                or_failed(pairs())
            })),
        })
    }

    /// Estimates the number of candidates in the bounding box of the known element.
    fn near(&self, view: &TripleView, known: TermId, among: &Among) -> f64 {
        let Some(known) = element(view, known) else { return 0.0 };
        let (osm, bounds) = (self.session.osm(), self.session.bounds(known));
        let (mut near, mut all) = (0.0, 0.0);
        for kind in among.kinds() {
            let tagged = if kind == ElementType::Node { TAGGED } else { 1.0 };
            let pages = osm.pages_in(kind, &bounds).len() as f64 * osm.page_size(kind) as f64;
            near += pages.min(osm.count(kind) as f64) / tagged;
            all += osm.count(kind) as f64 / tagged;
        }
        // Assumes that candidates are distributed like all elements.
        near * (among.len() as f64 / f64::max(all, 1.0)).min(1.0)
    }
}

/// Returns whether the boxes allow the relation, by the condition on the second box.
fn fit(boxes: BoxCondition, a: &BoundingBox, b: &BoundingBox) -> bool {
    let within = |inner: &BoundingBox, outer: &BoundingBox| {
        inner.south >= outer.south && inner.north <= outer.north && inner.west >= outer.west && inner.east <= outer.east
    };
    !a.is_empty()
        && !b.is_empty()
        && match boxes {
            BoxCondition::Within => within(b, a),
            BoxCondition::Around => within(a, b),
            BoxCondition::Meet => a.intersects(b),
        }
}

impl TermRelation for Lie {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, view: &TripleView, subject: End, object: End) -> f64 {
        let free = |first: bool, known: End| {
            let among = if first { &self.objects } else { &self.subjects };
            match (self.boxes(first), known) {
                (BoxCondition::Around, _) => AROUND.min(among.len() as f64),
                (_, End::Term(known)) => self.near(view, known, among),
                _ => inside(among),
            }
        };
        match (subject, object) {
            (End::Free, End::Free) => self.subjects.len() as f64 * inside(&self.objects),
            (known, End::Free) => free(true, known),
            (End::Free, known) => free(false, known),
            _ => 0.1,
        }
    }
}

/// Estimates the number of candidates inside an element.
fn inside(among: &Among) -> f64 {
    let many = among.len() as f64;
    if among.is_of_tags() { many.sqrt().min(INSIDE) } else { INSIDE.min(many) }
}
