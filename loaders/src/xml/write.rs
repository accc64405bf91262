//! Writes OSM XML: the start of a document, its elements, and its end. Elements are independent of each other, so that
//! parts of a document can be written in parallel.

use std::fmt::Write;

use terrapin_calendar::civil_from_days;

use crate::element::{NO_COORDINATE, SourceElement, SourceElementType, SourceHeader, SourceMeta};

/// Returns the start of a document.
pub fn header(header: &SourceHeader) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<osm version=\"0.6\"");
    if let Some(program) = &header.writing_program {
        attribute(&mut out, "generator", program);
    }
    out.push_str(">\n");
    if let Some(time) = header.replication_timestamp {
        out.push_str("  <meta osm_base=\"");
        put_time(&mut out, time);
        out.push_str("\"/>\n");
    }
    if let Some([south, west, north, east]) = header.bbox {
        out.push_str("  <bounds");
        for (name, degrees) in [("minlat", south), ("minlon", west), ("maxlat", north), ("maxlon", east)] {
            put_degrees(&mut out, name, degrees);
        }
        out.push_str("/>\n");
    }
    out
}

/// The end of a document.
pub const END: &str = "</osm>\n";

/// Appends an element. Locations of way nodes are not written. Returns `None` if a text has a character that XML cannot
/// represent, not even escaped; `out` is then unusable.
pub fn element(out: &mut String, element: &SourceElement<'_>) -> Option<()> {
    let (name, id, tags, meta) = match element {
        SourceElement::Node(node) => ("node", node.id, node.tags, node.meta),
        SourceElement::Way(way) => ("way", way.id, way.tags, way.meta),
        SourceElement::Relation(relation) => ("relation", relation.id, relation.tags, relation.meta),
    };
    let begin = out.len();
    put(out, format_args!("  <{name} id=\"{id}\""));
    put_meta(out, meta.as_ref());
    if let SourceElement::Node(node) = element
        && node.lat != NO_COORDINATE
    {
        put_degrees(out, "lat", node.lat);
        put_degrees(out, "lon", node.lon);
    }
    let open = out.len();
    out.push_str(">\n");
    match element {
        SourceElement::Node(_) => {}
        SourceElement::Way(way) => way.refs.iter().for_each(|id| put(out, format_args!("    <nd ref=\"{id}\"/>\n"))),
        SourceElement::Relation(relation) => {
            for member in relation.members {
                let kind = type_name(member.kind);
                put(out, format_args!("    <member type=\"{kind}\" ref=\"{}\"", member.id));
                attribute(out, "role", member.role);
                out.push_str("/>\n");
            }
        }
    }
    for (key, value) in tags {
        out.push_str("    <tag");
        attribute(out, "k", key);
        attribute(out, "v", value);
        out.push_str("/>\n");
    }
    if out.len() == open + 2 {
        out.truncate(open);
        out.push_str("/>\n");
    } else {
        put(out, format_args!("  </{name}>\n"));
    }
    (!out[begin..].contains(is_outside)).then_some(())
}

fn type_name(kind: SourceElementType) -> &'static str {
    match kind {
        SourceElementType::Node => "node",
        SourceElementType::Way => "way",
        SourceElementType::Relation => "relation",
    }
}

/// Returns whether XML 1.0 cannot represent a character. Line breaks and tabs in texts are escaped.
fn is_outside(char: char) -> bool {
    matches!(char, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// Appends formatted text. Writing to a string cannot fail.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// Appends the metadata of an element.
fn put_meta(out: &mut String, meta: Option<&SourceMeta<'_>>) {
    let Some(meta) = meta else { return };
    if meta.version != 0 {
        put(out, format_args!(" version=\"{}\"", meta.version));
    }
    if meta.timestamp != 0 {
        out.push_str(" timestamp=\"");
        put_time(out, meta.timestamp);
        out.push('"');
    }
    if meta.changeset != 0 {
        put(out, format_args!(" changeset=\"{}\"", meta.changeset));
    }
    if meta.uid != 0 {
        put(out, format_args!(" uid=\"{}\"", meta.uid));
    }
    if !meta.user.is_empty() {
        attribute(out, "user", meta.user);
    }
    if !meta.visible {
        out.push_str(" visible=\"false\"");
    }
}

/// Appends degrees as a decimal number, without floating-point arithmetic and without trailing zeros.
fn put_degrees(out: &mut String, name: &str, degrees: i32) {
    let sign = if degrees < 0 { "-" } else { "" };
    let (whole, part) = (degrees.unsigned_abs() / 10_000_000, degrees.unsigned_abs() % 10_000_000);
    put(out, format_args!(" {name}=\"{sign}{whole}.{part:07}"));
    let end = out.trim_end_matches('0').trim_end_matches('.').len();
    // The decimal point protects the zeros of whole degrees.
    out.truncate(end);
    out.push('"');
}

/// Appends a time, in seconds since 1970.
pub(crate) fn put_time(out: &mut String, seconds: i64) {
    let (year, month, day) = civil_from_days(seconds.div_euclid(86_400));
    let second = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    put(out, format_args!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"));
}

/// Appends an attribute. Line breaks and tabs are escaped, because readers otherwise turn them into spaces.
fn attribute(out: &mut String, name: &str, value: &str) {
    put(out, format_args!(" {name}=\""));
    let mut rest = value;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\n', '\r', '\t']) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        out.push_str(match behind.as_bytes()[0] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\n' => "&#xA;",
            b'\r' => "&#xD;",
            _ => "&#x9;",
        });
        rest = &behind[1..];
    }
    out.push_str(rest);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{SourceMember, SourceNode, SourceRelation, Way};

    fn written(elements: &[SourceElement<'_>]) -> Option<String> {
        let bbox = Some([-10_000_001, 0, 10, 1_800_000_000]);
        let about = SourceHeader {
            bbox,
            replication_timestamp: Some(951_868_800),
            writing_program: Some("a \"b\"".into()),
            ..SourceHeader::default()
        };
        let mut out = header(&about);
        elements.iter().try_for_each(|e| element(&mut out, e))?;
        out.push_str(END);
        Some(out)
    }

    #[test]
    fn what_is_written_is_read() {
        let meta = SourceMeta { version: 3, timestamp: 1, changeset: 7, uid: 5, user: "a\tb", visible: true };
        let tags = [("name", "<\"&'\r\n>"), ("note", "ünï 🐢"), ("", "")];
        let members = [SourceMember { kind: SourceElementType::Relation, id: -4, role: "" }];
        let elements = [
            SourceElement::Node(SourceNode { id: -1, lat: -1, lon: 1_800_000_000, tags: &tags, meta: Some(meta) }),
            SourceElement::Node(SourceNode { id: 2, lat: 0, lon: 100_000_000, tags: &[], meta: None }),
            SourceElement::Way(Way { id: 3, refs: &[5, -6], locations: None, tags: &tags[..1], meta: None }),
            SourceElement::Relation(SourceRelation { id: 4, members: &members, tags: &[], meta: Some(meta) }),
        ];
        let text = written(&elements).unwrap();
        let path: std::sync::Arc<std::path::Path> = std::path::Path::new("written").into();
        let mut parser = super::super::parse::XmlParser::new(text.as_bytes(), path);
        let chunk = parser.next().unwrap().unwrap();
        let mut read = 0;
        chunk.for_each(|element| {
            assert_eq!(format!("{element:?}"), format!("{:?}", elements[read]));
            read += 1;
        });
        assert_eq!(read, elements.len());
        let about = parser.header();
        assert_eq!(about.bbox, Some([-10_000_001, 0, 10, 1_800_000_000]));
        assert_eq!(about.replication_timestamp, Some(951_868_800));
        assert_eq!(about.writing_program.as_deref(), Some("a \"b\""));
        assert!(text.contains("lat=\"-0.0000001\" lon=\"180\"") && text.contains("lat=\"0\" lon=\"10\""), "{text}");
    }

    #[test]
    fn what_xml_cannot_hold_is_told() {
        let tags = [("name", "a\u{1}b")];
        assert_eq!(
            written(&[SourceElement::Way(Way { id: 3, refs: &[], locations: None, tags: &tags, meta: None })]),
            None
        );
    }
}
