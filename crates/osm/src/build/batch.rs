//! What one block of a source file becomes before anything is known of the other blocks: fixed-size records, with tags,
//! users and roles numbered within the block.

use std::collections::{HashMap, HashSet};

use bytemuck::{Pod, Zeroable};
use terrapin_loaders::{Block, Element, Meta, NO_COORDINATE, Node, Relation, Way};

use super::{BuildError, hilbert};
use crate::{Coord, ElementType};

/// A node, way or relation.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Record {
    /// Its place along the Hilbert curve.
    pub key: u64,
    /// Its id.
    pub id: i64,
    /// Changeset, 0 where unknown.
    pub changeset: i64,
    /// Where its tags start in the pile of tags.
    pub tags: u64,
    /// Seconds since 1970.
    pub timestamp: u32,
    /// Version, 0 where unknown.
    pub version: u32,
    /// Its author in the table of users.
    pub user: u32,
    /// The number of its tags; the highest bit is set on a deleted version.
    pub tag_count: u32,
}

impl Record {
    const DELETED: u32 = 1 << 31;

    /// Whether this is a version without an element, from a history file.
    pub fn is_deleted(&self) -> bool {
        self.tag_count & Self::DELETED != 0
    }
}

/// A way or a relation: a record and where its nodes or members are.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Compound {
    /// The element.
    pub record: Record,
    /// Where its nodes or members start.
    pub parts: u64,
    /// How many they are.
    pub part_count: u64,
}

/// A member of a relation.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct RawMember {
    /// The member's id.
    pub id: i64,
    /// Its type, as [`ElementType`].
    pub kind: u32,
    /// Its role in the table of roles.
    pub role: u32,
}

/// A way node whose position came with the way.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Located {
    /// The node's id.
    pub id: i64,
    /// Its place along the Hilbert curve, which is its position.
    pub key: u64,
}

/// Strings numbered in the order in which they first came.
#[derive(Default)]
pub struct Numbered<K> {
    numbers: HashMap<K, u32>,
    /// The strings, by number.
    pub all: Vec<K>,
}

impl<K: Clone + Eq + std::hash::Hash> Numbered<K> {
    /// The number of a string.
    pub fn number<Q: ?Sized + Eq + std::hash::Hash>(&mut self, text: &Q, own: impl FnOnce() -> K) -> u32
    where
        K: std::borrow::Borrow<Q>,
    {
        if let Some(&n) = self.numbers.get(text) {
            return n;
        }
        let n = self.all.len() as u32;
        let text = own();
        self.all.push(text.clone());
        self.numbers.insert(text, n);
        n
    }
}

/// One block.
#[derive(Default)]
pub struct Batch {
    /// Nodes in file order.
    pub nodes: Vec<Record>,
    /// Ways in file order; `parts` counts within the batch.
    pub ways: Vec<Compound>,
    /// The ways' node ids.
    pub refs: Vec<i64>,
    /// Positions that came with the ways.
    pub located: Vec<Located>,
    /// Relations in file order; `parts` counts within the batch.
    pub relations: Vec<Compound>,
    /// The relations' members.
    pub members: Vec<RawMember>,
    /// The tags of all elements, as numbers of `pairs`.
    pub tags: Vec<u32>,
    /// Distinct tags: key, NUL, value.
    pub pairs: Numbered<Box<[u8]>>,
    /// Distinct users.
    pub users: Numbered<(i64, Box<str>)>,
    /// Distinct roles.
    pub roles: Numbered<Box<str>>,
    /// The newest timestamp.
    pub newest: i64,
    buffer: Vec<u8>,
    last_user: Option<u32>,
}

impl Batch {
    /// Reads a block.
    ///
    /// # Errors
    /// The loader's, and elements that cannot be stored.
    pub fn read(block: &Block) -> Result<Batch, BuildError> {
        let mut batch = Batch::default();
        let mut failed = None;
        block.for_each(|element| {
            if failed.is_none()
                && let Err(e) = batch.element(&element)
            {
                failed = Some(e);
            }
        })?;
        failed.map_or(Ok(batch), Err)
    }

    fn element(&mut self, element: &Element<'_>) -> Result<(), BuildError> {
        match element {
            Element::Node(node) => self.node(node),
            Element::Way(way) => self.way(way),
            Element::Relation(relation) => self.relation(relation),
        }
    }

    fn node(&mut self, node: &Node<'_>) -> Result<(), BuildError> {
        let mut record = self.record(ElementType::Node, node.id, node.tags, node.meta.as_ref())?;
        if node.lat != NO_COORDINATE {
            record.key = hilbert::key(Coord { lat: node.lat, lon: node.lon });
        } else if !record.is_deleted() {
            return Err(BuildError::Element {
                kind: ElementType::Node,
                id: node.id,
                reason: "it has no position".into(),
            });
        }
        self.nodes.push(record);
        Ok(())
    }

    fn way(&mut self, way: &Way<'_>) -> Result<(), BuildError> {
        let record = self.record(ElementType::Way, way.id, way.tags, way.meta.as_ref())?;
        let parts = self.refs.len() as u64;
        self.refs.extend_from_slice(way.refs);
        if let Some(locations) = way.locations {
            self.located.extend(
                way.refs
                    .iter()
                    .zip(locations)
                    .filter(|(_, (lat, _))| *lat != NO_COORDINATE)
                    .map(|(&id, &(lat, lon))| Located { id, key: hilbert::key(Coord { lat, lon }) }),
            );
        }
        self.ways.push(Compound { record, parts, part_count: way.refs.len() as u64 });
        Ok(())
    }

    fn relation(&mut self, relation: &Relation<'_>) -> Result<(), BuildError> {
        let record = self.record(ElementType::Relation, relation.id, relation.tags, relation.meta.as_ref())?;
        let parts = self.members.len() as u64;
        for member in relation.members {
            let role = self.roles.number(member.role, || member.role.into());
            let kind = match member.kind {
                terrapin_loaders::ElementType::Node => ElementType::Node,
                terrapin_loaders::ElementType::Way => ElementType::Way,
                terrapin_loaders::ElementType::Relation => ElementType::Relation,
            };
            self.members.push(RawMember { id: member.id, kind: kind as u32, role });
        }
        self.relations.push(Compound { record, parts, part_count: relation.members.len() as u64 });
        Ok(())
    }

    fn record(
        &mut self,
        kind: ElementType,
        id: i64,
        tags: &[(&str, &str)],
        meta: Option<&Meta<'_>>,
    ) -> Result<Record, BuildError> {
        let start = self.tags.len();
        // No key twice: the first stands. Many keys only ever come from a file made to hurt.
        let mut seen: HashSet<&str> = HashSet::new();
        for (i, (key, value)) in tags.iter().enumerate() {
            let repeated = if tags.len() > 64 { !seen.insert(key) } else { tags[..i].iter().any(|(k, _)| k == key) };
            if repeated {
                continue;
            }
            if key.contains('\0') || value.contains('\0') {
                return Err(BuildError::Element { kind, id, reason: "a tag holds a NUL character".into() });
            }
            self.buffer.clear();
            self.buffer.extend_from_slice(key.as_bytes());
            self.buffer.push(0);
            self.buffer.extend_from_slice(value.as_bytes());
            let pair = self.pairs.number(&*self.buffer, || self.buffer.as_slice().into());
            self.tags.push(pair);
        }
        let mut record = Record {
            key: 0,
            id,
            changeset: 0,
            tags: start as u64,
            timestamp: 0,
            version: 0,
            user: 0,
            tag_count: (self.tags.len() - start) as u32,
        };
        record.user = match meta {
            None => self.users.number(&(0, Box::from("")), || (0, "".into())),
            Some(meta) => {
                record.version = meta.version;
                record.changeset = meta.changeset;
                record.timestamp = u32::try_from(meta.timestamp.max(0)).unwrap_or(u32::MAX);
                if !meta.visible {
                    record.tag_count |= Record::DELETED;
                }
                self.newest = self.newest.max(i64::from(record.timestamp));
                self.user(meta.uid, meta.user)
            }
        };
        Ok(record)
    }

    /// Elements of one user often stand together: look at the last one first.
    fn user(&mut self, uid: i64, name: &str) -> u32 {
        if let Some(last) = self.last_user
            && let Some((id, known)) = self.users.all.get(last as usize)
            && *id == uid
            && **known == *name
        {
            return last;
        }
        let user = (uid, Box::from(name));
        let number = self.users.number(&user, || user.clone());
        self.last_user = Some(number);
        number
    }
}
