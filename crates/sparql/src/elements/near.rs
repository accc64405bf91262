//! Geometries that may be near others: what conditions on distances and on how geometries lie to each other ask of their
//! boxes, so that a query goes from the one to those around it, by the R-tree of pages. The condition itself decides.

use std::rc::Rc;

use geo::BoundingRect;
use terrapin_osm::{BoundingBox, ElementType};
use terrapin_triples::{End, Pairs, ReadError, Relation, TermId, View};

use super::naming::{Element, Named};
use super::relation::{id, named, none, one, or_failed};
use super::session::Session;
use crate::geo::Located;

/// Metres of a degree of a great circle, a little less than they are.
const DEGREE: f64 = 111_000.0;
/// Degrees by which the latitude may differ at which a distance is measured: that between the two geometries' middles.
const LATITUDES: f64 = 10.0;
/// Steps of a coordinate in a degree.
const STEPS: f64 = 1e7;
/// Elements near another one, about.
const MANY: f64 = 4000.0;

/// The geometries within so many metres of others, and some more. Its subjects are geometries of elements; so are its
/// objects, or they are literals.
pub struct Near {
    session: Rc<Session>,
    metres: f64,
    literal: bool,
}

impl Near {
    /// Those within so many metres; `literal` says that objects are literals, which have to be given.
    pub fn new(session: Rc<Session>, metres: f64, literal: bool) -> Near {
        Near { session, metres, literal }
    }

    /// The box of what may be near something; nothing where all may be.
    fn zone(&self, bounds: &BoundingBox) -> Option<BoundingBox> {
        let degrees = |steps: i32| f64::from(steps) / STEPS;
        let reach = self.metres / DEGREE;
        let (south, north) = (degrees(bounds.south) - reach, degrees(bounds.north) + reach);
        let highest = south.abs().max(north.abs()) + LATITUDES;
        if highest >= 89.0 {
            return None;
        }
        let east = reach / libm::cos(highest.to_radians());
        let (west, east) = (degrees(bounds.west) - east, degrees(bounds.east) + east);
        // Across the antimeridian distances are measured the long way round.
        let step = |degrees: f64, more: f64| (libm::floor(degrees * STEPS) + more) as i32;
        Some(BoundingBox {
            south: step(south, -1.0),
            west: step(west.max(-180.0), -1.0).max(-1_800_000_000),
            north: step(north, 2.0),
            east: step(east.min(180.0), 2.0).min(1_800_000_000),
        })
    }

    /// The box of a term; nothing where it is no geometry.
    fn bounds(&self, view: &View, of: TermId) -> Result<Option<BoundingBox>, ReadError> {
        match named(view, of) {
            Some(Named::Geometry(at)) => Ok(Some(self.session.bounds(at)).filter(|bounds| !bounds.is_empty())),
            Some(Named::Centroid(at)) => Ok(Some(self.session.bounds(at)).filter(|bounds| !bounds.is_empty())),
            Some(_) => Ok(None),
            None => {
                let rect = Located::from_term(&view.term(of)?).and_then(|located| located.geometry.bounding_rect());
                Ok(rect.map(|rect| {
                    let step = |degrees: f64, more: f64| (libm::floor(degrees * STEPS) + more) as i32;
                    BoundingBox {
                        south: step(rect.min().y, 0.0),
                        west: step(rect.min().x, 0.0),
                        north: step(rect.max().y, 1.0),
                        east: step(rect.max().x, 1.0),
                    }
                }))
            }
        }
    }

    /// The geometries whose boxes meet a zone, and their middles, by element.
    fn within<'a>(
        &'a self,
        view: &'a View,
        zone: BoundingBox,
    ) -> impl Iterator<Item = Result<TermId, ReadError>> + use<'a> {
        let osm = self.session.osm();
        let pages = ElementType::ALL
            .into_iter()
            .flat_map(move |kind| osm.pages_in(kind, &zone).into_iter().map(move |page| (kind, page)));
        pages.flat_map(move |(kind, page)| {
            let begin = u64::from(page) * osm.page_size(kind);
            let (boxes, error) = match self.session.page_bounds(view, kind, page) {
                Ok(boxes) => (boxes, None),
                Err(error) => (Rc::default(), Some(Err(error))),
            };
            let found = (0..boxes.len()).flat_map(move |slot| {
                let at = Element { kind, ordinal: begin + slot as u64 };
                let meets = boxes.get(slot).is_some_and(|bounds| !bounds.is_empty() && zone.intersects(bounds));
                let names = meets.then_some([Named::Geometry(at), Named::Centroid(at)]);
                names.into_iter().flatten().map(move |of| view.work(1).and_then(|()| id(view, of)))
            });
            found.chain(error)
        })
    }

    fn found<'a>(
        &'a self,
        view: &'a View,
        subject: Option<TermId>,
        object: Option<TermId>,
    ) -> Result<Pairs<'a>, ReadError> {
        let Some(known) = object.or(subject) else {
            return Err(ReadError::Relation("what is near is asked for without a place".to_owned()));
        };
        view.work(1)?;
        let Some(bounds) = self.bounds(view, known)? else { return Ok(none()) };
        let world = BoundingBox { south: -900_000_000, west: -1_800_000_000, north: 900_000_000, east: 1_800_000_000 };
        let zone = self.zone(&bounds).unwrap_or(world);
        Ok(match (subject, object) {
            (Some(subject), Some(object)) => {
                let met = self.bounds(view, subject)?.is_some_and(|bounds| zone.intersects(&bounds));
                one(met.then_some((subject, object)))
            }
            (Some(subject), _) => Box::new(self.within(view, zone).map(move |object| Ok((subject, object?)))),
            (None, _) => Box::new(self.within(view, zone).map(move |subject| Ok((subject?, known)))),
        })
    }
}

impl Relation for Near {
    fn pairs<'a>(&'a self, view: &'a View, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, _: &View, subject: End, object: End) -> f64 {
        match (subject, object) {
            (End::Free, End::Free) => f64::INFINITY,
            (End::Free, _) | (_, End::Free) => MANY * (1.0 + self.metres / 100.0),
            _ => 0.1,
        }
    }

    fn answers(&self, subject_given: bool, object_given: bool) -> bool {
        object_given || (subject_given && !self.literal)
    }
}
