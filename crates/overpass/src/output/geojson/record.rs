//! The compact form of an element in a GeoJSON answer, kept until all elements have arrived. Long parts are decoded
//! only when needed.

use crate::output::bytes::{
    get_box, get_coord, get_meta, get_position, get_text, put_box, put_coord, put_member, put_meta, put_position,
    put_text, within,
};
use crate::output::{MemberGeometry, OutputItem, OutputMeta, Renderer};
use crate::set::DegreePosition;
use terrapin_base::codec::{self, ByteReader};
use terrapin_osm::{BoundingBox, Coord, ElementType};

use super::shape;

/// The kind of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordKind {
    /// An element of the data.
    Element(ElementType),
    /// A derived element.
    Made,
}

/// The parts of a record, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RecordFields(u16);

impl RecordFields {
    pub(super) const POSITION: RecordFields = RecordFields(1);
    pub(super) const META: RecordFields = RecordFields(1 << 1);
    pub(super) const BOUNDS: RecordFields = RecordFields(1 << 2);
    pub(super) const CENTER: RecordFields = RecordFields(1 << 3);
    pub(super) const TAGS: RecordFields = RecordFields(1 << 4);
    pub(super) const NODES: RecordFields = RecordFields(1 << 5);
    pub(super) const GEOMETRY: RecordFields = RecordFields(1 << 6);
    pub(super) const MEMBERS: RecordFields = RecordFields(1 << 7);
    /// Members with geometry.
    pub(super) const PLACED_MEMBERS: RecordFields = RecordFields(1 << 8);
    pub(super) const SHAPE: RecordFields = RecordFields(1 << 9);

    pub(super) fn has(self, parts: RecordFields) -> bool {
        self.0 & parts.0 == parts.0
    }

    pub(super) fn with(self, parts: RecordFields) -> RecordFields {
        RecordFields(self.0 | parts.0)
    }

    fn of(item: &OutputItem<'_>, shape: &[u8]) -> RecordFields {
        let members = item.members.unwrap_or_default();
        // As in the JSON answer: an empty line is no geometry.
        let placed = members.iter().any(|member| match member.geometry {
            MemberGeometry::None => false,
            MemberGeometry::Point(_) => true,
            MemberGeometry::Line(line) => !line.is_empty(),
        });
        let is_shown = [
            (RecordFields::POSITION, item.position.is_some_and(|c| !c.is_missing())),
            (RecordFields::META, item.meta.is_some()),
            (RecordFields::BOUNDS, item.bounds.is_some()),
            (RecordFields::CENTER, item.center.is_some()),
            (RecordFields::TAGS, item.tags.is_some_and(|tags| !tags.is_empty())),
            (RecordFields::NODES, item.nodes.is_some()),
            (RecordFields::GEOMETRY, item.geometry.is_some()),
            (RecordFields::MEMBERS, item.members.is_some()),
            (RecordFields::PLACED_MEMBERS, placed),
            (RecordFields::SHAPE, !shape.is_empty()),
        ];
        is_shown.into_iter().filter(|(_, shown)| *shown).fold(RecordFields::default(), |all, (part, _)| all.with(part))
    }
}

/// The records of many elements in memory, in pieces, so that they are not copied while the answer grows.
#[derive(Default)]
pub(super) struct GeoJsonRecords(Vec<Vec<u8>>);

/// The size from which a piece is full.
const PIECE: usize = 1 << 20;

impl GeoJsonRecords {
    /// Adds the record of an element.
    pub(super) fn push(&mut self, item: &OutputItem<'_>) {
        if self.0.last().is_none_or(|piece| piece.len() >= PIECE) {
            self.0.push(Vec::new());
        }
        if let Some(piece) = self.0.last_mut() {
            put(piece, item);
        }
    }

    /// Adds records written by [`put`].
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.0.push(bytes.to_vec());
    }

    /// Iterates over all records, in the order in which they were added.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().flat_map(|piece| {
            let mut rest = piece.as_slice();
            std::iter::from_fn(move || {
                let (len, after) = rest.split_first_chunk::<4>()?;
                let (bytes, after) = after.split_at_checked(u32::from_le_bytes(*len) as usize)?;
                rest = after;
                Some(bytes)
            })
        })
    }
}

/// Returns the renderer that stores elements as records.
pub(super) fn renderer() -> Renderer {
    Renderer { element: Box::new(|buffer, item| put(&mut buffer.bytes, item)), between: "" }
}

/// Appends the record of an element. Areas get no record, because they have no geometry of their own.
pub(super) fn put(out: &mut Vec<u8>, item: &OutputItem<'_>) {
    let kind = match item.type_name {
        "node" => 0,
        "way" => 1,
        "relation" => 2,
        "area" => return,
        _ => 3,
    };
    let mut shape = Vec::new();
    if kind == 3 {
        shape::made(&mut shape, item);
    }
    let parts = RecordFields::of(item, &shape);
    within(out, |out| {
        out.push(kind);
        codec::put_signed(out, item.id.unwrap_or_default());
        out.extend_from_slice(&parts.0.to_le_bytes());
        if kind == 3 {
            put_text(out, item.type_name);
        }
        if let Some(c) = item.position.filter(|_| parts.has(RecordFields::POSITION)) {
            put_coord(out, c);
        }
        if let Some(meta) = &item.meta {
            put_meta(out, meta);
        }
        if let Some(bounds) = &item.bounds {
            put_box(out, bounds);
        }
        if let Some(center) = item.center {
            put_position(out, center);
        }
        if let Some(tags) = item.tags.filter(|_| parts.has(RecordFields::TAGS)) {
            within(out, |out| tags.iter().flat_map(|(key, value)| [key, value]).for_each(|part| put_text(out, part)));
        }
        if let Some(nodes) = item.nodes {
            let mut previous = 0;
            within(out, |out| nodes.iter().for_each(|&id| codec::put_delta(out, &mut previous, id)));
        }
        if let Some(line) = item.geometry {
            put_line(out, line);
        }
        if let Some(members) = item.members {
            within(out, |out| members.iter().for_each(|member| put_member(out, member, put_line)));
        }
        if parts.has(RecordFields::SHAPE) {
            within(out, |out| out.extend_from_slice(&shape));
        }
    });
}

fn put_line(out: &mut Vec<u8>, line: &[Coord]) {
    let (mut lat, mut lon) = (0, 0);
    within(out, |out| {
        for c in line {
            codec::put_delta(out, &mut lat, i64::from(c.lat));
            codec::put_delta(out, &mut lon, i64::from(c.lon));
        }
    });
}

/// The record of an element. Lists stay encoded until they are read.
#[derive(Clone, Copy)]
pub(super) struct GeoJsonRecord<'r> {
    pub(super) kind: RecordKind,
    pub(super) id: i64,
    pub(super) parts: RecordFields,
    /// The type name that a query gave.
    pub(super) type_name: &'r str,
    pub(super) position: Option<Coord>,
    pub(super) meta: Option<OutputMeta<'r>>,
    pub(super) bounds: Option<BoundingBox>,
    pub(super) center: Option<DegreePosition>,
    pub(super) tags: RecordTags<'r>,
    pub(super) nodes: Option<RecordIds<'r>>,
    pub(super) geometry: Option<RecordLine<'r>>,
    pub(super) members: Option<RecordMembers<'r>>,
    /// A printed geometry.
    pub(super) shape: Option<&'r [u8]>,
}

impl<'r> GeoJsonRecord<'r> {
    /// Reads a record written by [`put`].
    pub(super) fn of(bytes: &'r [u8]) -> GeoJsonRecord<'r> {
        let nothing = GeoJsonRecord {
            kind: RecordKind::Made,
            id: 0,
            parts: RecordFields::default(),
            type_name: "",
            position: None,
            meta: None,
            bounds: None,
            center: None,
            tags: RecordTags::default(),
            nodes: None,
            geometry: None,
            members: None,
            shape: None,
        };
        GeoJsonRecord::read(bytes).unwrap_or(nothing)
    }

    fn read(bytes: &'r [u8]) -> Option<GeoJsonRecord<'r>> {
        let mut from = ByteReader::new(bytes);
        let kind = match from.take(1)?[0] {
            3 => RecordKind::Made,
            kind => RecordKind::Element(*ElementType::ALL.get(usize::from(kind))?),
        };
        let id = from.get_signed()?;
        let parts = RecordFields(u16::from_le_bytes(from.take(2)?.try_into().ok()?));
        let type_name = match kind {
            RecordKind::Element(kind) => kind.name(),
            RecordKind::Made => get_text(&mut from)?,
        };
        let position = if parts.has(RecordFields::POSITION) { Some(get_coord(&mut from)?) } else { None };
        let meta = if parts.has(RecordFields::META) { Some(get_meta(&mut from)?) } else { None };
        let bounds = if parts.has(RecordFields::BOUNDS) { Some(get_box(&mut from)?) } else { None };
        let center = if parts.has(RecordFields::CENTER) { Some(get_position(&mut from)?) } else { None };
        let mut list = |part| if parts.has(part) { get_list(&mut from).map(Some) } else { Some(None) };
        let tags = RecordTags(list(RecordFields::TAGS)?.unwrap_or_default());
        let nodes = list(RecordFields::NODES)?.map(RecordIds);
        let geometry = list(RecordFields::GEOMETRY)?.map(RecordLine);
        let members = list(RecordFields::MEMBERS)?.map(RecordMembers);
        let shape = list(RecordFields::SHAPE)?;
        Some(GeoJsonRecord {
            kind,
            id,
            parts,
            type_name,
            position,
            meta,
            bounds,
            center,
            tags,
            nodes,
            geometry,
            members,
            shape,
        })
    }

    /// Merges this record into an earlier one of the same element. The parts of the earlier record take precedence,
    /// except that members with geometry replace members without.
    pub(super) fn under(self, earlier: GeoJsonRecord<'r>) -> GeoJsonRecord<'r> {
        let with_places = |record: &GeoJsonRecord<'r>| record.parts.has(RecordFields::PLACED_MEMBERS);
        GeoJsonRecord {
            parts: earlier.parts.with(self.parts),
            position: earlier.position.or(self.position),
            meta: earlier.meta.or(self.meta),
            bounds: earlier.bounds.or(self.bounds),
            center: earlier.center.or(self.center),
            tags: if earlier.tags.0.is_empty() { self.tags } else { earlier.tags },
            nodes: earlier.nodes.or(self.nodes),
            geometry: earlier.geometry.or(self.geometry),
            members: if with_places(&self) && !with_places(&earlier) {
                self.members
            } else {
                earlier.members.or(self.members)
            },
            ..earlier
        }
    }
}

fn get_list<'r>(from: &mut ByteReader<'r>) -> Option<&'r [u8]> {
    let len = u32::from_le_bytes(from.take(4)?.try_into().ok()?);
    from.take(len as usize)
}

/// The tags of an element.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RecordTags<'r>(&'r [u8]);

impl<'r> RecordTags<'r> {
    /// Returns whether the list is empty.
    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over keys and values.
    pub(super) fn iter(self) -> impl Iterator<Item = (&'r str, &'r str)> {
        let mut from = ByteReader::new(self.0);
        std::iter::from_fn(move || Some((get_text(&mut from)?, get_text(&mut from)?)))
    }

    /// Returns the value of a key.
    pub(super) fn get(self, key: &str) -> Option<&'r str> {
        self.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }
}

/// The ids of a way's nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordIds<'r>(&'r [u8]);

impl<'r> RecordIds<'r> {
    pub(super) fn iter(self) -> impl Iterator<Item = i64> + 'r {
        let (mut from, mut previous) = (ByteReader::new(self.0), 0);
        std::iter::from_fn(move || from.get_delta(&mut previous))
    }
}

/// The positions of a way's nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordLine<'r>(&'r [u8]);

impl<'r> RecordLine<'r> {
    /// Iterates over the positions; `None` for unknown ones.
    pub(super) fn iter(self) -> impl Iterator<Item = Option<Coord>> + 'r {
        let (mut from, mut lat, mut lon) = (ByteReader::new(self.0), 0, 0);
        std::iter::from_fn(move || {
            let c = Coord { lat: from.get_delta(&mut lat)? as i32, lon: from.get_delta(&mut lon)? as i32 };
            Some((!c.is_missing()).then_some(c))
        })
    }
}

/// A member of a relation.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordMember<'r> {
    pub(super) kind: ElementType,
    pub(super) id: i64,
    pub(super) role: &'r str,
    /// A node's position.
    pub(super) point: Option<Coord>,
    /// A way's line.
    pub(super) line: Option<RecordLine<'r>>,
}

/// The members of a relation.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordMembers<'r>(&'r [u8]);

impl<'r> RecordMembers<'r> {
    pub(super) fn iter(self) -> impl Iterator<Item = RecordMember<'r>> {
        let mut from = ByteReader::new(self.0);
        std::iter::from_fn(move || {
            let kind = *ElementType::ALL.get(usize::from(from.take(1)?[0]))?;
            let (id, role) = (from.get_signed()?, get_text(&mut from)?);
            let (mut point, mut line) = (None, None);
            match from.take(1)?[0] {
                1 => point = Some(get_coord(&mut from)?),
                2 => line = Some(RecordLine(get_list(&mut from)?)),
                _ => {}
            }
            Some(RecordMember { kind, id, role, point, line })
        })
    }
}
