//! Records an answer in compact form, to read its elements one by one or to write it in any format later.

use std::io;

use super::bytes::{
    get_box, get_coord, get_meta, get_position, get_text, put_box, put_coord, put_member, put_meta, put_position,
    put_text, within,
};
use super::item::{ItemTags, MemberGeometry, MemberItem, OutCounts, OutputItem};
use super::{
    AnswerFormat, AnswerWriter, DiffAction, MapFeatureSink, MapFeatureWriter, OutputHeader, Projection, Renderer,
};
use crate::OverpassFailure;
use crate::set::{DegreePosition, DerivedGeometry};
use crate::syntax::OutputFormat;
use terrapin_base::codec::{self, ByteReader};
use terrapin_budget as budget;
use terrapin_osm::{Coord, ElementType};

/// The size from which a piece of memory is full. Because of the pieces, no bytes are copied while an answer grows.
const PIECE: usize = 1 << 20;

/// A recorded answer.
#[derive(Debug, Clone)]
pub struct Recording {
    header: OutputHeader,
    format: OutputFormat,
    /// The entries one after another, each with its length before it. No entry spans two pieces.
    pieces: Vec<Vec<u8>>,
    written: u64,
}

/// An entry of an answer.
#[derive(Debug, Clone, Copy)]
pub enum RecordingEntry<'a> {
    /// An element.
    Element(&'a OutputItem<'a>),
    /// The result of `out count`.
    Count(OutCounts),
    /// A marker around elements in the answer to a query with two moments.
    Action(DiffAction),
}

/// A position between two entries of a recording.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordingCursor {
    piece: usize,
    at: usize,
}

impl Recording {
    /// Creates an empty recording for a query with this output format.
    pub(crate) fn new(header: OutputHeader, format: OutputFormat) -> Recording {
        Recording { header, format, pieces: Vec::new(), written: 0 }
    }

    /// Returns the query's format.
    pub fn format(&self) -> &OutputFormat {
        &self.format
    }

    /// Returns the metadata at the head of the answer.
    pub fn header(&self) -> OutputHeader {
        self.header
    }

    /// Returns the number of elements and counts.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(Vec::capacity).sum()
    }

    /// Returns the start of each piece, to read several pieces in parallel. Each contains some thousand elements.
    pub fn pieces(&self) -> impl Iterator<Item = RecordingCursor> + use<> {
        (0..self.pieces.len()).map(|piece| RecordingCursor { piece, at: 0 })
    }

    /// Passes the entry at the cursor to `look` and advances the cursor. Returns `None` at the end.
    pub fn next<T>(
        &self,
        cursor: &mut RecordingCursor,
        scratch: &mut RecordingScratch,
        look: impl FnOnce(RecordingEntry<'_>) -> T,
    ) -> Option<T> {
        loop {
            let piece = self.pieces.get(cursor.piece)?;
            let rest = piece.get(cursor.at..).unwrap_or_default();
            let Some((len, rest)) = rest.split_first_chunk::<4>() else {
                *cursor = RecordingCursor { piece: cursor.piece + 1, at: 0 };
                continue;
            };
            let len = u32::from_le_bytes(*len) as usize;
            cursor.at += 4 + len;
            // Every entry was written by this file.
            return get(rest.get(..len)?, scratch, look);
        }
    }

    /// Passes all entries from the cursor to the end of its piece to `look`.
    ///
    /// # Errors
    /// Returns the first error that `look` returns.
    pub fn each<E>(
        &self,
        mut cursor: RecordingCursor,
        mut look: impl FnMut(RecordingEntry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (piece, mut scratch) = (cursor.piece, RecordingScratch::default());
        loop {
            let is_last = self.pieces.get(piece).is_none_or(|bytes| cursor.at >= bytes.len());
            if is_last || cursor.piece != piece {
                return Ok(());
            }
            budget::checkpoints(16);
            self.next(&mut cursor, &mut scratch, &mut look).transpose()?;
        }
    }

    /// Writes up to `most` entries from the cursor on and advances the cursor. The caller must finish the answer.
    ///
    /// # Errors
    /// Returns an error if the answer cannot be written, or if its format has no place for an entry.
    pub fn replay(&self, cursor: &mut RecordingCursor, most: u64, answer: &mut dyn AnswerWriter) -> io::Result<()> {
        let mut scratch = RecordingScratch::default();
        for _ in 0..most {
            budget::checkpoints(16);
            let written = self.next(cursor, &mut scratch, |entry| match entry {
                RecordingEntry::Element(item) => answer.element(item),
                RecordingEntry::Count(counts) => answer.count(&counts),
                RecordingEntry::Action(action) => answer.action(action),
            });
            match written {
                Some(written) => written?,
                None => break,
            }
        }
        Ok(())
    }

    /// Writes up to `most` entries from the cursor on as a whole answer in a format, and advances the cursor.
    ///
    /// # Errors
    /// Returns an error if the answer cannot be written, or if its format has no place for an entry.
    pub fn write(
        &self,
        format: AnswerFormat<'_>,
        cursor: &mut RecordingCursor,
        most: u64,
        out: &mut dyn io::Write,
    ) -> Result<(), OverpassFailure> {
        let mut answer = super::answer(format, self.header, out)?;
        let replayed = self.replay(cursor, most, answer.as_mut());
        replayed.and_then(|()| answer.complete()).and_then(|()| answer.finish()).map_err(super::disconnected)
    }

    /// Converts the answer to GeoJSON and passes its features to `sink`.
    ///
    /// # Errors
    /// Returns an error if the answer reports changes, which cannot be converted, or the first error of the sink.
    pub fn features(&self, sink: &mut dyn MapFeatureSink) -> Result<(), OverpassFailure> {
        let mut answer = MapFeatureWriter::new(None, sink);
        let replayed = self.replay(&mut RecordingCursor::default(), u64::MAX, &mut answer);
        replayed.and_then(|()| answer.complete()).map_err(super::disconnected)
    }

    fn piece(&mut self) -> &mut Vec<u8> {
        if self.pieces.last().is_none_or(|piece| piece.len() >= PIECE) {
            self.pieces.push(Vec::new());
        }
        self.pieces.last_mut().expect("there is one")
    }
}

impl AnswerWriter for Recording {
    /// Requires all parts: the recording may be written in another format than the query's.
    fn projection(&self) -> Projection {
        Projection::ALL
    }

    fn element(&mut self, item: &OutputItem<'_>) -> io::Result<()> {
        self.written += 1;
        put(self.piece(), item);
        Ok(())
    }

    fn renderer(&self) -> Option<Renderer> {
        Some(Renderer { element: Box::new(|buffer, item| put(&mut buffer.bytes, item)), between: "" })
    }

    fn rendered(&mut self, bytes: &[u8], elements: u64) -> io::Result<()> {
        self.written += elements;
        self.piece().extend_from_slice(bytes);
        Ok(())
    }

    fn action(&mut self, action: DiffAction) -> io::Result<()> {
        let place = ACTIONS.iter().position(|known| *known == action);
        let place = place.ok_or_else(|| io::Error::other("an action without a name"))?;
        within(self.piece(), |out| out.extend_from_slice(&[ACTION, place as u8]));
        Ok(())
    }

    fn count(&mut self, counts: &OutCounts) -> io::Result<()> {
        self.written += 1;
        within(self.piece(), |out| {
            out.extend_from_slice(&[COUNT, u8::from(counts.with_id)]);
            [counts.nodes, counts.ways, counts.relations].into_iter().for_each(|number| codec::put(out, number));
            // Adds one to the count, so that 0 encodes `None`.
            codec::put(out, counts.areas.map_or(0, |areas| areas + 1));
        });
        Ok(())
    }

    /// Ignores the remark: a stopped query leaves no recording.
    fn remark(&mut self, _text: &str) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn written(&self) -> u64 {
        self.written
    }

    fn content_type(&self) -> &'static str {
        AnswerFormat::Asked(&self.format).content_type()
    }

    fn started(&self) -> bool {
        false
    }
}

/// The kind of an entry: the type of an element, or one of these.
const COUNT: u8 = 254;
const ACTION: u8 = 255;

/// The type names that are encoded without text.
const TYPES: [&str; 4] = ["node", "way", "relation", "area"];
const OTHER: u8 = TYPES.len() as u8;

const ACTIONS: [DiffAction; 10] = [
    DiffAction::Begin("create"),
    DiffAction::Begin("modify"),
    DiffAction::Begin("delete"),
    DiffAction::Begin("show_initial"),
    DiffAction::Begin("show_final"),
    DiffAction::End,
    DiffAction::Old,
    DiffAction::EndOld,
    DiffAction::New,
    DiffAction::EndNew,
];

/// The parts of an element, one bit each.
mod part {
    pub const ID: u16 = 1;
    pub const VISIBLE: u16 = 1 << 1;
    pub const INVISIBLE: u16 = 1 << 2;
    pub const POSITION: u16 = 1 << 3;
    pub const META: u16 = 1 << 4;
    pub const BOUNDS: u16 = 1 << 5;
    pub const CENTER: u16 = 1 << 6;
    pub const NODES: u16 = 1 << 7;
    pub const GEOMETRY: u16 = 1 << 8;
    pub const MEMBERS: u16 = 1 << 9;
    pub const SHAPE: u16 = 1 << 10;
    pub const LABEL: u16 = 1 << 11;
    pub const TAGS: u16 = 1 << 12;
}

/// Appends an element.
fn put(out: &mut Vec<u8>, item: &OutputItem<'_>) {
    let is_shown = [
        (part::ID, item.id.is_some()),
        (part::VISIBLE, item.visible == Some(true)),
        (part::INVISIBLE, item.visible == Some(false)),
        (part::POSITION, item.position.is_some()),
        (part::META, item.meta.is_some()),
        (part::BOUNDS, item.bounds.is_some()),
        (part::CENTER, item.center.is_some()),
        (part::NODES, item.nodes.is_some()),
        (part::GEOMETRY, item.geometry.is_some()),
        (part::MEMBERS, item.members.is_some()),
        (part::SHAPE, item.shape.is_some()),
        (part::LABEL, item.label.is_some()),
        (part::TAGS, item.tags.is_some()),
    ];
    let parts = is_shown.into_iter().filter(|(_, shown)| *shown).fold(0, |all, (part, _)| all | part);
    within(out, |out| {
        match TYPES.iter().position(|name| *name == item.type_name) {
            Some(place) => out.push(place as u8),
            None => {
                out.push(OTHER);
                put_text(out, item.type_name);
            }
        }
        out.extend_from_slice(&u16::to_le_bytes(parts));
        if let Some(id) = item.id {
            codec::put_signed(out, id);
        }
        if let Some(c) = item.position {
            put_coord(out, c);
        }
        if let Some(meta) = &item.meta {
            put_meta(out, meta);
        }
        if let Some(bounds) = &item.bounds {
            put_box(out, bounds);
        }
        [item.center, item.label].into_iter().flatten().for_each(|position| put_position(out, position));
        if let Some(nodes) = item.nodes {
            let mut previous = 0;
            codec::put(out, nodes.len() as u64);
            nodes.iter().for_each(|&id| codec::put_delta(out, &mut previous, id));
        }
        if let Some(line) = item.geometry {
            put_line(out, line);
        }
        if let Some(members) = item.members {
            codec::put(out, members.len() as u64);
            members.iter().for_each(|member| put_member(out, member, put_line));
        }
        if let Some(shape) = item.shape {
            put_shape(out, shape);
        }
        if let Some(tags) = item.tags {
            codec::put(out, tags.len() as u64);
            tags.iter().flat_map(|(key, value)| [key, value]).for_each(|text| put_text(out, text));
        }
    });
}

fn put_line(out: &mut Vec<u8>, line: &[Coord]) {
    codec::put(out, line.len() as u64);
    line.iter().for_each(|&c| put_coord(out, c));
}

fn put_positions(out: &mut Vec<u8>, line: &[DegreePosition]) {
    codec::put(out, line.len() as u64);
    line.iter().for_each(|&position| put_position(out, position));
}

fn put_shape(out: &mut Vec<u8>, shape: &DerivedGeometry) {
    match shape {
        DerivedGeometry::Point(point) => {
            out.push(0);
            put_position(out, *point);
        }
        DerivedGeometry::Line(line) => {
            out.push(1);
            put_positions(out, line);
        }
        DerivedGeometry::Polygon(rings) => {
            out.push(2);
            codec::put(out, rings.len() as u64);
            rings.iter().for_each(|ring| put_positions(out, ring));
        }
        DerivedGeometry::Collection(parts) => {
            out.push(3);
            codec::put(out, parts.len() as u64);
            parts.iter().for_each(|part| put_shape(out, part));
        }
    }
}

/// Buffers that are reused for each entry.
#[derive(Debug, Default)]
pub struct RecordingScratch {
    tags: ItemTags,
    nodes: Vec<i64>,
    geometry: Vec<Coord>,
    /// The lines of all members.
    lines: Vec<Coord>,
}

/// Decodes an entry and passes it to `look`. Returns `None` if the bytes are no entry.
fn get<T>(bytes: &[u8], scratch: &mut RecordingScratch, look: impl FnOnce(RecordingEntry<'_>) -> T) -> Option<T> {
    let mut from = ByteReader::new(bytes);
    let type_name = match from.take(1)?[0] {
        COUNT => {
            let with_id = from.take(1)?[0] == 1;
            let (nodes, ways, relations) = (from.get()?, from.get()?, from.get()?);
            let areas = from.get()?.checked_sub(1);
            return Some(look(RecordingEntry::Count(OutCounts { with_id, nodes, ways, relations, areas })));
        }
        ACTION => return Some(look(RecordingEntry::Action(*ACTIONS.get(usize::from(from.take(1)?[0]))?))),
        OTHER => get_text(&mut from)?,
        place => TYPES.get(usize::from(place))?,
    };
    let parts = u16::from_le_bytes(from.take(2)?.try_into().ok()?);
    let has = |part: u16| parts & part != 0;
    let mut item = OutputItem { type_name, ..OutputItem::default() };
    if has(part::VISIBLE | part::INVISIBLE) {
        item.visible = Some(has(part::VISIBLE));
    }
    if has(part::ID) {
        item.id = Some(from.get_signed()?);
    }
    if has(part::POSITION) {
        item.position = Some(get_coord(&mut from)?);
    }
    if has(part::META) {
        item.meta = Some(get_meta(&mut from)?);
    }
    if has(part::BOUNDS) {
        item.bounds = Some(get_box(&mut from)?);
    }
    if has(part::CENTER) {
        item.center = Some(get_position(&mut from)?);
    }
    if has(part::LABEL) {
        item.label = Some(get_position(&mut from)?);
    }
    let RecordingScratch { tags, nodes, geometry, lines } = scratch;
    if has(part::NODES) {
        nodes.clear();
        let mut previous = 0;
        for _ in 0..from.get()? {
            nodes.push(from.get_delta(&mut previous)?);
        }
        item.nodes = Some(nodes);
    }
    if has(part::GEOMETRY) {
        geometry.clear();
        get_line(&mut from, geometry)?;
        item.geometry = Some(geometry);
    }
    lines.clear();
    let members = if has(part::MEMBERS) { Some(get_members(&mut from, lines)?) } else { None };
    let members: Option<Vec<MemberItem<'_>>> = members.map(|members| {
        let placed = |(member, line): (MemberItem<'static>, Option<std::ops::Range<usize>>), role| MemberItem {
            role,
            geometry: line.map_or(member.geometry, |line| MemberGeometry::Line(&lines[line])),
            ..member
        };
        members.into_iter().map(|StoredMember { member, role, line }| placed((member, line), role)).collect()
    });
    item.members = members.as_deref();
    let shape = if has(part::SHAPE) { Some(get_shape(&mut from)?) } else { None };
    item.shape = shape.as_ref();
    if has(part::TAGS) {
        tags.clear();
        for _ in 0..from.get()? {
            let (key, value) = (get_text(&mut from)?, get_text(&mut from)?);
            tags.push(key, value);
        }
        item.tags = Some(tags);
    }
    Some(look(RecordingEntry::Element(&item)))
}

/// A member whose line is a range of the lines of all members.
struct StoredMember<'r> {
    member: MemberItem<'static>,
    role: &'r str,
    line: Option<std::ops::Range<usize>>,
}

fn get_members<'r>(from: &mut ByteReader<'r>, lines: &mut Vec<Coord>) -> Option<Vec<StoredMember<'r>>> {
    let count = from.get()?;
    let mut members = Vec::new();
    for _ in 0..count {
        let kind = *ElementType::ALL.get(usize::from(from.take(1)?[0]))?;
        let (id, role) = (from.get_signed()?, get_text(from)?);
        let (mut geometry, mut line) = (MemberGeometry::None, None);
        match from.take(1)?[0] {
            1 => geometry = MemberGeometry::Point(get_coord(from)?),
            2 => {
                let start = lines.len();
                get_line(from, lines)?;
                line = Some(start..lines.len());
            }
            _ => {}
        }
        members.push(StoredMember { member: MemberItem { kind, id, role: "", geometry }, role, line });
    }
    Some(members)
}

fn get_line(from: &mut ByteReader<'_>, into: &mut Vec<Coord>) -> Option<()> {
    for _ in 0..from.get()? {
        into.push(get_coord(from)?);
    }
    Some(())
}

fn get_positions(from: &mut ByteReader<'_>) -> Option<Vec<DegreePosition>> {
    let count = from.get()?;
    (0..count).map(|_| get_position(from)).collect()
}

fn get_shape(from: &mut ByteReader<'_>) -> Option<DerivedGeometry> {
    Some(match from.take(1)?[0] {
        0 => DerivedGeometry::Point(get_position(from)?),
        1 => DerivedGeometry::Line(get_positions(from)?),
        2 => {
            let count = from.get()?;
            DerivedGeometry::Polygon((0..count).map(|_| get_positions(from)).collect::<Option<_>>()?)
        }
        _ => {
            let count = from.get()?;
            DerivedGeometry::Collection((0..count).map(|_| get_shape(from)).collect::<Option<_>>()?)
        }
    })
}
