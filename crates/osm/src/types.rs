//! The small types that all modules share.

use std::str::FromStr;

use terrapin_snapshot::{BoxSection, Corners};

/// The position of an element among those of its type, in Hilbert order: page times page size plus slot.
pub type Ordinal = u64;

/// The three kinds of element, in the order in which answers list them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum ElementType {
    Node = 0,
    Way = 1,
    Relation = 2,
}

impl ElementType {
    /// All of them, in order.
    pub const ALL: [ElementType; 3] = [ElementType::Node, ElementType::Way, ElementType::Relation];

    /// `node`, `way` or `relation`.
    pub fn name(self) -> &'static str {
        match self {
            ElementType::Node => "node",
            ElementType::Way => "way",
            ElementType::Relation => "relation",
        }
    }
}

/// A position in 1e-7 degrees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Coord {
    /// Latitude, -900_000_000 ..= 900_000_000.
    pub lat: i32,
    /// Longitude, -1_800_000_000 ..= 1_800_000_000.
    pub lon: i32,
}

impl Coord {
    /// The position of a way node that the extract does not contain.
    pub const MISSING: Coord = Coord { lat: i32::MIN, lon: i32::MIN };

    /// Returns whether this is a valid position: latitude from -90 to 90 degrees, longitude from -180 to 180.
    pub fn is_on_globe(self) -> bool {
        self.lat.unsigned_abs() <= 900_000_000 && self.lon.unsigned_abs() <= 1_800_000_000
    }

    /// Returns whether this is [`Coord::MISSING`].
    pub fn is_missing(self) -> bool {
        self.lat == i32::MIN
    }
}

/// A box in 1e-7 degrees, all borders included. `west > east` is a box across the antimeridian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct BoundingBox {
    pub south: i32,
    pub west: i32,
    pub north: i32,
    pub east: i32,
}

impl BoundingBox {
    /// The empty box, which grows by [`BoundingBox::extend`].
    pub const EMPTY: BoundingBox = BoundingBox { south: i32::MAX, west: i32::MAX, north: i32::MIN, east: i32::MIN };

    /// Returns whether the box is empty.
    pub fn is_empty(&self) -> bool {
        self.south > self.north
    }

    /// Extends the box to contain `c`; a missing position changes nothing.
    pub fn extend(&mut self, c: Coord) {
        if c.is_missing() {
            return;
        }
        self.south = self.south.min(c.lat);
        self.north = self.north.max(c.lat);
        self.west = self.west.min(c.lon);
        self.east = self.east.max(c.lon);
    }

    /// Grows the box to hold `other`; neither may cross the antimeridian.
    pub fn union(&mut self, other: &BoundingBox) {
        self.south = self.south.min(other.south);
        self.north = self.north.max(other.north);
        self.west = self.west.min(other.west);
        self.east = self.east.max(other.east);
    }

    /// Returns whether `c` lies in the box or on its border.
    pub fn contains(&self, c: Coord) -> bool {
        c.lat >= self.south
            && c.lat <= self.north
            && if self.west <= self.east {
                c.lon >= self.west && c.lon <= self.east
            } else {
                c.lon >= self.west || c.lon <= self.east
            }
    }

    /// Splits the box into one or two boxes that do not cross the antimeridian.
    pub fn split(&self) -> ([BoundingBox; 2], usize) {
        if self.west <= self.east || self.is_empty() {
            ([*self; 2], 1)
        } else {
            ([BoundingBox { east: 1_800_000_000, ..*self }, BoundingBox { west: -1_800_000_000, ..*self }], 2)
        }
    }

    /// From south, west, north and east.
    pub(super) fn of([south, west, north, east]: Corners) -> BoundingBox {
        BoundingBox { south, west, north, east }
    }

    /// South, west, north and east.
    pub(super) fn corners(&self) -> Corners {
        [self.south, self.west, self.north, self.east]
    }

    /// Returns the numbers of the boxes that share a point with this one, ascending.
    pub(super) fn meeting(&self, boxes: &BoxSection) -> Vec<u32> {
        let (parts, n) = self.split();
        let mut found = boxes.meeting(&parts[0].corners());
        if n > 1 {
            found.extend(boxes.meeting(&parts[1].corners()));
            found.sort_unstable();
            found.dedup();
        }
        found
    }

    /// Returns whether the two boxes share a point; `other` must not cross the antimeridian.
    pub fn intersects(&self, other: &BoundingBox) -> bool {
        let (parts, n) = self.split();
        parts[..n]
            .iter()
            .any(|a| a.south <= other.north && a.north >= other.south && a.west <= other.east && a.east >= other.west)
    }
}

/// From `south,west,north,east` in degrees.
impl FromStr for BoundingBox {
    type Err = NoBox;

    fn from_str(text: &str) -> Result<Self, NoBox> {
        let sides: Option<Vec<f64>> = text.split(',').map(|side| side.trim().parse().ok()).collect();
        let Some([south, west, north, east]) = sides.as_deref().and_then(|sides| <[f64; 4]>::try_from(sides).ok())
        else {
            return Err(NoBox("expected four numbers: south,west,north,east"));
        };
        // NaN also fails these tests.
        if !(-90.0..=90.0).contains(&south) || !(south..=90.0).contains(&north) {
            return Err(NoBox("latitudes are from -90 to 90, the south one first"));
        }
        if !(-180.0..=180.0).contains(&west) || !(-180.0..=180.0).contains(&east) {
            return Err(NoBox("longitudes are from -180 to 180"));
        }
        let [south, west, north, east] = [south, west, north, east].map(|side| (side * 1e7).round() as i32);
        Ok(BoundingBox { south, west, north, east })
    }
}

/// The reason why a text is not a bounding box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoBox(&'static str);

/// A way's node or a relation's member: an ordinal, or an element that the extract does not contain, of which only the
/// id is known ([`crate::Osm::ref_ids`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementRef(pub(super) u64);

impl ElementRef {
    const MISSING_BIT: u64 = 1 << 63;

    /// Creates a reference to an element that exists.
    pub(super) fn present(ordinal: Ordinal) -> ElementRef {
        ElementRef(ordinal)
    }

    /// Creates a reference to the `index`th missing element of its type.
    pub(super) fn missing(index: u64) -> ElementRef {
        ElementRef(index | Self::MISSING_BIT)
    }

    /// Returns the ordinal if the element exists.
    pub fn ordinal(self) -> Option<Ordinal> {
        (self.0 & Self::MISSING_BIT == 0).then_some(self.0)
    }

    /// Returns the index into the missing elements of its type if the element is missing.
    pub(super) fn missing_index(self) -> Option<u64> {
        (self.0 & Self::MISSING_BIT != 0).then_some(self.0 & !Self::MISSING_BIT)
    }
}

/// A member of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelationMember {
    /// Its type.
    pub kind: ElementType,
    /// The element.
    pub element: ElementRef,
    /// Its role: [`crate::Osm::role`].
    pub role: u32,
}

/// The metadata of one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MetaRef {
    /// Version, 0 where unknown.
    pub version: u32,
    /// Seconds since 1970, 0 where unknown.
    pub timestamp: i64,
    /// Changeset, 0 where unknown.
    pub changeset: i64,
    /// User id, 0 where unknown.
    pub uid: i64,
    /// The user's name: [`crate::Osm::user_name`]; 0 is the empty name.
    pub user: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_four_numbers_on_the_globe() {
        let malta: BoundingBox = "35.8, 14.1,36.1,14.6".parse().unwrap();
        assert_eq!((malta.south, malta.east), (358_000_000, 146_000_000));
        assert!("-17,178,-16,-179".parse::<BoundingBox>().is_ok(), "across the antimeridian");
        for wrong in
            ["", "1,2,3", "1,2,3,x", "1,x,2,3,4", "1,2,3,4,5", "2,0,1,0", "-91,0,0,0", "0,0,0,181", "NaN,0,0,0"]
        {
            assert!(wrong.parse::<BoundingBox>().is_err(), "{wrong}");
        }
    }
}
