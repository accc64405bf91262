//! Owned elements in a few flat lists that the elements of a chunk share. A chunk therefore needs only a handful of
//! allocations.

use crate::element::{
    NO_COORDINATE, SourceElement, SourceElementType, SourceMember, SourceMeta, SourceNode, SourceRelation, Way,
};

/// A part of the chunk's text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChunkSpan {
    begin: u32,
    end: u32,
}

/// One element. Its tags, node ids and members follow those of the previous element in the shared lists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkRecord {
    pub(crate) kind: SourceElementType,
    pub(crate) id: i64,
    pub(crate) lat: i32,
    pub(crate) lon: i32,
    /// Whether the locations of a way's nodes are known.
    pub(crate) located: bool,
    /// The metadata, without the user's name.
    pub(crate) meta: Option<SourceMeta<'static>>,
    pub(crate) user: ChunkSpan,
    pub(crate) tags_end: u32,
    pub(crate) items_end: u32,
}

/// Limits: a chunk is full once it reaches one of them.
const FULL_ELEMENTS: usize = 8000;
const FULL_BYTES: usize = 1 << 20;

/// Elements with shared storage: at most some thousand, see [`FULL_ELEMENTS`].
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) records: Vec<ChunkRecord>,
    text: String,
    tags: Vec<(ChunkSpan, ChunkSpan)>,
    refs: Vec<(i64, (i32, i32))>,
    members: Vec<(SourceElementType, i64, ChunkSpan)>,
}

impl Chunk {
    /// Returns the approximate size of texts and lists in bytes.
    pub(crate) fn size(&self) -> usize {
        self.text.len() + 16 * self.tags.len() + 16 * self.refs.len() + 24 * self.members.len()
    }

    /// Returns the approximate memory in bytes for the chunk and for the data that is derived from it.
    pub(crate) fn cost(&self) -> u64 {
        (self.size() + self.records.len() * size_of::<ChunkRecord>()) as u64 * 4
    }

    /// Returns whether the chunk has reached one of its limits.
    pub(crate) fn is_full(&self) -> bool {
        self.records.len() >= FULL_ELEMENTS || self.size() >= FULL_BYTES
    }

    /// Returns whether the chunk has no elements.
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Copies an element.
    pub(crate) fn add(&mut self, element: &SourceElement<'_>) {
        let (kind, id, tags, meta) = match element {
            SourceElement::Node(node) => (SourceElementType::Node, node.id, node.tags, node.meta),
            SourceElement::Way(way) => (SourceElementType::Way, way.id, way.tags, way.meta),
            SourceElement::Relation(relation) => {
                (SourceElementType::Relation, relation.id, relation.tags, relation.meta)
            }
        };
        tags.iter().for_each(|(key, value)| self.tag(key, value));
        let (mut lat, mut lon, mut located) = (NO_COORDINATE, NO_COORDINATE, false);
        match element {
            SourceElement::Node(node) => (lat, lon) = (node.lat, node.lon),
            SourceElement::Way(way) => {
                located = way.locations.is_some();
                for (i, id) in way.refs.iter().enumerate() {
                    let location = way.locations.and_then(|all| all.get(i)).copied();
                    self.node_ref(*id, location.unwrap_or((NO_COORDINATE, NO_COORDINATE)));
                }
            }
            SourceElement::Relation(relation) => {
                relation.members.iter().for_each(|member| self.member(member.kind, member.id, member.role));
            }
        }
        let user = meta.map_or_else(ChunkSpan::default, |meta| self.span(meta.user));
        let meta = meta.map(|meta| SourceMeta { user: "", ..meta });
        self.push(ChunkRecord { kind, id, lat, lon, located, meta, user, tags_end: 0, items_end: 0 });
    }

    pub(crate) fn tag(&mut self, key: &str, value: &str) {
        let tag = (self.span(key), self.span(value));
        self.tags.push(tag);
    }

    pub(crate) fn node_ref(&mut self, id: i64, location: (i32, i32)) {
        self.refs.push((id, location));
    }

    pub(crate) fn member(&mut self, kind: SourceElementType, id: i64, role: &str) {
        let role = self.span(role);
        self.members.push((kind, id, role));
    }

    /// Stores a text and returns its span. Offsets of 32 bits suffice: chunks are full long before 4 GiB, and the size
    /// of an element is limited.
    pub(crate) fn span(&mut self, text: &str) -> ChunkSpan {
        let begin = self.text.len() as u32;
        self.text.push_str(text);
        ChunkSpan { begin, end: self.text.len() as u32 }
    }

    /// Adds the record of an element whose tags, nodes and members have already been added.
    pub(crate) fn push(&mut self, record: ChunkRecord) {
        let items = if record.kind == SourceElementType::Way { self.refs.len() } else { self.members.len() };
        self.records.push(ChunkRecord { tags_end: self.tags.len() as u32, items_end: items as u32, ..record });
    }

    fn text(&self, span: ChunkSpan) -> &str {
        self.text.get(span.begin as usize..span.end as usize).unwrap_or_default()
    }

    /// Calls `f` with every element.
    pub(crate) fn for_each(&self, mut f: impl FnMut(SourceElement<'_>)) {
        let (mut tags, mut refs, mut locations, mut members) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut all_tags, mut all_refs, mut all_members) = (self.tags.iter(), self.refs.iter(), self.members.iter());
        let mut ends = [0; 3];
        for record in &self.records {
            let mut count = |list: usize, end: u32| (end - std::mem::replace(&mut ends[list], end)) as usize;
            tags.clear();
            let own = all_tags.by_ref().take(count(0, record.tags_end));
            tags.extend(own.map(|(key, value)| (self.text(*key), self.text(*value))));
            let (id, tags) = (record.id, tags.as_slice());
            let meta = record.meta.map(|meta| SourceMeta { user: self.text(record.user), ..meta });
            match record.kind {
                SourceElementType::Node => {
                    f(SourceElement::Node(SourceNode { id, lat: record.lat, lon: record.lon, tags, meta }))
                }
                SourceElementType::Way => {
                    refs.clear();
                    locations.clear();
                    for (id, location) in all_refs.by_ref().take(count(1, record.items_end)) {
                        refs.push(*id);
                        locations.push(*location);
                    }
                    let locations = record.located.then_some(locations.as_slice());
                    f(SourceElement::Way(Way { id, refs: &refs, locations, tags, meta }));
                }
                SourceElementType::Relation => {
                    members.clear();
                    let own = all_members.by_ref().take(count(2, record.items_end));
                    members.extend(own.map(|(kind, id, role)| SourceMember {
                        kind: *kind,
                        id: *id,
                        role: self.text(*role),
                    }));
                    f(SourceElement::Relation(SourceRelation { id, members: &members, tags, meta }));
                }
            }
        }
    }
}
