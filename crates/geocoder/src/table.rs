//! A table of names from a file, in the format of `nominatim_cache.json` by the authors of OverpassNL: an object. Its
//! keys are names as in queries, without quotes. Its values are:
//!
//! - under the name: `{"osm_id": 51477, "osm_type": "relation"}`;
//! - under the name and `_centre`: `{"lat": "35.9", "lon": "14.4"}`;
//! - under the name and `_bbox`: `{"bbox": [south, north, west, east]}`, the order in which Nominatim gives them;
//! - `null` anywhere: the name is known to have no place.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{NamedPlace, PlaceBounds, PlaceElement, PlacePosition, PlaceSource, SourceFact};
use terrapin_osm::{BoundingBox, ElementType};

/// The entries of one file.
#[derive(Debug, Default)]
pub struct PlaceTable {
    entries: HashMap<String, Option<PlaceEntry>>,
}

/// An error in a file of places.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not a table of places.
    #[error("{}: not a table of places: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum PlaceEntry {
    Element { osm_id: i64, osm_type: OsmTypeName },
    Center { lat: Degrees, lon: Degrees },
    Bounds { bbox: [Degrees; 4] },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OsmTypeName {
    Node,
    Way,
    Relation,
}

impl OsmTypeName {
    fn kind(self) -> ElementType {
        match self {
            OsmTypeName::Node => ElementType::Node,
            OsmTypeName::Way => ElementType::Way,
            OsmTypeName::Relation => ElementType::Relation,
        }
    }
}

/// Degrees as a string, as Nominatim writes them, or as a number. Both go into the query unchanged.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Degrees {
    Text(String),
    Number(serde_json::Number),
}

impl Degrees {
    fn text(&self) -> String {
        match self {
            Degrees::Text(text) => text.clone(),
            Degrees::Number(number) => number.to_string(),
        }
    }
}

impl PlaceTable {
    /// Reads a file.
    pub fn open(path: &Path) -> Result<PlaceTable, TableError> {
        let bytes = std::fs::read(path).map_err(|source| TableError::Unreadable { path: path.to_owned(), source })?;
        PlaceTable::parse(&bytes).map_err(|source| TableError::Malformed { path: path.to_owned(), source })
    }

    /// Reads the content of a file.
    pub fn parse(bytes: &[u8]) -> Result<PlaceTable, serde_json::Error> {
        Ok(PlaceTable { entries: serde_json::from_slice(bytes)? })
    }

    /// Returns the other names of the element with a name, in alphabetical order.
    pub fn synonyms(&self, name: &str) -> Vec<String> {
        let element = |entry: &Option<PlaceEntry>| match entry {
            Some(PlaceEntry::Element { osm_id, osm_type }) => Some((*osm_id, *osm_type)),
            _ => None,
        };
        let Some(wanted) = self.entries.get(name).and_then(element) else { return Vec::new() };
        let same = self.entries.iter().filter(|(other, entry)| *other != name && element(entry) == Some(wanted));
        let mut names: Vec<String> = same.map(|(other, _)| other.clone()).collect();
        names.sort_unstable();
        names
    }

    /// Returns the box of an element, if one of its names has one; of several, that of the first name in alphabetical
    /// order.
    pub fn bounds_of(&self, element: PlaceElement) -> Option<BoundingBox> {
        let is_it = |entry: &Option<PlaceEntry>| match entry {
            Some(PlaceEntry::Element { osm_id, osm_type }) => *osm_id == element.id && osm_type.kind() == element.kind,
            _ => false,
        };
        let mut names: Vec<&String> =
            self.entries.iter().filter(|(_, entry)| is_it(entry)).map(|(name, _)| name).collect();
        names.sort_unstable();
        names.iter().find_map(|name| {
            let bounds = self.find(name)?.bounds;
            let PlaceBounds { south, north, west, east } = bounds.value()?;
            format!("{south},{west},{north},{east}").parse().ok()
        })
    }

    /// Returns the entry under a key: unknown if missing, absent if `null` or of another kind.
    fn fact<T>(&self, key: &str, read: impl FnOnce(&PlaceEntry) -> Option<T>) -> SourceFact<T> {
        match self.entries.get(key) {
            None => SourceFact::Unknown,
            Some(entry) => entry.as_ref().and_then(read).map_or(SourceFact::Nothing, SourceFact::Is),
        }
    }
}

impl PlaceSource for PlaceTable {
    fn find(&self, name: &str) -> Option<NamedPlace> {
        let place = NamedPlace {
            element: self.fact(name, |entry| match entry {
                PlaceEntry::Element { osm_id, osm_type } => Some(PlaceElement { kind: osm_type.kind(), id: *osm_id }),
                _ => None,
            }),
            center: self.fact(&format!("{name}_centre"), |entry| match entry {
                PlaceEntry::Center { lat, lon } => Some(PlacePosition { lat: lat.text(), lon: lon.text() }),
                _ => None,
            }),
            bounds: self.fact(&format!("{name}_bbox"), |entry| match entry {
                PlaceEntry::Bounds { bbox: [south, north, west, east] } => {
                    Some(PlaceBounds { south: south.text(), north: north.text(), west: west.text(), east: east.text() })
                }
                _ => None,
            }),
        };
        (place != NamedPlace::default()).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chain;

    fn table(text: &str) -> PlaceTable {
        PlaceTable::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn each_side_of_a_place_has_its_own_entry() {
        let table = table(
            r#"{"Malta": {"osm_id": 365307, "osm_type": "relation"},
                "Malta_centre": {"lat": "35.8885993", "lon": 14.4476911},
                "Malta_bbox": {"bbox": ["35.6", "36.3", "13.9", "14.8"]},
                "Atlantis": null}"#,
        );
        let malta = table.find("Malta").unwrap();
        assert_eq!(malta.element.value().unwrap().area_id(), Some(3_600_365_307));
        assert_eq!(malta.center.value().unwrap().lon, "14.4476911");
        assert_eq!(malta.bounds.value().unwrap().north, "36.3");
        let of = |id| table.bounds_of(PlaceElement { kind: ElementType::Relation, id });
        assert_eq!((of(365_307).unwrap().east, of(1)), (148_000_000, None));
        let atlantis = table.find("Atlantis").unwrap();
        assert_eq!((atlantis.element, atlantis.center), (SourceFact::Nothing, SourceFact::Unknown));
        assert_eq!(table.find("Gozo"), None);
    }

    #[test]
    fn a_known_nothing_is_not_asked_of_the_next_source() {
        let first = table(r#"{"A": null, "B_centre": {"lat": "1", "lon": "2"}}"#);
        let second = table(r#"{"A": {"osm_id": 1, "osm_type": "way"}, "B": {"osm_id": 2, "osm_type": "node"}}"#);
        let chain = Chain(vec![&first, &second]);
        assert_eq!(chain.find("A").unwrap().element, SourceFact::Nothing);
        let b = chain.find("B").unwrap();
        assert_eq!(b.element, SourceFact::Is(PlaceElement { kind: ElementType::Node, id: 2 }));
        assert_eq!(b.center.value().unwrap().lat, "1");
    }

    #[test]
    fn a_malformed_table_says_where() {
        let error = PlaceTable::parse(b"{\"A\": {\"osm_id\": 1, \"osm_type\": \"area\"}}").unwrap_err();
        assert!(error.line() == 1, "{error}");
    }
}
