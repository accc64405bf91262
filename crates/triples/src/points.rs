//! Points: parsing of their texts, and an index of those of the snapshot. The index stores empty boxes along a Hilbert
//! curve, with an R-tree over groups of them.

use std::sync::Arc;

use oxrdf::Term;

use super::globes::{Axes, EARTH, globe_of, radius};
use super::{TermId, layout};
use terrapin_snapshot::{
    BoxSection, BoxesWriter, ColumnWriter, Corners, Error, Fault, SectionColumn, Snapshot, SnapshotWriter,
};

/// A point on a globe, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GlobePoint<'a> {
    /// Degrees east of the prime meridian.
    pub longitude: f64,
    /// Degrees north of the equator.
    pub latitude: f64,
    /// The IRI of the globe.
    pub globe: &'a str,
}

impl<'a> GlobePoint<'a> {
    /// Parses a literal such as `Point(12.5 41.9)`. An IRI may precede it: of a globe, as in WDQS, or of a reference
    /// system of the Earth, as in GeoSPARQL (CRS84 or EPSG:4326).
    pub fn of(term: &'a Term) -> Option<GlobePoint<'a>> {
        let Term::Literal(literal) = term else { return None };
        let text = literal.value().trim_ascii();
        let ((globe, axes), text) = match text.strip_prefix('<') {
            Some(rest) => rest.split_once('>').map(|(iri, text)| (globe_of(iri), text))?,
            None => ((EARTH, Axes::EastNorth), text),
        };
        let text = text.trim_ascii();
        let start = text.get(..5)?;
        if !start.eq_ignore_ascii_case("point") {
            return None;
        }
        let inside = text.get(5..)?.trim_ascii().strip_prefix('(')?.strip_suffix(')')?;
        let mut numbers = inside.split_ascii_whitespace().map(|n| n.parse::<f64>().ok().filter(|n| n.is_finite()));
        let (first, second) = (numbers.next()??, numbers.next()??);
        let (longitude, latitude) = match axes {
            Axes::EastNorth => (first, second),
            Axes::NorthEast => (second, first),
        };
        Some(GlobePoint { longitude, latitude, globe })
    }

    /// Returns the same position on another globe.
    #[must_use]
    pub fn on<'g>(&self, globe: &'g str) -> GlobePoint<'g> {
        GlobePoint { longitude: self.longitude, latitude: self.latitude, globe }
    }

    /// Returns the distance in kilometres along a great circle, on a sphere with the mean radius of the globe. Returns
    /// `None` for points on different globes, or if the radius is unknown.
    pub fn distance(&self, other: &GlobePoint<'_>) -> Option<f64> {
        if self.globe != other.globe {
            return None;
        }
        let radius = radius(self.globe)?;
        let (a, b) = (self.latitude.to_radians(), other.latitude.to_radians());
        let north = libm::sin((b - a) / 2.0);
        let east = libm::sin((other.longitude - self.longitude).to_radians() / 2.0);
        let half = north * north + libm::cos(a) * libm::cos(b) * east * east;
        Some(2.0 * radius * libm::asin(half.sqrt().min(1.0)))
    }
}

/// An area between two parallels and two meridians, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zone {
    /// The southern edge.
    pub south: f64,
    /// The northern edge.
    pub north: f64,
    /// The western edge; any multiple of 360 may be added.
    pub west: f64,
    /// The extent to the east; 360 or more covers all longitudes.
    pub width: f64,
}

/// Tolerance of computed degrees.
const SLACK: f64 = 1e-9;

impl Zone {
    /// Creates the zone from the first point eastwards to the second; either may be the northern one.
    pub fn between(from: &GlobePoint<'_>, to: &GlobePoint<'_>) -> Zone {
        let turn = if from.longitude <= to.longitude { 0.0 } else { 360.0 };
        Zone {
            south: from.latitude.min(to.latitude),
            north: from.latitude.max(to.latitude),
            west: from.longitude,
            width: to.longitude + turn - from.longitude,
        }
    }

    /// Returns whether the zone contains a point.
    pub fn has(&self, point: &GlobePoint<'_>) -> bool {
        let east = (point.longitude - self.west + SLACK).rem_euclid(360.0) - SLACK;
        point.latitude >= self.south && point.latitude <= self.north && east <= self.width + SLACK
    }
}

/// The position of a point along the curve, and the number of its term.
pub(super) type Placed = [u64; 2];

/// Steps per degree.
const STEPS: f64 = 1e7;
const ORDER: u8 = 32;

/// Computes the curve position of a point. Coordinates out of range are clamped to the edge.
pub(super) fn placed(point: &GlobePoint<'_>, number: u64) -> Placed {
    let step = |degrees: f64| (libm::floor(degrees * STEPS) as i32 as u32) ^ 1 << 31;
    [fast_hilbert::xy2h(step(turned(point.longitude)), step(point.latitude), ORDER), number]
}

/// Returns the empty box of a point.
fn corners([place, _]: &Placed) -> Corners {
    let (x, y): (u32, u32) = fast_hilbert::h2xy(*place, ORDER);
    let [east, north] = [x, y].map(|step| (step ^ 1 << 31) as i32);
    [north, east, north, east]
}

/// Normalizes a longitude to the range from -180 to less than 180.
fn turned(longitude: f64) -> f64 {
    (longitude + 180.0).rem_euclid(360.0) - 180.0
}

/// The points of a snapshot, on all globes.
pub(super) struct Points {
    terms: SectionColumn,
    boxes: BoxSection,
}

impl Points {
    /// Writes the sections of sorted points.
    pub fn write(writer: &mut SnapshotWriter, points: &[Placed]) -> Result<(), Error> {
        ColumnWriter::write(writer, layout::POINTS, points.iter().map(|point| point[1]))?;
        BoxesWriter::write(writer, layout::POINT_BOXES, points.iter().map(corners))
    }

    /// Opens the points of a snapshot; returns `None` while it is being made, before they are written.
    pub fn open(snapshot: &Arc<Snapshot>, fault: &Arc<Fault>) -> Result<Option<Points>, Error> {
        if snapshot.place(layout::POINTS).is_none() {
            return Ok(None);
        }
        let terms = SectionColumn::open(snapshot, layout::POINTS, fault)?;
        let boxes = BoxSection::open(snapshot, layout::POINT_BOXES, fault)?;
        match terms.len() == u64::from(boxes.len()) {
            true => Ok(Some(Points { terms, boxes })),
            false => Err(Error::damaged(layout::POINTS, "there are not as many places")),
        }
    }

    /// Creates an index in memory from points in any order.
    pub fn held(mut points: Vec<Placed>, fault: &Arc<Fault>) -> Points {
        points.sort_unstable();
        let terms = SectionColumn::held(layout::POINTS, points.iter().map(|point| point[1]), fault);
        Points { terms, boxes: BoxSection::held(layout::POINT_BOXES, points.iter().map(corners), fault) }
    }

    /// Builds the shared R-tree in advance.
    pub fn prepare(&self) {
        self.boxes.prepare();
    }

    /// Returns the points in a zone, unordered; some points just outside may be included.
    pub fn within(&self, zone: &Zone) -> impl Iterator<Item = TermId> + '_ {
        let west = turned(zone.west);
        let east = west + zone.width;
        let slack = 2.0 * SLACK;
        let boxes = match () {
            () if zone.width >= 360.0 - slack => [Some((-180.0, 180.0)), None],
            () if east > 180.0 - slack => [Some((west, 180.0)), Some((-180.0, east - 360.0))],
            // A point slightly west of the edge.
            () if west < slack - 180.0 => [Some((west, east)), Some((180.0 - slack, 180.0))],
            () => [Some((west, east)), None],
        };
        let (south, north) = (zone.south, zone.north);
        // Widen the area by one step on each side, because points are rounded to steps.
        let step = |degrees: f64, more: f64| (libm::floor(degrees * STEPS) + more) as i32;
        boxes.into_iter().flatten().flat_map(move |(west, east)| {
            let area = [step(south, -1.0), step(west, -1.0), step(north, 1.0), step(east, 1.0)];
            self.boxes.meeting(&area).into_iter().map(|at| TermId::of_snapshot(self.terms.get(at.into())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_go_around() {
        let id = TermId::of_snapshot;
        let points = [[179.5, 0.0], [-179.5, 1.0], [0.0, 0.0], [12.0, 89.0]];
        let place = |(number, [longitude, latitude]): (u64, [f64; 2])| {
            placed(&GlobePoint { longitude, latitude, globe: EARTH }, number)
        };
        let points = Points::held((0..).zip(points).map(place).collect(), &Arc::default());
        let within = |south, north, west, width| {
            let mut found: Vec<TermId> = points.within(&Zone { south, north, west, width }).collect();
            found.sort_unstable();
            found
        };
        assert_eq!(within(-1.0, 1.0, 179.0, 2.0), [id(0), id(1)]);
        assert_eq!(within(-1.0, 1.0, -181.0, 2.0), [id(0), id(1)]);
        assert_eq!(within(-1.0, 0.5, -181.0, 362.0), [id(0), id(2)]);
        assert_eq!(within(88.0, 90.0, 11.0, 1.0), [id(3)]);
    }
}
