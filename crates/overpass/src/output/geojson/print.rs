//! Writes a feature.

use std::io::Write;
use std::ops::Range;

use super::record::RecordTags;
use super::shape::{FeatureGeometry, list};
use crate::output::{ItemSource, OutputMeta, json};
use crate::timestamp;
use terrapin_osm::ElementType;

/// A feature: an element with its geometry, in the layout of osmtogeojson.
pub(crate) struct GeoJsonFeature<'a> {
    /// `node`, `way`, `relation`, or the type name that a query gave.
    pub(super) type_name: &'a str,
    pub(super) id: i64,
    pub(super) tags: RecordTags<'a>,
    pub(super) meta: Option<OutputMeta<'a>>,
    /// The memberships of the element in relations of the answer.
    pub(super) relations: &'a [RelationMembership<'a>],
    pub(super) shape: FeatureGeometry<'a>,
    /// Whether parts of the geometry are missing in the answer.
    pub(super) tainted: bool,
}

/// The membership of an element in a relation.
#[derive(Clone, Copy)]
pub(super) struct RelationMembership<'r> {
    /// The member.
    pub(super) of: (ElementType, i64),
    /// The relation.
    pub(super) relation: i64,
    pub(super) tags: RecordTags<'r>,
    pub(super) role: &'r str,
}

/// The key in `properties` for the linked Wikidata item.
const ITEM: &[u8] = b",\"wikidata_item\":";

impl GeoJsonFeature<'_> {
    /// Appends the feature. If a source of items is given, also appends the linked item. Returns the range of the geometry
    /// in `out`.
    pub(super) fn write(&self, items: Option<&dyn ItemSource>, out: &mut Vec<u8>) -> Range<usize> {
        out.extend_from_slice(b"{\"type\":\"Feature\",\"id\":\"");
        json::escape(out, self.type_name);
        out.push(b'/');
        number(out, self.id);
        out.extend_from_slice(b"\",\"properties\":{\"type\":");
        quoted(out, self.type_name);
        out.extend_from_slice(b",\"id\":");
        number(out, self.id);
        out.extend_from_slice(b",\"tags\":");
        tags(out, self.tags);
        out.extend_from_slice(b",\"relations\":");
        list(out, self.relations, |out, membership| {
            out.extend_from_slice(b"{\"role\":");
            quoted(out, membership.role);
            out.extend_from_slice(b",\"rel\":");
            number(out, membership.relation);
            if !membership.tags.is_empty() {
                out.extend_from_slice(b",\"reltags\":");
                tags(out, membership.tags);
            }
            out.push(b'}');
        });
        out.extend_from_slice(b",\"meta\":{");
        if let Some(known) = &self.meta {
            meta(out, known);
        }
        out.push(b'}');
        if self.tainted {
            out.extend_from_slice(b",\"tainted\":true");
        }
        match self.shape {
            FeatureGeometry::Center(_) => out.extend_from_slice(b",\"geometry\":\"center\""),
            FeatureGeometry::Bounds(_) => out.extend_from_slice(b",\"geometry\":\"bounds\""),
            _ => {}
        }
        if let Some((items, tag)) = items.zip(self.tags.get("wikidata")) {
            let before = out.len();
            out.extend_from_slice(ITEM);
            if !items.put_item(tag, out) {
                out.truncate(before);
            }
        }
        out.extend_from_slice(b"},\"geometry\":");
        let start = out.len();
        self.shape.write(out);
        let geometry = start..out.len();
        out.push(b'}');
        geometry
    }
}

fn tags(out: &mut Vec<u8>, tags: RecordTags<'_>) {
    out.push(b'{');
    for (at, (key, value)) in tags.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        quoted(out, key);
        out.push(b':');
        quoted(out, value);
    }
    out.push(b'}');
}

fn meta(out: &mut Vec<u8>, meta: &OutputMeta<'_>) {
    out.extend_from_slice(b"\"timestamp\":\"");
    timestamp::push_version_time(out, meta.timestamp);
    out.extend_from_slice(b"\",\"version\":");
    number(out, meta.version.into());
    out.extend_from_slice(b",\"changeset\":");
    number(out, meta.changeset);
    out.extend_from_slice(b",\"user\":");
    quoted(out, meta.user);
    out.extend_from_slice(b",\"uid\":");
    number(out, meta.uid);
}

/// Appends a JSON string with its quotation marks.
pub(super) fn quoted(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    json::escape(out, text);
    out.push(b'"');
}

// Appends a number. Writing into memory does not fail.
fn number(out: &mut Vec<u8>, number: i64) {
    let _ = write!(out, "{number}");
}
