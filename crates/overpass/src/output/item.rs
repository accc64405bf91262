//! The printed parts of one element.

use crate::set::{DegreePosition, DerivedGeometry};
use terrapin_osm::{BoundingBox, Coord, ElementType};

/// The printed parts of one element. Fields that are `None` are left out.
#[derive(Debug, Clone, Copy, Default)]
pub struct OutputItem<'a> {
    /// `node`, `way`, `relation`, `area`, or the type name that a query gave.
    pub type_name: &'a str,
    /// The id; `None` with `noids`.
    pub id: Option<i64>,
    /// Whether the element exists in the data at the newer moment, if the answer reports it.
    pub visible: Option<bool>,
    /// The position of a node.
    pub position: Option<Coord>,
    /// The metadata.
    pub meta: Option<OutputMeta<'a>>,
    /// The bounding box.
    pub bounds: Option<BoundingBox>,
    /// The center of the bounding box.
    pub center: Option<DegreePosition>,
    /// The ids of a way's nodes.
    pub nodes: Option<&'a [i64]>,
    /// The positions of a way's nodes, one per node; [`Coord::MISSING`] if unknown or outside the output box.
    pub geometry: Option<&'a [Coord]>,
    /// The members of a relation.
    pub members: Option<&'a [MemberItem<'a>]>,
    /// The geometry of a derived element.
    pub shape: Option<&'a DerivedGeometry>,
    /// The point that represents the element in a format without geometries (CSV), if there is no center.
    pub label: Option<DegreePosition>,
    /// The tags.
    pub tags: Option<&'a ItemTags>,
}

impl OutputItem<'_> {
    /// Returns whether the element is derived.
    pub fn is_derived(&self) -> bool {
        !matches!(self.type_name, "node" | "way" | "relation" | "area")
    }
}

/// The metadata of an element.
#[derive(Debug, Clone, Copy)]
pub struct OutputMeta<'a> {
    /// Version, 0 where unknown.
    pub version: u32,
    /// Seconds since 1970.
    pub timestamp: i64,
    /// Changeset, 0 where unknown.
    pub changeset: i64,
    /// User id, 0 where unknown.
    pub uid: i64,
    /// User name, empty where unknown.
    pub user: &'a str,
}

/// One member of a relation.
#[derive(Debug, Clone, Copy)]
pub struct MemberItem<'a> {
    /// Its type.
    pub kind: ElementType,
    /// Its id.
    pub id: i64,
    /// Its role.
    pub role: &'a str,
    /// The member's geometry.
    pub geometry: MemberGeometry<'a>,
}

/// The geometry of a member.
#[derive(Debug, Clone, Copy)]
pub enum MemberGeometry<'a> {
    /// Not requested or unknown.
    None,
    /// A node's position.
    Point(Coord),
    /// The positions of a way's nodes. Empty if the way is missing; [`Coord::MISSING`] for a node that is missing or
    /// outside the output box.
    Line(&'a [Coord]),
}

/// The result of `out count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutCounts {
    /// Whether the count has an id, which is always 0.
    pub with_id: bool,
    /// Nodes.
    pub nodes: u64,
    /// Ways.
    pub ways: u64,
    /// Relations.
    pub relations: u64,
    /// The number of areas; only for queries that use areas.
    pub areas: Option<u64>,
}

impl OutCounts {
    /// Returns the sum of all counts.
    pub fn total(&self) -> u64 {
        self.nodes + self.ways + self.relations + self.areas.unwrap_or_default()
    }
}

/// The tags of one element, in order of key. The buffer is reused for many elements without allocating.
#[derive(Debug, Clone, Default)]
pub struct ItemTags {
    text: String,
    /// The end of each key and of each value in `text`.
    ends: Vec<(usize, usize)>,
}

impl ItemTags {
    /// Removes all tags.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Adds a tag. Keys must be added in ascending order.
    pub fn push(&mut self, key: &str, value: &str) {
        self.text.push_str(key);
        let middle = self.text.len();
        self.text.push_str(value);
        self.ends.push((middle, self.text.len()));
    }

    /// Returns the number of tags.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Iterates over keys and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut start = 0;
        self.ends.iter().map(move |&(middle, end)| {
            let tag = (&self.text[start..middle], &self.text[middle..end]);
            start = end;
            tag
        })
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(k, _)| *k == key).map(|(_, v)| v)
    }
}
