//! The geocoder: finds places by name and by position.
//!
//! Shortcuts in queries need an element, a position or a box: [`PlaceSource`]. Services need places with addresses:
//! [`search()`] over the snapshot's index of names, and [`nearest`]. The crate may use `osm`; it does not know query
//! languages and never uses the network, so that results are the same on every machine.

mod address;
mod areas;
mod around;
mod countries;
mod details;
mod entrances;
mod estimate;
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

pub use address::{Address, AddressPart};
pub use areas::AreaLookup;
pub use countries::{Territory, territory_names};
pub use details::{Details, LINKED, PlaceLayer};
pub use entrances::{Entrance, entrances};
pub use hit::{Articles, Hit};
pub use near::{ReverseQuery, nearest};
pub use point::coord;
pub use question::{AddressQuery, PlaceQuery};
pub use search::{PlaceSearch, search};
pub use spot::PlaceSpot;
pub use table::{PlaceTable, TableError};
pub use until::Until;

use terrapin_osm::areas::{RELATION_AREAS, WAY_AREAS};
use terrapin_osm::{BoundingBox, Coord, ElementType};

/// An attribute of a place in one source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SourceFact<T> {
    /// Unknown to this source; the next source is tried.
    #[default]
    Unknown,
    /// Known to be absent; no other source is tried.
    Nothing,
    /// The value.
    Is(T),
}

impl<T> SourceFact<T> {
    /// Returns the value, if any.
    pub fn value(&self) -> Option<&T> {
        match self {
            SourceFact::Is(value) => Some(value),
            SourceFact::Unknown | SourceFact::Nothing => None,
        }
    }

    /// Returns this fact, or `other` if this one is unknown.
    pub fn or(self, other: SourceFact<T>) -> SourceFact<T> {
        match self {
            SourceFact::Unknown => other,
            known => known,
        }
    }

    /// Returns whether it is unknown.
    pub fn is_unknown(&self) -> bool {
        matches!(self, SourceFact::Unknown)
    }
}

/// An element with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlaceElement {
    /// Its type.
    pub kind: ElementType,
    /// Its id.
    pub id: i64,
}

impl PlaceElement {
    /// Returns the id of the element's area in OverpassQL; `None` for a node.
    pub fn area_id(self) -> Option<i64> {
        match self.kind {
            ElementType::Node => None,
            ElementType::Way => self.id.checked_add(WAY_AREAS),
            ElementType::Relation => self.id.checked_add(RELATION_AREAS),
        }
    }
}

/// A position in degrees, as text for a query.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct PlacePosition {
    pub lat: String,
    pub lon: String,
}

impl PlacePosition {
    /// Formats a position.
    pub fn of(coord: Coord) -> PlacePosition {
        PlacePosition { lat: degrees(coord.lat), lon: degrees(coord.lon) }
    }

    /// Returns the middle of a box, also across the antimeridian; halves are rounded down.
    pub fn middle_of(bbox: &BoundingBox) -> PlacePosition {
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
        // Both are between numbers that fit.
        let narrow = |value: i64| i32::try_from(value).unwrap_or_default();
        PlacePosition::of(Coord { lat: narrow(lat), lon: narrow(lon) })
    }
}

/// A box in degrees, as text for a query.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct PlaceBounds {
    pub south: String,
    pub north: String,
    pub west: String,
    pub east: String,
}

impl PlaceBounds {
    /// Formats a box.
    pub fn of(bbox: &BoundingBox) -> PlaceBounds {
        PlaceBounds {
            south: degrees(bbox.south),
            north: degrees(bbox.north),
            west: degrees(bbox.west),
            east: degrees(bbox.east),
        }
    }
}

/// Formats 1e-7 degrees as degrees, without trailing zeros.
fn degrees(value: i32) -> String {
    let magnitude = value.unsigned_abs();
    let text = format!("{}.{:07}", magnitude / 10_000_000, magnitude % 10_000_000);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if value < 0 { format!("-{text}") } else { text.to_owned() }
}

/// The place of a name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamedPlace {
    /// The element with the name.
    pub element: SourceFact<PlaceElement>,
    /// A position in or near it.
    pub center: SourceFact<PlacePosition>,
    /// The box around it.
    pub bounds: SourceFact<PlaceBounds>,
}

/// A source of places.
pub trait PlaceSource: Sync {
    /// Returns the place of a name; `None` if the name is unknown.
    fn find(&self, name: &str) -> Option<NamedPlace>;
}

/// Sources by precedence: each attribute comes from the first source that has it.
#[derive(Default)]
pub struct Chain<'a>(pub Vec<&'a dyn PlaceSource>);

impl PlaceSource for Chain<'_> {
    fn find(&self, name: &str) -> Option<NamedPlace> {
        let mut found: Option<NamedPlace> = None;
        for source in &self.0 {
            if let Some(next) = source.find(name) {
                let first = found.unwrap_or_default();
                let merged = NamedPlace {
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
        assert_eq!(PlacePosition::middle_of(&bbox), PlacePosition { lat: "0.0000001".into(), lon: "-179".into() });
    }
}
