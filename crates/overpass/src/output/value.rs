//! Serializes elements with the fields, values and order of `[out:json]`.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{ItemTags, MemberGeometry, MemberItem, OutCounts, OutputItem};
use crate::set::{DegreePosition, DerivedGeometry};
use crate::timestamp;
use terrapin_budget as budget;
use terrapin_osm::{BoundingBox, Coord};

/// Serializes all parts of the element that are `Some`.
impl Serialize for OutputItem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &printable(self.type_name))?;
        match self.id {
            // In the reference, the ids of derived elements are unsigned.
            Some(id) if self.is_derived() => map.serialize_entry("id", &(id as u64))?,
            Some(id) => map.serialize_entry("id", &id)?,
            None => {}
        }
        if let Some(c) = self.position {
            map.serialize_entry("lat", &degrees(c.lat))?;
            map.serialize_entry("lon", &degrees(c.lon))?;
        }
        if let Some(meta) = &self.meta {
            let mut time = Vec::new();
            timestamp::push_version_time(&mut time, meta.timestamp);
            map.serialize_entry("timestamp", &String::from_utf8_lossy(&time))?;
            map.serialize_entry("version", &meta.version)?;
            map.serialize_entry("changeset", &meta.changeset)?;
            map.serialize_entry("user", &printable(meta.user))?;
            map.serialize_entry("uid", &meta.uid)?;
        }
        self.serialize_place(&mut map)?;
        if let Some(nodes) = self.nodes {
            map.serialize_entry("nodes", &NodeIds(nodes))?;
        }
        if let Some(geometry) = self.geometry {
            map.serialize_entry("geometry", &Vertices(geometry))?;
        }
        if let Some(members) = self.members {
            map.serialize_entry("members", members)?;
        }
        if let Some(tags) = self.tags.filter(|tags| !tags.is_empty()) {
            map.serialize_entry("tags", tags)?;
        }
        map.end()
    }
}

impl OutputItem<'_> {
    /// Serializes the box, the center or the geometry. For derived elements, all of them are GeoJSON.
    fn serialize_place<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if let Some(bounds) = &self.bounds {
            return if self.is_derived() {
                map.serialize_entry("geometry", &Rectangle(bounds))
            } else {
                map.serialize_entry("bounds", &Sides(bounds))
            };
        }
        if let Some(center) = self.center {
            return if self.is_derived() {
                map.serialize_entry("geometry", &DerivedGeometry::Point(center))
            } else {
                map.serialize_entry("center", &Position { lat: rounded(center.lat), lon: rounded(center.lon) })
            };
        }
        match self.shape.filter(|shape| !shape.is_nothing()) {
            Some(shape) => map.serialize_entry("geometry", shape),
            None => Ok(()),
        }
    }
}

/// Serializes the counts as the element of type `count`.
impl Serialize for OutCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "count")?;
        if self.with_id {
            map.serialize_entry("id", &0)?;
        }
        map.serialize_entry("tags", &self.tags())?;
        map.end()
    }
}

impl OutCounts {
    /// Returns the counts as tags, in the order in which they are printed.
    pub fn tags(&self) -> ItemTags {
        let mut tags = ItemTags::default();
        tags.push("nodes", &self.nodes.to_string());
        tags.push("ways", &self.ways.to_string());
        tags.push("relations", &self.relations.to_string());
        if let Some(areas) = self.areas {
            tags.push("areas", &areas.to_string());
        }
        tags.push("total", &self.total().to_string());
        tags
    }
}

impl Serialize for ItemTags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(key, value)| {
            budget::checkpoint();
            (printable(key), printable(value))
        }))
    }
}

impl Serialize for MemberItem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        budget::checkpoint();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.kind.name())?;
        map.serialize_entry("ref", &self.id)?;
        map.serialize_entry("role", &printable(self.role))?;
        match self.geometry {
            MemberGeometry::None => {}
            MemberGeometry::Point(c) => {
                map.serialize_entry("lat", &degrees(c.lat))?;
                map.serialize_entry("lon", &degrees(c.lon))?;
            }
            MemberGeometry::Line(line) => map.serialize_entry("geometry", &Vertices(line))?,
        }
        map.end()
    }
}

/// Serializes the geometry as GeoJSON.
impl Serialize for DerivedGeometry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pair = |p: &DegreePosition| {
            budget::checkpoint();
            [rounded(p.lon), rounded(p.lat)]
        };
        let line = |line: &[DegreePosition]| line.iter().map(pair).collect::<Vec<_>>();
        let mut map = serializer.serialize_map(Some(2))?;
        match self {
            DerivedGeometry::Point(point) => {
                map.serialize_entry("type", "Point")?;
                map.serialize_entry("coordinates", &pair(point))?;
            }
            DerivedGeometry::Line(positions) => {
                map.serialize_entry("type", "LineString")?;
                map.serialize_entry("coordinates", &line(positions))?;
            }
            DerivedGeometry::Polygon(rings) => {
                map.serialize_entry("type", "Polygon")?;
                map.serialize_entry("coordinates", &rings.iter().map(|ring| line(ring)).collect::<Vec<_>>())?;
            }
            DerivedGeometry::Collection(parts) => {
                map.serialize_entry("type", "GeometryCollection")?;
                let parts: Vec<&DerivedGeometry> = parts.iter().filter(|part| !part.is_nothing()).collect();
                map.serialize_entry("geometries", &parts)?;
            }
        }
        map.end()
    }
}

#[derive(serde::Serialize)]
struct Position {
    lat: f64,
    lon: f64,
}

/// The ids of the nodes of a way.
struct NodeIds<'a>(&'a [i64]);

impl Serialize for NodeIds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().inspect(|_| budget::checkpoint()))
    }
}

/// The positions of a line; `null` if a position is missing.
struct Vertices<'a>(&'a [Coord]);

impl Serialize for Vertices<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let vertex = |c: &Coord| {
            budget::checkpoint();
            (!c.is_missing()).then(|| Position { lat: degrees(c.lat), lon: degrees(c.lon) })
        };
        serializer.collect_seq(self.0.iter().map(vertex))
    }
}

/// The sides of a bounding box.
struct Sides<'a>(&'a BoundingBox);

impl Serialize for Sides<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let BoundingBox { south, west, north, east } = *self.0;
        let sides = [("minlat", south), ("minlon", west), ("maxlat", north), ("maxlon", east)];
        serializer.collect_map(sides.map(|(name, side)| (name, degrees(side))))
    }
}

/// A box as a polygon. As in the reference, the corners have one bracket less than GeoJSON requires.
struct Rectangle<'a>(&'a BoundingBox);

impl Serialize for Rectangle<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let BoundingBox { south, west, north, east } = *self.0;
        let corners = [(south, west), (south, east), (north, east), (north, west), (south, west)];
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("type", "Polygon")?;
        map.serialize_entry("coordinates", &corners.map(|(lat, lon)| [degrees(lon), degrees(lat)]))?;
        map.end()
    }
}

/// Converts 1e-7 degrees to the number that `[out:json]` prints.
fn degrees(value: i32) -> f64 {
    f64::from(value) / 1e7
}

/// Rounds degrees to the seven decimals that `[out:json]` prints.
fn rounded(value: f64) -> f64 {
    format!("{value:.7}").parse().unwrap_or(value)
}

/// Replaces control characters that JSON answers print as a question mark.
fn printable(text: &str) -> Cow<'_, str> {
    let is_replaced = |c: char| c < ' ' && !matches!(c, '\n' | '\t' | '\r');
    if text.contains(is_replaced) { text.replace(is_replaced, "?").into() } else { text.into() }
}
