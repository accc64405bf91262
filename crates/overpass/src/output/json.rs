//! Writes `[out:json]`.

use std::io::{self, Write};

use super::buffer::Buffer;
use super::{AnswerWriter, COPYRIGHT, ItemTags, MemberGeometry, OutCounts, OutputHeader, OutputItem, Renderer};
use crate::set::{DegreePosition, DerivedGeometry};
use terrapin_osm::{BoundingBox, Coord};

/// The separator between elements.
const BETWEEN: &str = ",\n";

/// An answer in JSON.
pub(super) struct JsonAnswerWriter<'a> {
    buffer: Buffer<'a>,
    written: u64,
    remark: Option<String>,
}

impl<'a> JsonAnswerWriter<'a> {
    pub(super) fn new(header: OutputHeader, out: &'a mut dyn Write) -> Self {
        let mut b = Buffer::new(out);
        b.text("{\n  \"version\": 0.6,\n  \"generator\": \"Terrapin ");
        b.text(env!("CARGO_PKG_VERSION"));
        b.text("\",\n  \"osm3s\": {\n    \"timestamp_osm_base\": \"");
        b.time(header.data_time);
        if let Some(time) = header.areas_time {
            b.text("\",\n    \"timestamp_areas_base\": \"");
            b.time(time);
        }
        b.text("\",\n    \"copyright\": \"");
        b.text(COPYRIGHT);
        b.text("\"\n  },\n  \"elements\": [\n\n");
        JsonAnswerWriter { buffer: b, written: 0, remark: None }
    }

    fn separate(&mut self) {
        if self.written > 0 {
            self.buffer.text(BETWEEN);
        }
        self.written += 1;
    }

    fn close(&mut self) -> io::Result<()> {
        self.buffer.text("\n}");
        self.buffer.settle()
    }
}

impl AnswerWriter for JsonAnswerWriter<'_> {
    fn element(&mut self, item: &OutputItem<'_>) -> io::Result<()> {
        self.separate();
        render(&mut self.buffer, item);
        self.buffer.settle()
    }

    fn renderer(&self) -> Option<Renderer> {
        Some(Renderer { element: Box::new(render), between: BETWEEN })
    }

    fn rendered(&mut self, bytes: &[u8], elements: u64) -> io::Result<()> {
        self.separate();
        self.written += elements - 1;
        self.buffer.pass(bytes)
    }

    fn count(&mut self, counts: &OutCounts) -> io::Result<()> {
        self.separate();
        let b = &mut self.buffer;
        b.text("{\n  \"type\": \"count\",\n");
        b.text(if counts.with_id { "  \"id\": 0,\n" } else { "" });
        b.text("  \"tags\": {\n    \"nodes\": \"");
        b.unsigned(counts.nodes);
        b.text("\",\n    \"ways\": \"");
        b.unsigned(counts.ways);
        b.text("\",\n    \"relations\": \"");
        b.unsigned(counts.relations);
        if let Some(areas) = counts.areas {
            b.text("\",\n    \"areas\": \"");
            b.unsigned(areas);
        }
        b.text("\",\n    \"total\": \"");
        b.unsigned(counts.total());
        b.text("\"\n  }");
        self.close()
    }

    fn remark(&mut self, text: &str) -> io::Result<()> {
        self.remark = Some(text.to_owned());
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        let b = &mut self.buffer;
        b.text("\n\n  ]");
        if let Some(remark) = self.remark.take() {
            b.text(",\n\"remark\": \"");
            escaped(b, &remark);
            b.text("\"");
        }
        b.text("\n}\n");
        b.flush()
    }

    fn written(&self) -> u64 {
        self.written
    }

    fn content_type(&self) -> &'static str {
        "application/json"
    }

    fn started(&self) -> bool {
        self.buffer.started()
    }
}

/// Writes one element.
fn render(b: &mut Buffer<'_>, item: &OutputItem<'_>) {
    b.text("{\n  \"type\": \"");
    escaped(b, item.type_name);
    b.text("\"");
    if let Some(id) = item.id {
        b.text(",\n  \"id\": ");
        b.id(item, id);
    }
    if let Some(position) = item.position {
        b.text(",\n  \"lat\": ");
        b.coord(position, ",\n  \"lon\": ");
    }
    if let Some(meta) = &item.meta {
        b.text(",\n  \"timestamp\": \"");
        b.version_time(meta.timestamp);
        b.text("\",\n  \"version\": ");
        b.unsigned(u64::from(meta.version));
        b.text(",\n  \"changeset\": ");
        b.integer(meta.changeset);
        b.text(",\n  \"user\": \"");
        escaped(b, meta.user);
        b.text("\",\n  \"uid\": ");
        b.integer(meta.uid);
    }
    place(b, item);
    if let Some(nodes) = item.nodes {
        list(b, "nodes", nodes, |b, &id| b.integer(id));
    }
    if let Some(geometry) = item.geometry {
        list(b, "geometry", geometry, |b, &c| vertex(b, c));
    }
    members(b, item);
    if let Some(tags) = item.tags {
        tagged(b, tags);
    }
    b.text("\n}");
}

/// Writes the box, the center or the geometry. For derived elements, all of them are GeoJSON.
fn place(b: &mut Buffer<'_>, item: &OutputItem<'_>) {
    let derived = item.is_derived();
    if let Some(bounds) = &item.bounds {
        if derived { box_shape(b, bounds) } else { box_sides(b, bounds) }
    } else if let Some(center) = item.center {
        if derived {
            b.text(",\n  \"geometry\": {\n");
            shape(b, &DerivedGeometry::Point(center), 4);
            b.text("\n  }");
        } else {
            b.text(",\n  \"center\": {\n    \"lat\": ");
            b.position(center, ",\n    \"lon\": ");
            b.text("\n  }");
        }
    } else if let Some(geometry) = item.shape.filter(|shape| !shape.is_nothing()) {
        b.text(",\n  \"geometry\": {\n");
        shape(b, geometry, 4);
        b.text("\n  }");
    }
}

fn box_sides(b: &mut Buffer<'_>, bounds: &BoundingBox) {
    b.text(",\n  \"bounds\": {\n    \"minlat\": ");
    b.degrees(bounds.south);
    b.text(",\n    \"minlon\": ");
    b.degrees(bounds.west);
    b.text(",\n    \"maxlat\": ");
    b.degrees(bounds.north);
    b.text(",\n    \"maxlon\": ");
    b.degrees(bounds.east);
    b.text("\n  }");
}

/// Writes a box. The reference writes the corners with one bracket less than GeoJSON requires.
fn box_shape(b: &mut Buffer<'_>, bounds: &BoundingBox) {
    let BoundingBox { south, west, north, east } = *bounds;
    b.text(",\n  \"geometry\": {\n    \"type\": \"Polygon\",\n    \"coordinates\": [\n");
    for (i, (lat, lon)) in
        [(south, west), (south, east), (north, east), (north, west), (south, west)].into_iter().enumerate()
    {
        b.text(if i > 0 { ",\n      [" } else { "      [" });
        b.degrees(lon);
        b.text(", ");
        b.degrees(lat);
        b.text("]");
    }
    b.text("\n    ]\n  }");
}

fn members(b: &mut Buffer<'_>, item: &OutputItem<'_>) {
    let Some(members) = item.members else { return };
    b.text(",\n  \"members\": [\n");
    for (i, member) in members.iter().enumerate() {
        b.text(if i > 0 { ",\n    {\n      \"type\": \"" } else { "    {\n      \"type\": \"" });
        b.text(member.kind.name());
        b.text("\",\n      \"ref\": ");
        b.integer(member.id);
        b.text(",\n      \"role\": \"");
        escaped(b, member.role);
        b.text("\"");
        match member.geometry {
            MemberGeometry::None => {}
            MemberGeometry::Point(c) => {
                b.text(",\n      \"lat\": ");
                b.coord(c, ",\n      \"lon\": ");
            }
            MemberGeometry::Line(line) => {
                b.text(",\n      \"geometry\": [");
                for (i, &c) in line.iter().enumerate() {
                    b.text(if i > 0 { ",\n         " } else { "\n         " });
                    vertex(b, c);
                }
                b.text("\n      ]");
            }
        }
        b.text("\n    }");
    }
    b.text("\n  ]");
}

fn list<T>(b: &mut Buffer<'_>, name: &str, entries: &[T], mut write: impl FnMut(&mut Buffer<'_>, &T)) {
    b.text(",\n  \"");
    b.text(name);
    b.text("\": [\n    ");
    for (i, entry) in entries.iter().enumerate() {
        if i > 0 {
            b.text(",\n    ");
        }
        write(b, entry);
    }
    b.text("\n  ]");
}

fn vertex(b: &mut Buffer<'_>, c: Coord) {
    if c.is_missing() {
        b.text("null");
    } else {
        b.text("{ \"lat\": ");
        b.coord(c, ", \"lon\": ");
        b.text(" }");
    }
}

fn tagged(b: &mut Buffer<'_>, tags: &ItemTags) {
    if tags.is_empty() {
        return;
    }
    b.text(",\n  \"tags\": {\n");
    for (i, (key, value)) in tags.iter().enumerate() {
        b.text(if i > 0 { ",\n    \"" } else { "    \"" });
        escaped(b, key);
        b.text("\": \"");
        escaped(b, value);
        b.text("\"");
    }
    b.text("\n  }");
}

fn indent(b: &mut Buffer<'_>, depth: usize) {
    b.bytes.resize(b.bytes.len() + depth, b' ');
}

/// Writes the content of a GeoJSON geometry, indented by `depth` blanks.
fn shape(b: &mut Buffer<'_>, geometry: &DerivedGeometry, depth: usize) {
    let name = match geometry {
        DerivedGeometry::Point(_) => "Point",
        DerivedGeometry::Line(_) => "LineString",
        DerivedGeometry::Polygon(_) => "Polygon",
        DerivedGeometry::Collection(_) => "GeometryCollection",
    };
    indent(b, depth);
    b.text("\"type\": \"");
    b.text(name);
    b.text("\",\n");
    indent(b, depth);
    match geometry {
        DerivedGeometry::Point(p) => {
            b.text("\"coordinates\": [ ");
            b.position(DegreePosition { lat: p.lon, lon: p.lat }, ", ");
            b.text(" ]");
        }
        DerivedGeometry::Line(line) => {
            b.text("\"coordinates\": [\n");
            corners(b, line, depth + 2);
            indent(b, depth);
            b.text("]");
        }
        DerivedGeometry::Polygon(rings) => {
            b.text("\"coordinates\": [\n");
            for (i, ring) in rings.iter().enumerate() {
                b.text(if i > 0 { ",\n" } else { "" });
                indent(b, depth + 2);
                b.text("[\n");
                corners(b, ring, depth + 4);
                indent(b, depth + 2);
                b.text("]");
            }
            b.text(if rings.is_empty() { "" } else { "\n" });
            indent(b, depth);
            b.text("]");
        }
        DerivedGeometry::Collection(parts) => {
            b.text("\"geometries\": [\n");
            for (i, part) in parts.iter().filter(|part| !part.is_nothing()).enumerate() {
                b.text(if i > 0 { ",\n" } else { "" });
                indent(b, depth + 2);
                b.text("{\n");
                shape(b, part, depth + 4);
                b.text("\n");
                indent(b, depth + 2);
                b.text("}");
            }
            b.text("\n");
            indent(b, depth);
            b.text("]");
        }
    }
}

fn corners(b: &mut Buffer<'_>, line: &[DegreePosition], depth: usize) {
    for (i, p) in line.iter().enumerate() {
        b.text(if i > 0 { ",\n" } else { "" });
        indent(b, depth);
        b.text("[");
        b.position(DegreePosition { lat: p.lon, lon: p.lat }, ", ");
        b.text("]");
    }
    b.text(if line.is_empty() { "" } else { "\n" });
}

fn escaped(b: &mut Buffer<'_>, text: &str) {
    escape(&mut b.bytes, text);
}

/// Escapes a text like the reference: characters that JSON must escape are escaped, and other control characters become
/// a question mark.
pub(super) fn escape(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    // Hardly any text needs an escape. Checking all bytes without branches allows to process several at once.
    if !bytes.iter().fold(false, |found, &byte| found | matches!(byte, b'"' | b'\\' | 0..0x20)) {
        return out.extend_from_slice(bytes);
    }
    let mut done = 0;
    for (i, &byte) in bytes.iter().enumerate() {
        let replacement: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\t' => b"\\t",
            b'\r' => b"\\r",
            0..0x20 => b"?",
            _ => continue,
        };
        out.extend_from_slice(&bytes[done..i]);
        out.extend_from_slice(replacement);
        done = i + 1;
    }
    out.extend_from_slice(&bytes[done..]);
}
