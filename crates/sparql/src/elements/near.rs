//! A prefilter for filters on distances and spatial relations of geometries. It finds the candidates near a known
//! geometry by their boxes; the filter itself still decides.

use std::rc::Rc;

use geo::BoundingRect;
use terrapin_osm::BoundingBox;
use terrapin_triples::{End, Pairs, ReadError, TermId, TermRelation, TripleView};

use super::among::Among;
use super::naming::ComputedNode;
use super::relation::{id, named, none, one, or_failed};
use super::session::Session;
use crate::geo::LocatedGeometry;

/// A lower bound of the metres per degree of a great circle.
const DEGREE: f64 = 111_000.0;
/// Degrees by which the latitude of a measurement may differ: distances are measured at the middle latitude of the two
/// geometries.
const LATITUDES: f64 = 10.0;
/// Coordinate steps per degree.
const STEPS: f64 = 1e7;
/// Estimated share of elements near a given one: for a distance of 0 m, and the increase per metre.
const SHARE: (f64, f64) = (0.002, 0.000_02);

/// The candidate geometries for one end.
pub struct CandidateSide {
    /// The elements.
    pub among: Rc<Among>,
    /// True for centroids, false for geometries, `None` for both.
    pub centroids: Option<bool>,
}

/// The pairs of geometries within a distance, with false positives. Its subjects are geometries of elements. Its
/// objects are geometries of elements or literals; literals must be bound.
pub struct DistanceRelation {
    session: Rc<Session>,
    metres: f64,
    subjects: CandidateSide,
    objects: Option<CandidateSide>,
}

impl DistanceRelation {
    /// Creates the relation for a distance in metres; without `objects` the objects are literals.
    pub fn new(
        session: Rc<Session>,
        metres: f64,
        subjects: CandidateSide,
        objects: Option<CandidateSide>,
    ) -> DistanceRelation {
        DistanceRelation { session, metres, subjects, objects }
    }

    /// Returns the box of all candidates near `bounds`, or `None` if it is not limited (close to a pole).
    fn zone(&self, bounds: &BoundingBox) -> Option<BoundingBox> {
        let degrees = |steps: i32| f64::from(steps) / STEPS;
        let reach = self.metres / DEGREE;
        let (south, north) = (degrees(bounds.south) - reach, degrees(bounds.north) + reach);
        let highest = south.abs().max(north.abs()) + LATITUDES;
        if highest >= 89.0 {
            return None;
        }
        let east = reach / libm::cos(highest.to_radians());
        let (mut west, mut east) = (degrees(bounds.west) - east, degrees(bounds.east) + east);
        // A zone that crosses the antimeridian covers all longitudes.
        if west < -180.0 || east > 180.0 {
            (west, east) = (-180.0, 180.0);
        }
        let step = |degrees: f64, more: f64| (libm::floor(degrees * STEPS) + more) as i32;
        Some(BoundingBox {
            south: step(south, -1.0),
            west: step(west.max(-180.0), -1.0).max(-1_800_000_000),
            north: step(north, 2.0),
            east: step(east.min(180.0), 2.0).min(1_800_000_000),
        })
    }

    /// Returns the bounding box of a term, or `None` if it is not a geometry.
    fn bounds(&self, view: &TripleView, of: TermId) -> Result<Option<BoundingBox>, ReadError> {
        match named(view, of) {
            Some(ComputedNode::Geometry(at)) => Ok(Some(self.session.bounds(at)).filter(|bounds| !bounds.is_empty())),
            Some(ComputedNode::Centroid(at)) => Ok(Some(self.session.bounds(at)).filter(|bounds| !bounds.is_empty())),
            Some(_) => Ok(None),
            None => {
                let rect =
                    LocatedGeometry::from_term(&view.term(of)?).and_then(|located| located.geometry.bounding_rect());
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

    fn found<'a>(
        &'a self,
        view: &'a TripleView,
        subject: Option<TermId>,
        object: Option<TermId>,
    ) -> Result<Pairs<'a>, ReadError> {
        let Some(known) = object.or(subject) else {
            return Err(ReadError::Relation("a search for near elements needs a bound place".to_owned()));
        };
        view.work(1)?;
        let Some(bounds) = self.bounds(view, known)? else { return Ok(none()) };
        let world = BoundingBox { south: -900_000_000, west: -1_800_000_000, north: 900_000_000, east: 1_800_000_000 };
        let zone = self.zone(&bounds).unwrap_or(world);
        Ok(match (subject, object, &self.objects) {
            (Some(subject), Some(object), _) => {
                let met = self.bounds(view, subject)?.is_some_and(|bounds| zone.intersects(&bounds));
                one(met.then_some((subject, object)))
            }
            (Some(subject), _, Some(objects)) => {
                Box::new(objects.within(view, zone)?.map(move |object| Ok((subject, object?))))
            }
            (Some(_), _, None) => none(),
            (None, ..) => Box::new(self.subjects.within(view, zone)?.map(move |subject| Ok((subject?, known)))),
        })
    }
}

impl CandidateSide {
    /// Returns the geometries with element boxes that intersect a zone, in the order of their names.
    fn within<'a>(
        &'a self,
        view: &'a TripleView,
        zone: BoundingBox,
    ) -> Result<Box<dyn Iterator<Item = Result<TermId, ReadError>> + 'a>, ReadError> {
        let names = move |centroids: bool| {
            let near = self.among.near(view, zone, |_| false)?;
            Ok::<_, ReadError>(near.map(move |near| {
                let (at, _) = near?;
                view.work(1)?;
                id(view, if centroids { ComputedNode::Centroid(at) } else { ComputedNode::Geometry(at) })
            }))
        };
        Ok(match self.centroids {
            Some(centroids) => Box::new(names(centroids)?),
            None => Box::new(names(false)?.chain(names(true)?)),
        })
    }
}

impl TermRelation for DistanceRelation {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, _: &TripleView, subject: End, object: End) -> f64 {
        let near = |side: &CandidateSide| side.among.len() as f64 * (SHARE.0 + SHARE.1 * self.metres).min(1.0);
        match (subject, object, &self.objects) {
            (End::Free, End::Free, _) | (_, End::Free, None) => f64::INFINITY,
            (End::Free, ..) => near(&self.subjects),
            (_, End::Free, Some(objects)) => near(objects),
            _ => 0.1,
        }
    }

    fn answers(&self, subject_given: bool, object_given: bool) -> bool {
        object_given || (subject_given && self.objects.is_some())
    }
}
