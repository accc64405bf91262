//! The compact form of an element in a GeoJSON answer, kept until all elements have arrived. Long parts are decoded
//! only when needed.

use crate::output::bytes::{get_coord, get_text, put_coord, put_text, within};
use crate::output::{MemberGeometry, Meta, OutputItem};
use crate::set::Position;
use terrapin_base::codec::{self, Reader};
use terrapin_osm::{BoundingBox, Coord, ElementType};

use super::shape;

/// The kind of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An element of the data.
    Element(ElementType),
    /// A derived element.
    Made,
}

/// The parts of a record, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Parts(u16);

impl Parts {
    pub(super) const POSITION: Parts = Parts(1);
    pub(super) const META: Parts = Parts(1 << 1);
    pub(super) const BOUNDS: Parts = Parts(1 << 2);
    pub(super) const CENTER: Parts = Parts(1 << 3);
    pub(super) const TAGS: Parts = Parts(1 << 4);
    pub(super) const NODES: Parts = Parts(1 << 5);
    pub(super) const GEOMETRY: Parts = Parts(1 << 6);
    pub(super) const MEMBERS: Parts = Parts(1 << 7);
    /// Members with geometry.
    pub(super) const PLACED_MEMBERS: Parts = Parts(1 << 8);
    pub(super) const SHAPE: Parts = Parts(1 << 9);

    pub(super) fn has(self, parts: Parts) -> bool {
        self.0 & parts.0 == parts.0
    }

    pub(super) fn with(self, parts: Parts) -> Parts {
        Parts(self.0 | parts.0)
    }

    fn of(item: &OutputItem<'_>, shape: &[u8]) -> Parts {
        let members = item.members.unwrap_or_default();
        // As in the JSON answer: an empty line is no geometry.
        let placed = members.iter().any(|member| match member.geometry {
            MemberGeometry::None => false,
            MemberGeometry::Point(_) => true,
            MemberGeometry::Line(line) => !line.is_empty(),
        });
        let is_shown = [
            (Parts::POSITION, item.position.is_some_and(|c| !c.is_missing())),
            (Parts::META, item.meta.is_some()),
            (Parts::BOUNDS, item.bounds.is_some()),
            (Parts::CENTER, item.center.is_some()),
            (Parts::TAGS, item.tags.is_some_and(|tags| !tags.is_empty())),
            (Parts::NODES, item.nodes.is_some()),
            (Parts::GEOMETRY, item.geometry.is_some()),
            (Parts::MEMBERS, item.members.is_some()),
            (Parts::PLACED_MEMBERS, placed),
            (Parts::SHAPE, !shape.is_empty()),
        ];
        is_shown.into_iter().filter(|(_, shown)| *shown).fold(Parts::default(), |all, (part, _)| all.with(part))
    }
}

/// The records of many elements in memory, in pieces, so that they are not copied while the answer grows.
#[derive(Default)]
pub(super) struct Records(Vec<Vec<u8>>);

/// The size from which a piece is full.
const PIECE: usize = 1 << 20;

impl Records {
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
    let parts = Parts::of(item, &shape);
    within(out, |out| {
        out.push(kind);
        codec::put_signed(out, item.id.unwrap_or_default());
        out.extend_from_slice(&parts.0.to_le_bytes());
        if kind == 3 {
            put_text(out, item.type_name);
        }
        if let Some(c) = item.position.filter(|_| parts.has(Parts::POSITION)) {
            put_coord(out, c);
        }
        if let Some(meta) = &item.meta {
            codec::put(out, u64::from(meta.version));
            [meta.timestamp, meta.changeset, meta.uid].into_iter().for_each(|number| codec::put_signed(out, number));
            put_text(out, meta.user);
        }
        if let Some(bounds) = &item.bounds {
            put_coord(out, Coord { lat: bounds.south, lon: bounds.west });
            put_coord(out, Coord { lat: bounds.north, lon: bounds.east });
        }
        if let Some(center) = item.center {
            out.extend_from_slice(&center.lat.to_le_bytes());
            out.extend_from_slice(&center.lon.to_le_bytes());
        }
        if let Some(tags) = item.tags.filter(|_| parts.has(Parts::TAGS)) {
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
            within(out, |out| {
                for member in members {
                    out.push(member.kind as u8);
                    codec::put_signed(out, member.id);
                    put_text(out, member.role);
                    match member.geometry {
                        MemberGeometry::None => out.push(0),
                        MemberGeometry::Point(c) => {
                            out.push(1);
                            put_coord(out, c);
                        }
                        MemberGeometry::Line(line) => {
                            out.push(2);
                            put_line(out, line);
                        }
                    }
                }
            });
        }
        if parts.has(Parts::SHAPE) {
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
pub(super) struct Record<'r> {
    pub(super) kind: Kind,
    pub(super) id: i64,
    pub(super) parts: Parts,
    /// The type name that a query gave.
    pub(super) type_name: &'r str,
    pub(super) position: Option<Coord>,
    pub(super) meta: Option<Meta<'r>>,
    pub(super) bounds: Option<BoundingBox>,
    pub(super) center: Option<Position>,
    pub(super) tags: Tags<'r>,
    pub(super) nodes: Option<Ids<'r>>,
    pub(super) geometry: Option<Line<'r>>,
    pub(super) members: Option<Members<'r>>,
    /// A printed geometry.
    pub(super) shape: Option<&'r [u8]>,
}

impl<'r> Record<'r> {
    /// Reads a record written by [`put`].
    pub(super) fn of(bytes: &'r [u8]) -> Record<'r> {
        let nothing = Record {
            kind: Kind::Made,
            id: 0,
            parts: Parts::default(),
            type_name: "",
            position: None,
            meta: None,
            bounds: None,
            center: None,
            tags: Tags::default(),
            nodes: None,
            geometry: None,
            members: None,
            shape: None,
        };
        Record::read(bytes).unwrap_or(nothing)
    }

    fn read(bytes: &'r [u8]) -> Option<Record<'r>> {
        let mut from = Reader::new(bytes);
        let kind = match from.take(1)?[0] {
            3 => Kind::Made,
            kind => Kind::Element(*ElementType::ALL.get(usize::from(kind))?),
        };
        let id = from.get_signed()?;
        let parts = Parts(u16::from_le_bytes(from.take(2)?.try_into().ok()?));
        let type_name = match kind {
            Kind::Element(kind) => kind.name(),
            Kind::Made => get_text(&mut from)?,
        };
        let position = if parts.has(Parts::POSITION) { Some(get_coord(&mut from)?) } else { None };
        let meta = if parts.has(Parts::META) {
            Some(Meta {
                version: u32::try_from(from.get()?).ok()?,
                timestamp: from.get_signed()?,
                changeset: from.get_signed()?,
                uid: from.get_signed()?,
                user: get_text(&mut from)?,
            })
        } else {
            None
        };
        let bounds = if parts.has(Parts::BOUNDS) {
            let (low, high) = (get_coord(&mut from)?, get_coord(&mut from)?);
            Some(BoundingBox { south: low.lat, west: low.lon, north: high.lat, east: high.lon })
        } else {
            None
        };
        let center = if parts.has(Parts::CENTER) {
            let mut degrees = || Some(f64::from_le_bytes(from.take(8)?.try_into().ok()?));
            Some(Position { lat: degrees()?, lon: degrees()? })
        } else {
            None
        };
        let mut list = |part| if parts.has(part) { get_list(&mut from).map(Some) } else { Some(None) };
        let tags = Tags(list(Parts::TAGS)?.unwrap_or_default());
        let nodes = list(Parts::NODES)?.map(Ids);
        let geometry = list(Parts::GEOMETRY)?.map(Line);
        let members = list(Parts::MEMBERS)?.map(Members);
        let shape = list(Parts::SHAPE)?;
        Some(Record {
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
    pub(super) fn under(self, earlier: Record<'r>) -> Record<'r> {
        let with_places = |record: &Record<'r>| record.parts.has(Parts::PLACED_MEMBERS);
        Record {
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

fn get_list<'r>(from: &mut Reader<'r>) -> Option<&'r [u8]> {
    let len = u32::from_le_bytes(from.take(4)?.try_into().ok()?);
    from.take(len as usize)
}

/// The tags of an element.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tags<'r>(&'r [u8]);

impl<'r> Tags<'r> {
    /// Returns whether the list is empty.
    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over keys and values.
    pub(super) fn iter(self) -> impl Iterator<Item = (&'r str, &'r str)> {
        let mut from = Reader::new(self.0);
        std::iter::from_fn(move || Some((get_text(&mut from)?, get_text(&mut from)?)))
    }

    /// Returns the value of a key.
    pub(super) fn get(self, key: &str) -> Option<&'r str> {
        self.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }
}

/// The ids of a way's nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ids<'r>(&'r [u8]);

impl<'r> Ids<'r> {
    pub(super) fn iter(self) -> impl Iterator<Item = i64> + 'r {
        let (mut from, mut previous) = (Reader::new(self.0), 0);
        std::iter::from_fn(move || from.get_delta(&mut previous))
    }
}

/// The positions of a way's nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'r>(&'r [u8]);

impl<'r> Line<'r> {
    /// Iterates over the positions; `None` for unknown ones.
    pub(super) fn iter(self) -> impl Iterator<Item = Option<Coord>> + 'r {
        let (mut from, mut lat, mut lon) = (Reader::new(self.0), 0, 0);
        std::iter::from_fn(move || {
            let c = Coord { lat: from.get_delta(&mut lat)? as i32, lon: from.get_delta(&mut lon)? as i32 };
            Some((!c.is_missing()).then_some(c))
        })
    }
}

/// A member of a relation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member<'r> {
    pub(super) kind: ElementType,
    pub(super) id: i64,
    pub(super) role: &'r str,
    /// A node's position.
    pub(super) point: Option<Coord>,
    /// A way's line.
    pub(super) line: Option<Line<'r>>,
}

/// The members of a relation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Members<'r>(&'r [u8]);

impl<'r> Members<'r> {
    pub(super) fn iter(self) -> impl Iterator<Item = Member<'r>> {
        let mut from = Reader::new(self.0);
        std::iter::from_fn(move || {
            let kind = *ElementType::ALL.get(usize::from(from.take(1)?[0]))?;
            let (id, role) = (from.get_signed()?, get_text(&mut from)?);
            let (mut point, mut line) = (None, None);
            match from.take(1)?[0] {
                1 => point = Some(get_coord(&mut from)?),
                2 => line = Some(Line(get_list(&mut from)?)),
                _ => {}
            }
            Some(Member { kind, id, role, point, line })
        })
    }
}
