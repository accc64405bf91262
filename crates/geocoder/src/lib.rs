//! Where names lead: a table of known names, then the snapshot's own areas; what people write, and what is at a point.
//!
//! For queries a place is the element that carries the name, a position, a box: [`Places`]. Everyone else gets places with
//! their addresses: [`search()`] over the snapshot's index of names, and [`nearest`]. May use `osm`; knows nothing of query
//! languages and never asks the network, so a name leads to the same place on every machine.

mod address;
mod areas;
mod around;
mod countries;
mod details;
mod entrances;
mod hit;
mod house;
mod interpolation;
mod kinds;
mod linked;
mod lists;
mod near;
mod nearby;
mod point;
mod postcode;
mod question;
mod search;
mod spot;
mod streets;
mod table;
mod until;
mod variants;

pub use address::{Address, Part};
pub use areas::Areas;
pub use countries::Territory;
pub use details::{Details, LINKED, Layer};
pub use entrances::{Entrance, entrances};
pub use hit::{Articles, Hit};
pub use near::{Near, nearest};
pub use point::coord;
pub use question::{Parts, Question};
pub use search::{Search, search};
pub use spot::Spot;
pub use table::{Table, TableError};
pub use until::Until;

use terrapin_osm::areas::{RELATION_AREAS, WAY_AREAS};
use terrapin_osm::{BoundingBox, Coord, ElementType};

/// What a source knows of one side of a place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Fact<T> {
    /// The source cannot tell; another one may.
    #[default]
    Unknown,
    /// The source knows that there is nothing: no other one is asked.
    Nothing,
    /// This is it.
    Is(T),
}

impl<T> Fact<T> {
    /// The value, where there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Fact::Is(value) => Some(value),
            Fact::Unknown | Fact::Nothing => None,
        }
    }

    /// This fact, or the other where this one is unknown.
    pub fn or(self, other: Fact<T>) -> Fact<T> {
        match self {
            Fact::Unknown => other,
            known => known,
        }
    }

    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Fact::Unknown)
    }
}

/// The element that a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Element {
    /// Its type.
    pub kind: ElementType,
    /// Its id.
    pub id: i64,
}

impl Element {
    /// The id of the area made from this element, as queries write it; a node has none.
    pub fn area_id(self) -> Option<i64> {
        match self.kind {
            ElementType::Node => None,
            ElementType::Way => self.id.checked_add(WAY_AREAS),
            ElementType::Relation => self.id.checked_add(RELATION_AREAS),
        }
    }
}

/// A position in degrees, as the text that goes into a query.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Position {
    pub lat: String,
    pub lon: String,
}

impl Position {
    /// A position of the data.
    pub fn of(coord: Coord) -> Position {
        Position { lat: degrees(coord.lat), lon: degrees(coord.lon) }
    }

    /// The middle of a box, also of one across the antimeridian; halves are rounded down.
    pub fn middle_of(bbox: &BoundingBox) -> Position {
        let half = |low: i64, high: i64| (low + high).div_euclid(2);
        let lat = half(bbox.south.into(), bbox.north.into());
        let (west, mut east) = (i64::from(bbox.west), i64::from(bbox.east));
        if west > east {
            east += 3_600_000_000;
        }
        let mut lon = half(west, east);
        if lon > 1_800_000_000 {
            lon -= 3_600_000_000;
        }
        // Both lie between numbers that fit.
        let narrow = |value: i64| i32::try_from(value).unwrap_or_default();
        Position::of(Coord { lat: narrow(lat), lon: narrow(lon) })
    }
}

/// A box in degrees, as the texts that go into a query.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Bounds {
    pub south: String,
    pub north: String,
    pub west: String,
    pub east: String,
}

impl Bounds {
    /// A box of the data.
    pub fn of(bbox: &BoundingBox) -> Bounds {
        Bounds {
            south: degrees(bbox.south),
            north: degrees(bbox.north),
            west: degrees(bbox.west),
            east: degrees(bbox.east),
        }
    }
}

/// Degrees from 1e-7 degrees, without zeros at the end.
fn degrees(value: i32) -> String {
    let magnitude = value.unsigned_abs();
    let text = format!("{}.{:07}", magnitude / 10_000_000, magnitude % 10_000_000);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if value < 0 { format!("-{text}") } else { text.to_owned() }
}

/// What a name leads to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The element that carries the name.
    pub element: Fact<Element>,
    /// A position in or near it.
    pub center: Fact<Position>,
    /// The box around it.
    pub bounds: Fact<Bounds>,
}

/// A source of places.
pub trait Places: Sync {
    /// What this source knows of a name; `None` where it knows nothing at all.
    fn find(&self, name: &str) -> Option<Place>;
}

/// Sources asked in order: each side of a place is the first one's that knows of it.
#[derive(Default)]
pub struct Chain<'a>(pub Vec<&'a dyn Places>);

impl Places for Chain<'_> {
    fn find(&self, name: &str) -> Option<Place> {
        let mut found: Option<Place> = None;
        for source in &self.0 {
            if let Some(next) = source.find(name) {
                let first = found.unwrap_or_default();
                let merged = Place {
                    element: first.element.or(next.element),
                    center: first.center.or(next.center),
                    bounds: first.bounds.or(next.bounds),
                };
                let complete =
                    !merged.element.is_unknown() && !merged.center.is_unknown() && !merged.bounds.is_unknown();
                found = Some(merged);
                if complete {
                    break;
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_are_exact() {
        let text = [0, 1, -1, 358_987_000, -1_800_000_000].map(degrees);
        assert_eq!(text, ["0", "0.0000001", "-0.0000001", "35.8987", "-180"]);
    }

    #[test]
    fn the_middle_of_a_box_across_the_antimeridian() {
        let bbox = BoundingBox { south: 0, west: 1_790_000_000, north: 3, east: -1_770_000_000 };
        assert_eq!(Position::middle_of(&bbox), Position { lat: "0.0000001".into(), lon: "-179".into() });
    }
}
