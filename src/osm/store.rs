//! Reading elements: pages, tags, ids, topology.

use std::ops::Range;
use std::sync::Arc;

use super::types::{BoundingBox, Coord, ElementType, Member, MetaRef, Ordinal, Reference};

/// A key's place among the keys in byte order.
pub type KeyId = u32;
/// A tag's place among the distinct (key, value) pairs in byte order: the tags of one key are a range.
pub type PairId = u32;

/// The elements of an open snapshot. Cheap to share: everything decoded is cached within a bounded number of bytes.
pub struct Osm {}

/// Ids and positions of one page's nodes, by slot.
pub struct NodePage {
    /// Ids.
    pub ids: Vec<i64>,
    /// Positions.
    pub coords: Vec<Coord>,
}

/// Ids, nodes and geometry of one page's ways, by slot.
pub struct WayPage {
    /// Ids.
    pub ids: Vec<i64>,
    pub(super) starts: Vec<u32>,
    pub(super) refs: Vec<Reference>,
    pub(super) coords: Vec<Coord>,
}

impl WayPage {
    /// The nodes of the way at `slot`, in order.
    pub fn nodes(&self, slot: usize) -> &[Reference] {
        &self.refs[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }
    /// Their positions; [`Coord::MISSING`] where a node is missing.
    pub fn coords(&self, slot: usize) -> &[Coord] {
        &self.coords[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }
}

/// Ids and members of one page's relations, by slot.
pub struct RelationPage {
    /// Ids.
    pub ids: Vec<i64>,
    pub(super) starts: Vec<u32>,
    pub(super) members: Vec<Member>,
}

impl RelationPage {
    /// The members of the relation at `slot`, in order.
    pub fn members(&self, slot: usize) -> &[Member] {
        &self.members[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }
}

/// Tags of one page's elements, by slot.
pub struct TagPage {
    pub(super) starts: Vec<u32>,
    pub(super) pairs: Vec<PairId>,
}

impl TagPage {
    /// The tags of the element at `slot`, ascending (so in byte order of their keys).
    pub fn tags(&self, slot: usize) -> &[PairId] {
        &self.pairs[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }
}

/// Metadata of one page's elements, by slot.
pub struct MetaPage {
    pub(super) entries: Vec<MetaRef>,
}

impl MetaPage {
    /// The metadata of the element at `slot`.
    pub fn meta(&self, slot: usize) -> MetaRef {
        self.entries[slot]
    }
}

#[allow(unused_variables)]
impl Osm {
    // ---- ordinals, pages, ids

    /// How many elements of this type there are; ordinals are `0..count`.
    pub fn count(&self, kind: ElementType) -> u64 {
        todo!()
    }
    /// Elements on a full page of this type; ordinal / page_size is the page, the rest the slot.
    pub fn page_size(&self, kind: ElementType) -> u64 {
        todo!()
    }
    /// How many pages of this type there are.
    pub fn page_count(&self, kind: ElementType) -> u32 {
        todo!()
    }
    /// The element with this id.
    pub fn find(&self, kind: ElementType, id: i64) -> Option<Ordinal> {
        todo!()
    }
    /// The ids of these elements, in the order given (fast for sorted ones).
    pub fn ids(&self, kind: ElementType, ordinals: &[Ordinal]) -> Vec<i64> {
        todo!()
    }
    /// The ids of way nodes or members of one type, in the order given; missing ones included.
    pub fn reference_ids(&self, kind: ElementType, references: &[Reference]) -> Vec<i64> {
        todo!()
    }
    /// A page of nodes.
    pub fn node_page(&self, page: u32) -> Arc<NodePage> {
        todo!()
    }
    /// A page of ways, with geometry.
    pub fn way_page(&self, page: u32) -> Arc<WayPage> {
        todo!()
    }
    /// A page of relations.
    pub fn relation_page(&self, page: u32) -> Arc<RelationPage> {
        todo!()
    }
    /// The positions of these nodes, in the order given (fast for sorted ones).
    pub fn coords(&self, nodes: &[Ordinal]) -> Vec<Coord> {
        todo!()
    }

    // ---- space

    /// The box of a page's elements. For ways the box of all their nodes, for relations of all their node and way
    /// members; a page whose elements have no place has an empty box.
    pub fn page_box(&self, kind: ElementType, page: u32) -> BoundingBox {
        todo!()
    }
    /// The pages of this type whose box meets `area`, ascending.
    pub fn pages_in(&self, kind: ElementType, area: &BoundingBox) -> Vec<u32> {
        todo!()
    }

    // ---- tags

    /// The tags of a page's elements.
    pub fn tag_page(&self, kind: ElementType, page: u32) -> Arc<TagPage> {
        todo!()
    }
    /// The id of a key.
    pub fn key(&self, name: &str) -> Option<KeyId> {
        todo!()
    }
    /// How many keys there are; key ids are `0..key_count`.
    pub fn key_count(&self) -> KeyId {
        todo!()
    }
    /// The text of a key.
    pub fn key_name(&self, key: KeyId) -> &str {
        todo!()
    }
    /// The pairs of a key.
    pub fn pairs_of(&self, key: KeyId) -> Range<PairId> {
        todo!()
    }
    /// The pair of a key and a value.
    pub fn pair(&self, key: &str, value: &str) -> Option<PairId> {
        todo!()
    }
    /// The key of a pair.
    pub fn key_of(&self, pair: PairId) -> KeyId {
        todo!()
    }
    /// Calls `f` with the value of a pair.
    pub fn with_value<R>(&self, pair: PairId, f: impl FnOnce(&str) -> R) -> R {
        todo!()
    }
    /// Calls `f` with every pair of a key and its value, ascending: the fast way through all values.
    pub fn for_values(&self, key: KeyId, f: impl FnMut(PairId, &str)) {
        todo!()
    }
    /// The elements of this type that have the pair, ascending.
    pub fn posting(&self, kind: ElementType, pair: PairId) -> Arc<[Ordinal]> {
        todo!()
    }
    /// How many they are, without reading them.
    pub fn posting_len(&self, kind: ElementType, pair: PairId) -> u64 {
        todo!()
    }
    /// The elements of this type that have the key, ascending.
    pub fn key_posting(&self, kind: ElementType, key: KeyId) -> Arc<[Ordinal]> {
        todo!()
    }
    /// How many they are, without reading them.
    pub fn key_posting_len(&self, kind: ElementType, key: KeyId) -> u64 {
        todo!()
    }

    // ---- metadata

    /// Version, timestamp, changeset and user of a page's elements.
    pub fn meta_page(&self, kind: ElementType, page: u32) -> Arc<MetaPage> {
        todo!()
    }
    /// The text of a user's name.
    pub fn user_name(&self, user: u32) -> &str {
        todo!()
    }
    /// The users with this name (an id may have had several names, a name several ids).
    pub fn users_named(&self, name: &str) -> Vec<u32> {
        todo!()
    }

    // ---- topology

    /// The text of a role.
    pub fn role(&self, role: u32) -> &str {
        todo!()
    }
    /// The id of a role.
    pub fn find_role(&self, name: &str) -> Option<u32> {
        todo!()
    }
    /// The ways that have at least one of these nodes (ascending), ascending and without duplicates.
    pub fn ways_of_nodes(&self, nodes: &[Ordinal]) -> Vec<Ordinal> {
        todo!()
    }
    /// The relations that have at least one of these elements (ascending) as a member, ascending, no duplicates.
    pub fn relations_of(&self, kind: ElementType, members: &[Ordinal]) -> Vec<Ordinal> {
        todo!()
    }

    // ---- time

    /// The time of the data: the newest element's timestamp, seconds since 1970.
    pub fn data_time(&self) -> i64 {
        todo!()
    }
}
