//! Writes `[out:xml]`, the default format.

use std::io::{self, Write};

use super::buffer::Buffer;
use super::{AnswerWriter, COPYRIGHT, DiffAction, MemberGeometry, OutCounts, OutputHeader, OutputItem, Renderer};
use crate::set::{DegreePosition, DerivedGeometry};
use terrapin_osm::{BoundingBox, Coord};

/// An answer in XML.
pub(super) struct Xml<'a> {
    buffer: Buffer<'a>,
    written: u64,
    remark: Option<String>,
}

impl<'a> Xml<'a> {
    pub(super) fn new(header: OutputHeader, out: &'a mut dyn Write) -> Self {
        let mut b = Buffer::new(out);
        b.text("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<osm version=\"0.6\" generator=\"Terrapin ");
        b.text(env!("CARGO_PKG_VERSION"));
        b.text("\">\n<note>");
        b.text(COPYRIGHT);
        b.text("</note>\n<meta osm_base=\"");
        b.time(header.data_time);
        if let Some(time) = header.areas_time {
            b.text("\" areas=\"");
            b.time(time);
        }
        b.text("\"/>\n\n");
        if let Some(bounds) = header.bounds {
            write_bounds(&mut b, "  ", &bounds);
            b.text("\n");
        }
        Xml { buffer: b, written: 0, remark: None }
    }
}

/// Writes one element.
fn render(b: &mut Buffer<'_>, item: &OutputItem<'_>) {
    b.text("  <");
    b.text(item.type_name);
    if let Some(id) = item.id {
        b.text(" id=\"");
        b.id(item, id);
        b.text("\"");
    }
    if let Some(visible) = item.visible {
        b.text(if visible { " visible=\"true\"" } else { " visible=\"false\"" });
    }
    if let Some(position) = item.position {
        attributes(b, position);
    }
    if item.visible == Some(false) && item.meta.as_ref().is_some_and(|meta| meta.version == 0) {
        b.text(" version=\"0\" timestamp=\"0000-00-00T00:00:00Z\" changeset=\"0\" uid=\"0\"");
    } else if let Some(meta) = &item.meta {
        b.text(" version=\"");
        b.unsigned(u64::from(meta.version));
        b.text("\" timestamp=\"");
        b.version_time(meta.timestamp);
        b.text("\" changeset=\"");
        b.integer(meta.changeset);
        b.text("\" uid=\"");
        b.integer(meta.uid);
        b.text("\" user=\"");
        escaped(b, meta.user);
        b.text("\"");
    }
    let open = b.bytes.len();
    b.text(">\n");
    let content = b.bytes.len();
    inside(b, item);
    if b.bytes.len() == content && item.shape.is_none() {
        b.bytes.truncate(open);
        b.text("/>\n");
    } else {
        b.text("  </");
        b.text(item.type_name);
        b.text(">\n");
    }
}

impl AnswerWriter for Xml<'_> {
    fn element(&mut self, item: &OutputItem<'_>) -> io::Result<()> {
        self.written += 1;
        render(&mut self.buffer, item);
        self.buffer.settle()
    }

    fn renderer(&self) -> Option<Renderer> {
        Some(Renderer { element: Box::new(render), between: "" })
    }

    fn rendered(&mut self, bytes: &[u8], elements: u64) -> io::Result<()> {
        self.written += elements;
        self.buffer.pass(bytes)
    }

    fn action(&mut self, action: DiffAction) -> io::Result<()> {
        let b = &mut self.buffer;
        match action {
            DiffAction::Begin(what) => {
                b.text("<action type=\"");
                b.text(what);
                b.text("\">\n");
            }
            DiffAction::End => b.text("</action>\n"),
            DiffAction::Old => b.text("<old>\n"),
            DiffAction::EndOld => b.text("</old>\n"),
            DiffAction::New => b.text("<new>\n"),
            DiffAction::EndNew => b.text("</new>\n"),
        }
        Ok(())
    }

    fn count(&mut self, counts: &OutCounts) -> io::Result<()> {
        self.written += 1;
        let b = &mut self.buffer;
        b.text(if counts.with_id { "  <count id=\"0\">\n" } else { "  <count>\n" });
        for (name, value) in [
            ("nodes", Some(counts.nodes)),
            ("ways", Some(counts.ways)),
            ("relations", Some(counts.relations)),
            ("areas", counts.areas),
            ("total", Some(counts.total())),
        ] {
            if let Some(value) = value {
                b.text("    <tag k=\"");
                b.text(name);
                b.text("\" v=\"");
                b.unsigned(value);
                b.text("\"/>\n");
            }
        }
        b.text("  </count>\n");
        b.settle()
    }

    fn remark(&mut self, text: &str) -> io::Result<()> {
        self.remark = Some(text.to_owned());
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        let b = &mut self.buffer;
        if let Some(remark) = self.remark.take() {
            b.text("<remark> ");
            escaped(b, &remark);
            b.text(" </remark>\n");
        }
        b.text("\n</osm>\n");
        b.flush()
    }

    fn written(&self) -> u64 {
        self.written
    }

    fn content_type(&self) -> &'static str {
        "application/osm3s+xml"
    }

    fn started(&self) -> bool {
        self.buffer.started()
    }
}

/// Writes a box as an XML element.
fn write_bounds(b: &mut Buffer<'_>, indent: &str, bounds: &BoundingBox) {
    b.text(indent);
    b.text("<bounds minlat=\"");
    b.degrees(bounds.south);
    b.text("\" minlon=\"");
    b.degrees(bounds.west);
    b.text("\" maxlat=\"");
    b.degrees(bounds.north);
    b.text("\" maxlon=\"");
    b.degrees(bounds.east);
    b.text("\"/>\n");
}

/// Writes the content between an element's start and end tag.
fn inside(b: &mut Buffer<'_>, item: &OutputItem<'_>) {
    if let Some(bounds) = &item.bounds {
        write_bounds(b, "    ", bounds);
    } else if let Some(center) = item.center {
        b.text("    <center lat=\"");
        b.position(center, "\" lon=\"");
        b.text("\"/>\n");
    } else if let Some(geometry) = item.shape {
        shape(b, geometry, 4);
    }
    if let Some(nodes) = item.nodes {
        let geometry = item.geometry.unwrap_or_default();
        for (i, &id) in nodes.iter().enumerate() {
            b.text("    <nd ref=\"");
            b.id(item, id);
            b.text("\"");
            if let Some(&c) = geometry.get(i).filter(|c| !c.is_missing()) {
                attributes(b, c);
            }
            b.text("/>\n");
        }
    }
    for member in item.members.unwrap_or_default() {
        b.text("    <member type=\"");
        b.text(member.kind.name());
        b.text("\" ref=\"");
        b.integer(member.id);
        b.text("\" role=\"");
        escaped(b, member.role);
        b.text("\"");
        match member.geometry {
            MemberGeometry::Point(c) if !c.is_missing() => attributes(b, c),
            MemberGeometry::Line(line) if line.iter().any(|c| !c.is_missing()) => {
                b.text(">\n");
                for &c in line {
                    b.text("      <nd");
                    if !c.is_missing() {
                        attributes(b, c);
                    }
                    b.text("/>\n");
                }
                b.text("    </member>\n");
                continue;
            }
            _ => {}
        }
        b.text("/>\n");
    }
    for (key, value) in item.tags.iter().flat_map(|tags| tags.iter()) {
        b.text("    <tag k=\"");
        escaped(b, key);
        b.text("\" v=\"");
        escaped(b, value);
        b.text("\"/>\n");
    }
}

fn attributes(b: &mut Buffer<'_>, c: Coord) {
    b.text(" lat=\"");
    b.coord(c, "\" lon=\"");
    b.text("\"");
}

fn indent(b: &mut Buffer<'_>, depth: usize) {
    b.bytes.resize(b.bytes.len() + depth, b' ');
}

/// Writes a derived element's geometry, indented by `depth` blanks.
fn shape(b: &mut Buffer<'_>, geometry: &DerivedGeometry, depth: usize) {
    match geometry {
        DerivedGeometry::Point(p) => point(b, "point", p, depth),
        DerivedGeometry::Line(line) => line.iter().for_each(|p| point(b, "vertex", p, depth)),
        DerivedGeometry::Polygon(rings) => {
            for ring in rings {
                indent(b, depth);
                b.text("<linestring>\n");
                ring.iter().for_each(|p| point(b, "vertex", p, depth + 2));
                indent(b, depth);
                b.text("</linestring>\n");
            }
        }
        DerivedGeometry::Collection(parts) => {
            for part in parts {
                indent(b, depth);
                b.text("<group>\n");
                shape(b, part, depth + 2);
                indent(b, depth);
                b.text("</group>\n");
            }
        }
    }
}

fn point(b: &mut Buffer<'_>, name: &str, p: &DegreePosition, depth: usize) {
    indent(b, depth);
    b.text("<");
    b.text(name);
    b.text(" lat=\"");
    b.position(*p, "\" lon=\"");
    b.text("\"/>\n");
}

/// Escapes a text like the reference: characters that XML must escape in an attribute are escaped, and characters that
/// XML does not allow become a question mark.
fn escaped(b: &mut Buffer<'_>, text: &str) {
    let bytes = text.as_bytes();
    // Hardly any text needs an escape. Checking all bytes without branches allows to process several at once.
    if !bytes.iter().fold(false, |found, &byte| found | matches!(byte, b'&' | b'"' | b'<' | b'>' | 0xef | 0..0x20)) {
        return b.text(text);
    }
    let mut done = 0;
    for (i, &byte) in bytes.iter().enumerate() {
        let mut end = i + 1;
        let replacement = match byte {
            b'&' => "&amp;",
            b'"' => "&quot;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'\n' => "&#x0a;",
            b'\t' => "&#x09;",
            b'\r' => "&#x0d;",
            0..0x20 => "?",
            0xef if bytes[i..].starts_with("\u{fffe}".as_bytes()) || bytes[i..].starts_with("\u{ffff}".as_bytes()) => {
                end = i + 3;
                "?"
            }
            _ => continue,
        };
        b.bytes.extend_from_slice(&bytes[done..i]);
        b.text(replacement);
        done = end;
    }
    b.bytes.extend_from_slice(&bytes[done..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// XML 1.0, 2.2: a document may not contain these characters in any form.
    #[test]
    fn characters_that_xml_lacks_are_question_marks() {
        let mut out = Vec::new();
        let mut buffer = Buffer::new(&mut out);
        escaped(&mut buffer, "a\u{1}b\u{fffe}\u{ffff}c\u{fffd}\u{ff0c}<\r>\u{fffe}");
        assert_eq!(String::from_utf8_lossy(&buffer.bytes), "a?b??c\u{fffd}\u{ff0c}&lt;&#x0d;&gt;?");
    }
}
