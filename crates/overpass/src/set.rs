//! The sets that statements pass to each other.

use std::sync::Arc;

use super::extent::ExtentBuilder;
use super::sorted;
use terrapin_budget as budget;
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal};

/// The index of an area among the areas of the snapshot.
pub type AreaOrdinal = u32;

/// The content of a named set. Each list is ascending and without duplicates.
#[derive(Debug, Clone, Default)]
pub struct ElementSet {
    /// Nodes.
    pub nodes: Vec<Ordinal>,
    /// Ways.
    pub ways: Vec<Ordinal>,
    /// Relations.
    pub relations: Vec<Ordinal>,
    /// Areas made from relations. (An area made from a closed way is that way.)
    pub areas: Vec<AreaOrdinal>,
    /// Derived elements, made by `make`, `convert` and similar statements, in order of id.
    pub derived: Vec<Arc<Derived>>,
}

/// An element that a query made.
#[derive(Debug, Clone, PartialEq)]
pub struct Derived {
    /// The type's name as `make` gave it.
    pub type_name: String,
    /// Its id.
    pub id: i64,
    /// Its tags, in order of key.
    pub tags: Vec<(String, String)>,
    /// Its geometry.
    pub geometry: Option<DerivedGeometry>,
}

impl Derived {
    /// Returns the key by which derived elements are sorted and identified, regardless of their type. In the reference,
    /// ids are unsigned.
    pub fn key(&self) -> u64 {
        self.id as u64
    }
}

/// A derived element's geometry, in degrees.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum DerivedGeometry {
    Point(DegreePosition),
    Line(Vec<DegreePosition>),
    Polygon(Vec<Vec<DegreePosition>>),
    Collection(Vec<DerivedGeometry>),
}

/// A position in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub struct DegreePosition {
    pub lat: f64,
    pub lon: f64,
}

impl From<Coord> for DegreePosition {
    /// Uses the reference's operations, whose last bit differs from that of a plain division.
    fn from(c: Coord) -> DegreePosition {
        DegreePosition { lat: (f64::from(c.lat) + 910_000_000.0) / 1e7 - 91.0, lon: f64::from(c.lon) / 1e7 }
    }
}

impl DegreePosition {
    /// Returns the center of a box, rounded like the reference. For a box across the antimeridian, the center is on the
    /// opposite side of the globe.
    pub fn middle(bounds: &BoundingBox) -> DegreePosition {
        let plain = DegreePosition::plain_middle(bounds);
        if bounds.west <= bounds.east {
            return plain;
        }
        let (west, east) = (f64::from(bounds.west) / 1e7, f64::from(bounds.east) / 1e7);
        let lon = (west + (east + 360.0)) / 2.0;
        DegreePosition { lon: if lon > 180.0 { lon - 360.0 } else { lon }, ..plain }
    }

    /// Returns the center of a box without regard to the antimeridian.
    pub fn plain_middle(bounds: &BoundingBox) -> DegreePosition {
        let a = DegreePosition::from(Coord { lat: bounds.south, lon: bounds.west });
        let b = DegreePosition::from(Coord { lat: bounds.north, lon: bounds.east });
        DegreePosition { lat: (a.lat + b.lat) / 2.0, lon: (a.lon + b.lon) / 2.0 }
    }

    /// The position that the reference gives an unknown node in a piece of a relation. It is not on the globe, but it
    /// is written, as 100 and 0.
    pub const UNKNOWN: DegreePosition = DegreePosition { lat: 99.999_999_98, lon: 0.0 };

    /// The center of an element without positions in the reference. It is not on the globe, and `pt` cannot make it,
    /// but it is written, as 100 and 200.
    pub const NOWHERE: DegreePosition = DegreePosition { lat: 100.000_000_01, lon: 200.0 };

    /// Returns whether the position is on the globe.
    pub fn is_on_globe(self) -> bool {
        self.lat.abs() <= 90.0 && self.lon.abs() <= 180.0 || self == DegreePosition::UNKNOWN
    }

    /// Returns whether the position is written to answers.
    fn is_written(self) -> bool {
        self.is_on_globe() || self == DegreePosition::NOWHERE
    }

    /// Returns the position after the reference has converted it to a coordinate. Halves are rounded up in latitude and
    /// away from 0 in longitude.
    pub fn encoded(self) -> DegreePosition {
        let lat = libm::floor((self.lat + 91.0) * 1e7 + 0.5) / 1e7 - 91.0;
        let lon = libm::trunc(self.lon * 1e7 + if self.lon > 0.0 { 0.5 } else { -0.5 }) / 1e7;
        DegreePosition { lat, lon }
    }

    /// Returns the nearest coordinate. Rounds the exact value of the double, as printing with seven decimals does.
    pub fn rounded(self) -> Coord {
        let round = |degrees: f64| {
            let floor = libm::floor(degrees * 1e7);
            let rest = libm::fma(degrees, 1e7, -floor);
            let up = rest > 0.5 || rest == 0.5 && floor % 2.0 != 0.0;
            (if up { floor + 1.0 } else { floor }) as i32
        };
        Coord { lat: round(self.lat), lon: round(self.lon) }
    }
}

impl ElementSet {
    /// Returns the number of elements of all types.
    pub fn len(&self) -> usize {
        self.nodes.len() + self.ways.len() + self.relations.len() + self.areas.len() + self.derived.len()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the elements of one type.
    pub fn part(&self, kind: ElementType) -> &[Ordinal] {
        match kind {
            ElementType::Node => &self.nodes,
            ElementType::Way => &self.ways,
            ElementType::Relation => &self.relations,
        }
    }

    /// Returns the elements of one type for modification.
    pub fn part_mut(&mut self, kind: ElementType) -> &mut Vec<Ordinal> {
        match kind {
            ElementType::Node => &mut self.nodes,
            ElementType::Way => &mut self.ways,
            ElementType::Relation => &mut self.relations,
        }
    }

    /// Returns the approximate size in bytes.
    pub fn bytes(&self) -> u64 {
        let elements = self.nodes.len() + self.ways.len() + self.relations.len();
        (elements * size_of::<Ordinal>() + self.areas.len() * size_of::<AreaOrdinal>()) as u64
            + self.derived.iter().map(|d| d.bytes()).sum::<u64>()
    }

    /// Adds the elements of `other`. If derived elements have the same id, that of `other` is kept.
    pub fn add(&mut self, other: &ElementSet) {
        for kind in ElementType::ALL {
            if !other.part(kind).is_empty() {
                *self.part_mut(kind) = sorted::union(self.part(kind), other.part(kind));
            }
        }
        if !other.areas.is_empty() {
            self.areas.extend_from_slice(&other.areas);
            self.areas.sort_unstable();
            self.areas.dedup();
        }
        if !other.derived.is_empty() {
            // The sort is stable, therefore of two elements with one key the first is kept.
            self.derived.splice(..0, other.derived.iter().cloned());
            self.derived.sort_by_key(|d| {
                budget::checkpoint();
                d.key()
            });
            self.derived.dedup_by(|b, a| a.key() == b.key());
        }
    }

    /// Removes the elements of `other`.
    pub fn subtract(&mut self, other: &ElementSet) {
        for kind in ElementType::ALL {
            if !other.part(kind).is_empty() {
                *self.part_mut(kind) = sorted::difference(self.part(kind), other.part(kind));
            }
        }
        self.areas.retain(|a| other.areas.binary_search(a).is_err());
        self.derived.retain(|d| other.derived.binary_search_by_key(&d.key(), |o| o.key()).is_err());
    }
}

impl Derived {
    /// Returns the approximate size in bytes.
    pub fn bytes(&self) -> u64 {
        let tags: usize = self.tags.iter().map(|(k, v)| k.len() + v.len() + 48).sum();
        (size_of::<Derived>() + self.type_name.len() + tags) as u64
            + self.geometry.as_ref().map_or(0, DerivedGeometry::bytes)
    }
}

impl DerivedGeometry {
    /// The geometry without parts.
    pub const NOTHING: DerivedGeometry = DerivedGeometry::Collection(Vec::new());

    /// Returns the bounding box, rounded to the nearest coordinates.
    pub fn bounding_box(&self) -> Option<BoundingBox> {
        let mut extent = ExtentBuilder::EMPTY;
        self.each(&mut |p| {
            if p.is_on_globe() {
                extent.add(p.rounded());
            }
        });
        if self.is_nowhere() {
            extent.add(Coord { lat: 1_000_000_000, lon: 2_000_000_000 });
        }
        extent.around()
    }

    /// Returns the center of the bounding box that goes the shorter way round the globe. As in the reference, positions
    /// are not rounded to coordinates before.
    pub fn middle(&self) -> Option<DegreePosition> {
        let (mut south, mut north) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut west, mut east) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut east_half, mut west_half) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut add = |p: DegreePosition| {
            (south, north) = (south.min(p.lat), north.max(p.lat));
            (west, east) = (west.min(p.lon), east.max(p.lon));
            if p.lon >= 0.0 {
                east_half = east_half.min(p.lon);
            } else {
                west_half = west_half.max(p.lon);
            }
        };
        self.each(&mut |p| {
            if p.is_on_globe() {
                add(p);
            }
        });
        if self.is_nowhere() {
            add(DegreePosition::NOWHERE);
        }
        if south > north {
            return None;
        }
        let lat = (south + north) / 2.0;
        if east - west <= 180.0 {
            return Some(DegreePosition { lat, lon: (west + east) / 2.0 });
        }
        let across = west_half + 360.0 - east_half;
        let lon = if across < 180.0 { (east_half + (west_half + 360.0)) / 2.0 } else { 0.0 };
        Some(DegreePosition { lat, lon: if lon > 180.0 { lon - 360.0 } else { lon } })
    }

    /// Returns whether a position is off the globe.
    pub fn leaves_globe(&self) -> bool {
        let mut leaves = false;
        self.each(&mut |p| leaves |= !p.is_written());
        leaves
    }

    /// Returns the part of a geometry that the reference writes. Positions off the globe are removed, and a polygon
    /// with such a position becomes empty.
    pub fn on_globe(&self) -> Option<DerivedGeometry> {
        Some(match self {
            DerivedGeometry::Point(p) => DerivedGeometry::Point(Some(*p).filter(|p| p.is_written())?),
            DerivedGeometry::Line(line) => {
                DerivedGeometry::Line(line.iter().copied().filter(|p| p.is_written()).collect())
            }
            DerivedGeometry::Polygon(_) if self.leaves_globe() => DerivedGeometry::Polygon(Vec::new()),
            DerivedGeometry::Polygon(rings) => DerivedGeometry::Polygon(rings.clone()),
            DerivedGeometry::Collection(parts) => {
                DerivedGeometry::Collection(parts.iter().filter_map(DerivedGeometry::on_globe).collect())
            }
        })
    }

    /// Calls `f` with every position.
    fn each(&self, f: &mut impl FnMut(DegreePosition)) {
        match self {
            DerivedGeometry::Point(p) => f(*p),
            DerivedGeometry::Line(line) => line.iter().for_each(|p| f(*p)),
            DerivedGeometry::Polygon(rings) => rings.iter().flatten().for_each(|p| f(*p)),
            DerivedGeometry::Collection(parts) => parts.iter().for_each(|part| part.each(f)),
        }
    }

    /// Returns whether the geometry is a collection without parts, or only with parts of this kind. `trace` returns
    /// this for a polygon without positions, and a member missing in the extract also has this geometry.
    pub fn is_nothing(&self) -> bool {
        matches!(self, DerivedGeometry::Collection(parts) if parts.iter().all(DerivedGeometry::is_nothing))
    }

    /// Returns whether the geometry is a line or polygon without positions, or the center of one. The reference places
    /// these off the globe.
    fn is_nowhere(&self) -> bool {
        match self {
            DerivedGeometry::Point(p) => *p == DegreePosition::NOWHERE,
            DerivedGeometry::Line(line) => line.iter().all(|p| *p == DegreePosition::NOWHERE),
            DerivedGeometry::Polygon(rings) => rings.is_empty(),
            DerivedGeometry::Collection(_) => false,
        }
    }

    /// Returns the approximate size in bytes.
    pub fn bytes(&self) -> u64 {
        let own = size_of::<DerivedGeometry>() as u64;
        let positions = |n: usize| (n * size_of::<DegreePosition>()) as u64;
        own + match self {
            DerivedGeometry::Point(_) => 0,
            DerivedGeometry::Line(line) => positions(line.len()),
            DerivedGeometry::Polygon(rings) => rings.iter().map(|r| positions(r.len())).sum(),
            DerivedGeometry::Collection(parts) => parts.iter().map(DerivedGeometry::bytes).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derived(type_name: &str, id: i64, tag: &str) -> Arc<Derived> {
        let tags = vec![("k".to_owned(), tag.to_owned())];
        Arc::new(Derived { type_name: type_name.to_owned(), id, tags, geometry: None })
    }

    #[test]
    fn add_and_subtract() {
        let mut a = ElementSet {
            nodes: vec![1, 5],
            areas: vec![2],
            derived: vec![derived("x", 1, "a")],
            ..ElementSet::default()
        };
        let b = ElementSet {
            nodes: vec![3, 5],
            ways: vec![7],
            areas: vec![1, 2],
            derived: vec![derived("y", 1, "b"), derived("a", 9, "b")],
            ..ElementSet::default()
        };
        a.add(&b);
        assert_eq!(
            (a.nodes.as_slice(), a.ways.as_slice(), a.areas.as_slice()),
            (&[1, 3, 5][..], &[7][..], &[1, 2][..])
        );
        assert_eq!(a.derived, [derived("y", 1, "b"), derived("a", 9, "b")]);
        a.subtract(&ElementSet {
            nodes: vec![3],
            areas: vec![1],
            derived: vec![derived("x", 1, "z")],
            ..ElementSet::default()
        });
        assert_eq!((a.nodes.as_slice(), a.areas.as_slice(), a.derived.len()), (&[1, 5][..], &[2][..], 1));
    }
}
