//! How two elements lie to each other: a join that goes from the one that is known to those near it by the R-tree of
//! pages, then by boxes, then by an exact test. Where a point lies, and what lies wholly in an area, is decided in
//! integers; all else is `geo`'s relation of the two geometries, whose predicates are exact.
//!
//! A node without tags is a point of ways and lies to nothing; no element lies to itself.

use std::rc::Rc;

use terrapin_osm::geometry::{BoxRelation, Location};
use terrapin_osm::{BoundingBox, ElementType};
use terrapin_triples::{End, Pairs, ReadError, Relation, TermId, View};

use super::naming::{Element, Named};
use super::relation::{all, element, id, none, one, or_failed};
use super::session::Session;
use super::shape::Shape;
use crate::geo::{Spatial, lie};

/// Areas around a point, about.
const AROUND: f64 = 8.0;
/// Elements in an element, about.
const INSIDE: f64 = 100.0;
/// Nodes that have tags, one in so many.
const TAGGED: f64 = 10.0;

/// Pairs of elements that lie so to each other.
pub struct Lie {
    session: Rc<Session>,
    how: Spatial,
}

/// What is asked of a candidate's box.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Boxes {
    /// To be in the box of what is known.
    Within,
    /// To be around it.
    Around,
    /// To meet it.
    Meet,
}

impl Lie {
    /// All pairs.
    pub fn new(session: Rc<Session>, how: Spatial) -> Lie {
        Lie { session, how }
    }

    /// What is asked of the box of the second where the first is known, or the other way round.
    fn boxes(&self, first: bool) -> Boxes {
        match (self.how, first) {
            (Spatial::Contains | Spatial::Covers, true) | (Spatial::Within, false) => Boxes::Within,
            (Spatial::Contains | Spatial::Covers, false) | (Spatial::Within, true) => Boxes::Around,
            _ => Boxes::Meet,
        }
    }

    /// Whether an element lies to anything.
    fn counts(&self, at: Element) -> bool {
        at.kind != ElementType::Node || self.session.with_tags(at, |tags| !tags.is_empty())
    }

    /// Whether two elements lie so to each other.
    fn holds(&self, view: &View, a: Element, b: Element) -> Result<bool, ReadError> {
        view.work(1)?;
        let boxes = self.boxes(true);
        if a == b || !self.counts(a) || !self.counts(b) || !fit(boxes, &self.session.bounds(a), &self.session.bounds(b))
        {
            return Ok(false);
        }
        let (a, b) = (self.session.shape(view, a)?, self.session.shape(view, b)?);
        match (a, b) {
            (Some(a), Some(b)) => self.shapes(view, &a, &b),
            _ => Ok(false),
        }
    }

    /// The same of their shapes.
    fn shapes(&self, view: &View, a: &Shape, b: &Shape) -> Result<bool, ReadError> {
        match (a.point(), b.point()) {
            (Some(a), Some(b)) => {
                let equal = !matches!(self.how, Spatial::Crosses | Spatial::Overlaps | Spatial::Touches);
                return Ok(a == b && equal);
            }
            (None, Some(point)) => return Ok(self.of_point(a.locate(point), true)),
            (Some(point), None) => return Ok(self.of_point(b.locate(point), false)),
            (None, None) => {}
        }
        if !self.is_possible(a.is_area(), b.is_area()) {
            return Ok(false);
        }
        if let Some(area) = a.area() {
            match area.relate(&b.bounds) {
                BoxRelation::Outside => return Ok(false),
                BoxRelation::Inside => return Ok(self.of_point(Location::Inside, true)),
                BoxRelation::Mixed => {}
            }
        }
        if let Some(area) = b.area() {
            match area.relate(&a.bounds) {
                BoxRelation::Outside => return Ok(false),
                BoxRelation::Inside => return Ok(self.of_point(Location::Inside, false)),
                BoxRelation::Mixed => {}
            }
        }
        view.work((a.points() + b.points()) as u64 / 16)?;
        lie(&a.geometry, &b.geometry, self.how)
            .ok_or_else(|| ReadError::Relation("two geometries are too large to be held against each other".to_owned()))
    }

    /// Whether it can hold for areas or lines: a line has no room for an area, and only what is alike is equal or overlaps.
    fn is_possible(&self, first: bool, second: bool) -> bool {
        match self.how {
            Spatial::Contains | Spatial::Covers => first || !second,
            Spatial::Within => second || !first,
            Spatial::Equals | Spatial::Overlaps => first == second,
            Spatial::Crosses => !(first && second),
            Spatial::Intersects | Spatial::Touches => true,
        }
    }

    /// Whether it holds for something and a point that lies there, or what lies wholly in it; `first` says that it is the
    /// first of the two.
    fn of_point(&self, at: Location, first: bool) -> bool {
        match self.how {
            Spatial::Contains => first && at == Location::Inside,
            Spatial::Covers => first && at != Location::Outside,
            Spatial::Within => !first && at == Location::Inside,
            Spatial::Intersects => at != Location::Outside,
            Spatial::Touches => at == Location::Border,
            Spatial::Crosses | Spatial::Equals | Spatial::Overlaps => false,
        }
    }

    /// Those on a page that lie so to what is known.
    fn on_page(
        &self,
        view: &View,
        known: (Element, &Shape, bool),
        kind: ElementType,
        page: u32,
    ) -> Result<Vec<Element>, ReadError> {
        let osm = self.session.osm();
        let (known, shape, first) = known;
        let boxes = self.boxes(first);
        // What is around a box is never decided by the page, and seldom by its area.
        if boxes != Boxes::Around
            && let Some(area) = shape.area()
            && area.relate(&osm.page_box(kind, page)) == BoxRelation::Outside
        {
            return Ok(Vec::new());
        }
        let begin = u64::from(page) * osm.page_size(kind);
        let mut found = Vec::new();
        for (bounds, ordinal) in self.session.page_bounds(view, kind, page)?.iter().zip(begin..) {
            let at = Element { kind, ordinal };
            let (a, b) = if first { (&shape.bounds, bounds) } else { (bounds, &shape.bounds) };
            if at == known || !fit(self.boxes(true), a, b) || !self.counts(at) {
                continue;
            }
            view.work(1)?;
            let Some(other) = self.session.shape(view, at)? else { continue };
            if if first { self.shapes(view, shape, &other)? } else { self.shapes(view, &other, shape)? } {
                found.push(at);
            }
        }
        view.work(1)?;
        Ok(found)
    }

    /// Those that lie so to what is known, in the order of their names.
    fn others<'a>(
        &'a self,
        view: &'a View,
        known: Element,
        first: bool,
    ) -> Result<Box<dyn Iterator<Item = Result<Element, ReadError>> + 'a>, ReadError> {
        if !self.counts(known) {
            return Ok(Box::new(std::iter::empty()));
        }
        let Some(shape) = self.session.shape(view, known)? else { return Ok(Box::new(std::iter::empty())) };
        // A point is around nothing but a point in the same place, which is one of these pages.
        let pages = ElementType::ALL.into_iter().flat_map({
            let bounds = shape.bounds;
            move |kind| self.session.osm().pages_in(kind, &bounds).into_iter().map(move |page| (kind, page))
        });
        Ok(Box::new(pages.flat_map(move |(kind, page)| {
            let found = self.on_page(view, (known, &shape, first), kind, page);
            let (found, error) = match found {
                Ok(found) => (found, None),
                Err(error) => (Vec::new(), Some(error)),
            };
            found.into_iter().map(Ok).chain(error.map(Err))
        })))
    }

    fn found<'a>(
        &'a self,
        view: &'a View,
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
                let subject = id(view, Named::Element(a))?;
                Box::new(self.others(view, a, true)?.map(move |b| Ok((subject, id(view, Named::Element(b?))?))))
            }
            (None, Some(Some(b))) => {
                let object = id(view, Named::Element(b))?;
                Box::new(self.others(view, b, false)?.map(move |a| Ok((id(view, Named::Element(a?))?, object))))
            }
            (None, None) => Box::new(all(view, &self.session, &ElementType::ALL).flat_map(move |a| {
                let pairs = || -> Result<Pairs<'a>, ReadError> {
                    let a = a?;
                    let subject = id(view, Named::Element(a))?;
                    Ok(Box::new(self.others(view, a, true)?.map(move |b| Ok((subject, id(view, Named::Element(b?))?)))))
                };
                or_failed(pairs())
            })),
        })
    }

    /// About how many elements there are in the box of one.
    fn near(&self, view: &View, known: TermId) -> f64 {
        let Some(known) = element(view, known) else { return 0.0 };
        let (osm, bounds) = (self.session.osm(), self.session.bounds(known));
        let count = |kind| {
            let pages = osm.pages_in(kind, &bounds).len() as f64 * osm.page_size(kind) as f64;
            let tagged = if kind == ElementType::Node { pages / TAGGED } else { pages };
            tagged.min(osm.count(kind) as f64)
        };
        ElementType::ALL.into_iter().map(count).sum()
    }
}

/// Whether boxes are so that a relation is possible, by what it asks of the second's.
fn fit(boxes: Boxes, a: &BoundingBox, b: &BoundingBox) -> bool {
    let within = |inner: &BoundingBox, outer: &BoundingBox| {
        inner.south >= outer.south && inner.north <= outer.north && inner.west >= outer.west && inner.east <= outer.east
    };
    !a.is_empty()
        && !b.is_empty()
        && match boxes {
            Boxes::Within => within(b, a),
            Boxes::Around => within(a, b),
            Boxes::Meet => a.intersects(b),
        }
}

impl Relation for Lie {
    fn pairs<'a>(&'a self, view: &'a View, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, view: &View, subject: End, object: End) -> f64 {
        let free = |first: bool, known: End| match (self.boxes(first), known) {
            (Boxes::Around, _) => AROUND,
            (_, End::Term(known)) => self.near(view, known),
            _ => INSIDE,
        };
        match (subject, object) {
            (End::Free, End::Free) => {
                ElementType::ALL.iter().map(|&kind| self.session.osm().count(kind)).sum::<u64>() as f64 * INSIDE
            }
            (known, End::Free) => free(true, known),
            (End::Free, known) => free(false, known),
            _ => 0.1,
        }
    }
}
