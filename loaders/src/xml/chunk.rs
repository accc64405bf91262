//! Elements of an XML file in memory: a few flat lists that they share, so that a chunk is a handful of allocations.

use crate::element::{Element, ElementType, Member, Meta, Node, Relation, Way};

/// A part of the chunk's text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    begin: u32,
    end: u32,
}

/// One element. Its tags, node ids and members are those behind the ones of the element before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) kind: ElementType,
    pub(super) id: i64,
    pub(super) lat: i32,
    pub(super) lon: i32,
    /// Whether the locations of a way's nodes are known.
    pub(super) located: bool,
    /// The metadata, without the user's name.
    pub(super) meta: Option<Meta<'static>>,
    pub(super) user: Span,
    pub(super) tags_end: u32,
    pub(super) items_end: u32,
}

/// Some thousand elements.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(super) records: Vec<Record>,
    text: String,
    tags: Vec<(Span, Span)>,
    refs: Vec<(i64, (i32, i32))>,
    members: Vec<(ElementType, i64, Span)>,
}

impl Chunk {
    /// Bytes that it takes, about.
    pub(super) fn size(&self) -> usize {
        self.text.len() + 16 * self.tags.len() + 16 * self.refs.len() + 24 * self.members.len()
    }

    pub(super) fn tag(&mut self, key: &str, value: &str) {
        let tag = (self.span(key), self.span(value));
        self.tags.push(tag);
    }

    pub(super) fn node_ref(&mut self, id: i64, location: (i32, i32)) {
        self.refs.push((id, location));
    }

    pub(super) fn member(&mut self, kind: ElementType, id: i64, role: &str) {
        let role = self.span(role);
        self.members.push((kind, id, role));
    }

    /// Keeps a text. Chunks are cut long before 4 GiB, and elements bounded.
    pub(super) fn span(&mut self, text: &str) -> Span {
        let begin = self.text.len() as u32;
        self.text.push_str(text);
        Span { begin, end: self.text.len() as u32 }
    }

    /// Finishes an element whose parts have been added.
    pub(super) fn push(&mut self, record: Record) {
        let items = if record.kind == ElementType::Way { self.refs.len() } else { self.members.len() };
        self.records.push(Record { tags_end: self.tags.len() as u32, items_end: items as u32, ..record });
    }

    fn text(&self, span: Span) -> &str {
        self.text.get(span.begin as usize..span.end as usize).unwrap_or_default()
    }

    /// Gives every element to `f`.
    pub(crate) fn for_each(&self, mut f: impl FnMut(Element<'_>)) {
        let (mut tags, mut refs, mut locations, mut members) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut all_tags, mut all_refs, mut all_members) = (self.tags.iter(), self.refs.iter(), self.members.iter());
        let mut ends = [0; 3];
        for record in &self.records {
            let mut count = |list: usize, end: u32| (end - std::mem::replace(&mut ends[list], end)) as usize;
            tags.clear();
            let own = all_tags.by_ref().take(count(0, record.tags_end));
            tags.extend(own.map(|(key, value)| (self.text(*key), self.text(*value))));
            let (id, tags) = (record.id, tags.as_slice());
            let meta = record.meta.map(|meta| Meta { user: self.text(record.user), ..meta });
            match record.kind {
                ElementType::Node => f(Element::Node(Node { id, lat: record.lat, lon: record.lon, tags, meta })),
                ElementType::Way => {
                    refs.clear();
                    locations.clear();
                    for (id, location) in all_refs.by_ref().take(count(1, record.items_end)) {
                        refs.push(*id);
                        locations.push(*location);
                    }
                    let locations = record.located.then_some(locations.as_slice());
                    f(Element::Way(Way { id, refs: &refs, locations, tags, meta }));
                }
                ElementType::Relation => {
                    members.clear();
                    let own = all_members.by_ref().take(count(2, record.items_end));
                    members.extend(own.map(|(kind, id, role)| Member { kind: *kind, id: *id, role: self.text(*role) }));
                    f(Element::Relation(Relation { id, members: &members, tags, meta }));
                }
            }
        }
    }
}
