//! Writes the PBF format: one blob for the header of a file, then one for each block of elements. Blobs are independent
//! of each other and can be made in parallel.
//!
//! The format is described at <https://wiki.openstreetmap.org/wiki/PBF_Format>; field numbers are those of its `.proto`
//! files.

use std::collections::HashMap;
use std::io::Write;

use flate2::write::ZlibEncoder;

use crate::element::{
    NO_COORDINATE, SourceElement, SourceElementType, SourceHeader, SourceMeta, SourceNode, SourceRelation, Way,
};

/// The usual number of elements in a block.
pub const ELEMENTS_IN_BLOCK: usize = 8000;

/// Compression of blobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// No compression.
    None,
    /// zlib, which every program reads.
    #[default]
    Zlib,
    /// Zstandard: smaller and faster, but few programs read it.
    Zstd,
}

/// Level of Zstandard. Higher levels cost more time than they save space.
const ZSTD_LEVEL: i32 = 6;

/// A protocol buffer message under construction.
#[derive(Default)]
struct PbfMessage(Vec<u8>);

impl PbfMessage {
    fn raw(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) {
        self.raw(field << 3);
        self.raw(value);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.raw(field << 3 | 2);
        self.raw(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Writes a packed list, unless it is empty.
    fn list(&mut self, field: u64, values: impl IntoIterator<Item = u64>) {
        let mut list = PbfMessage::default();
        values.into_iter().for_each(|value| list.raw(value));
        if !list.0.is_empty() {
            self.bytes(field, &list.0);
        }
    }

    /// Writes a packed list of delta-coded signed numbers.
    fn deltas(&mut self, field: u64, values: impl IntoIterator<Item = i64>) {
        let mut previous = 0_i64;
        self.list(
            field,
            values.into_iter().map(|value| zigzag(value.wrapping_sub(std::mem::replace(&mut previous, value)))),
        );
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Returns the blob of a file's header. `sorted` declares that elements are sorted by type, then by id.
pub fn header(header: &SourceHeader, sorted: bool, compression: Compression) -> Vec<u8> {
    let mut message = PbfMessage::default();
    if let Some([south, west, north, east]) = header.bbox {
        let mut bbox = PbfMessage::default();
        for (field, degrees) in [(1, west), (2, east), (3, north), (4, south)] {
            bbox.number(field, zigzag(i64::from(degrees) * 100));
        }
        message.bytes(1, &bbox.0);
    }
    for feature in ["OsmSchema-V0.6", "DenseNodes"] {
        message.bytes(4, feature.as_bytes());
    }
    if header.history {
        message.bytes(4, b"HistoricalInformation");
    }
    if sorted {
        message.bytes(5, b"Sort.Type_then_ID");
    }
    if let Some(program) = &header.writing_program {
        message.bytes(16, program.as_bytes());
    }
    if let Some(timestamp) = header.replication_timestamp {
        message.number(32, timestamp as u64);
    }
    if let Some(sequence) = header.replication_sequence {
        message.number(33, sequence as u64);
    }
    if let Some(url) = &header.replication_url {
        message.bytes(34, url.as_bytes());
    }
    blob(b"OSMHeader", &message.0, compression)
}

/// Returns a blob, preceded by its blob header.
fn blob(name: &[u8], content: &[u8], compression: Compression) -> Vec<u8> {
    let mut blob = PbfMessage::default();
    // Packing into memory does not fail.
    match compression {
        Compression::None => blob.bytes(1, content),
        Compression::Zlib => {
            let mut packed = ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            let packed = packed.write_all(content).and_then(|()| packed.finish()).unwrap_or_default();
            blob.number(2, content.len() as u64);
            blob.bytes(3, &packed);
        }
        Compression::Zstd => {
            blob.number(2, content.len() as u64);
            blob.bytes(7, &zstd::bulk::compress(content, ZSTD_LEVEL).unwrap_or_default());
        }
    }
    let mut header = PbfMessage::default();
    header.bytes(1, name);
    header.number(3, blob.0.len() as u64);
    let mut out = (header.0.len() as u32).to_be_bytes().to_vec();
    out.extend(header.0);
    out.extend(blob.0);
    out
}

/// The string table of a block. Strings have numbers from 1. Number 0 means no string, because zero ends lists.
struct BlockStrings {
    numbers: HashMap<Box<str>, u64>,
    table: PbfMessage,
}

impl BlockStrings {
    fn new() -> BlockStrings {
        let mut table = PbfMessage::default();
        table.bytes(1, b"");
        BlockStrings { numbers: HashMap::new(), table }
    }

    fn number(&mut self, text: &str) -> u64 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.numbers.len() as u64 + 1;
        self.numbers.insert(text.into(), number);
        self.table.bytes(1, text.as_bytes());
        number
    }

    /// Returns the number of a string, or 0 for an empty one. For use where empty and missing mean the same.
    fn or_none(&mut self, text: &str) -> u64 {
        if text.is_empty() { 0 } else { self.number(text) }
    }
}

/// Consecutive nodes, as one list for each field.
#[derive(Default)]
struct Dense {
    ids: Vec<i64>,
    positions: Vec<(i32, i32)>,
    /// For each node, the numbers of its keys and values, then 0.
    tags: Vec<u64>,
    tagged: bool,
    metas: Vec<SourceMeta<'static>>,
    users: Vec<i64>,
    described: bool,
}

/// A block of elements under construction, usually with [`ELEMENTS_IN_BLOCK`] elements at most.
pub struct BlockWriter {
    strings: BlockStrings,
    dense: Dense,
    /// Consecutive ways or relations.
    group: PbfMessage,
    groups: PbfMessage,
    last: Option<SourceElementType>,
    /// Whether the file includes deleted versions.
    history: bool,
    len: usize,
}

impl BlockWriter {
    /// Creates an empty block. `history` is true if the file includes deleted versions.
    pub fn new(history: bool) -> BlockWriter {
        BlockWriter {
            strings: BlockStrings::new(),
            dense: Dense::default(),
            group: PbfMessage::default(),
            groups: PbfMessage::default(),
            last: None,
            history,
            len: 0,
        }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the block has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns an upper estimate of the unpacked size in bytes.
    pub fn bytes(&self) -> usize {
        // Each number of a node takes at most ten bytes, and one in a list of tags at most five.
        let dense = self.dense.ids.len() * 80 + self.dense.tags.len() * 5;
        self.strings.table.0.len() + self.group.0.len() + self.groups.0.len() + dense
    }

    /// Adds an element. Locations of way nodes are not written.
    pub fn push(&mut self, element: &SourceElement<'_>) {
        let kind = match element {
            SourceElement::Node(_) => SourceElementType::Node,
            SourceElement::Way(_) => SourceElementType::Way,
            SourceElement::Relation(_) => SourceElementType::Relation,
        };
        if self.last.replace(kind) != Some(kind) {
            self.end_group();
        }
        self.len += 1;
        match element {
            SourceElement::Node(node) => self.node(node),
            SourceElement::Way(way) => self.way(way),
            SourceElement::Relation(relation) => self.relation(relation),
        }
    }

    /// Returns the blob of the block.
    pub fn finish(mut self, compression: Compression) -> Vec<u8> {
        self.end_group();
        let mut message = PbfMessage::default();
        message.bytes(1, &self.strings.table.0);
        message.0.extend(self.groups.0);
        blob(b"OSMData", &message.0, compression)
    }

    fn end_group(&mut self) {
        let mut group = std::mem::take(&mut self.group);
        let dense = std::mem::take(&mut self.dense);
        if !dense.ids.is_empty() {
            group.bytes(2, &dense.message(self.history).0);
        }
        if !group.0.is_empty() {
            self.groups.bytes(2, &group.0);
        }
    }

    fn node(&mut self, node: &SourceNode<'_>) {
        let Self { dense, strings, .. } = self;
        dense.ids.push(node.id);
        dense.positions.push((node.lat, node.lon));
        for text in node.tags.iter().flat_map(|&(key, value)| [key, value]) {
            dense.tags.push(strings.number(text));
        }
        dense.tags.push(0);
        dense.tagged |= !node.tags.is_empty();
        dense.described |= node.meta.is_some();
        let meta = node.meta.unwrap_or(NO_META);
        dense.users.push(strings.or_none(meta.user) as i64);
        dense.metas.push(SourceMeta { user: "", ..meta });
    }

    /// Writes id, tags and metadata, which ways and relations have in common.
    fn common(&mut self, id: i64, tags: &[(&str, &str)], meta: Option<SourceMeta<'_>>) -> PbfMessage {
        let mut message = PbfMessage::default();
        message.number(1, id as u64);
        message.list(2, tags.iter().map(|(key, _)| self.strings.number(key)));
        message.list(3, tags.iter().map(|(_, value)| self.strings.number(value)));
        if let Some(meta) = meta {
            let mut info = PbfMessage::default();
            info.number(1, meta.version.into());
            info.number(2, meta.timestamp as u64);
            info.number(3, meta.changeset as u64);
            info.number(4, meta.uid as u64);
            info.number(5, self.strings.or_none(meta.user));
            if self.history {
                info.number(6, meta.visible.into());
            }
            message.bytes(4, &info.0);
        }
        message
    }

    fn way(&mut self, way: &Way<'_>) {
        let mut message = self.common(way.id, way.tags, way.meta);
        message.deltas(8, way.refs.iter().copied());
        self.group.bytes(3, &message.0);
    }

    fn relation(&mut self, relation: &SourceRelation<'_>) {
        let mut message = self.common(relation.id, relation.tags, relation.meta);
        message.list(8, relation.members.iter().map(|member| self.strings.or_none(member.role)));
        message.deltas(9, relation.members.iter().map(|member| member.id));
        message.list(10, relation.members.iter().map(|member| member.kind as u64));
        self.group.bytes(4, &message.0);
    }
}

/// The metadata written for a node without metadata if other nodes of the group have some.
const NO_META: SourceMeta<'static> =
    SourceMeta { version: 0, timestamp: 0, changeset: 0, uid: 0, user: "", visible: true };

impl Dense {
    fn message(&self, history: bool) -> PbfMessage {
        let mut dense = PbfMessage::default();
        dense.deltas(1, self.ids.iter().copied());
        if self.described {
            let mut info = PbfMessage::default();
            info.list(1, self.metas.iter().map(|meta| meta.version.into()));
            info.deltas(2, self.metas.iter().map(|meta| meta.timestamp));
            info.deltas(3, self.metas.iter().map(|meta| meta.changeset));
            info.deltas(4, self.metas.iter().map(|meta| meta.uid));
            info.deltas(5, self.users.iter().copied());
            if history {
                info.list(6, self.metas.iter().map(|meta| meta.visible.into()));
            }
            dense.bytes(5, &info.0);
        }
        // A deleted node has no position. Readers ignore the 0 that is written instead.
        let degrees = |degrees: i32| if degrees == NO_COORDINATE { 0 } else { i64::from(degrees) };
        dense.deltas(8, self.positions.iter().map(|at| degrees(at.0)));
        dense.deltas(9, self.positions.iter().map(|at| degrees(at.1)));
        if self.tagged {
            dense.list(10, self.tags.iter().copied());
        }
        dense
    }
}
