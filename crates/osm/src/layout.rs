//! The sections that hold elements: their names and the sizes of their pages. A change here is a new format version.

use super::{ElementType, Ordinal};

/// Nodes, ways, relations on a page, as powers of two.
const PAGE_BITS: [u32; 3] = [9, 8, 6];

/// Entries on a page of the id index.
pub const IDS_ON_PAGE: usize = 1024;

/// Pairs on a page of values and on one of posting lists.
pub const PAIRS_ON_PAGE: usize = 128;

/// A posting list of at least so many ordinals has a page of its own in [`LONG_LISTS`].
pub const LONG_LIST: usize = 1024;

/// Elements on a full page, a power of two.
#[inline]
pub fn page_size(kind: ElementType) -> u64 {
    1 << PAGE_BITS[kind as usize]
}

/// The page of an ordinal and its slot there.
#[inline]
pub fn place(kind: ElementType, ordinal: Ordinal) -> (u32, usize) {
    let bits = PAGE_BITS[kind as usize];
    ((ordinal >> bits) as u32, (ordinal & (page_size(kind) - 1)) as usize)
}

/// Which of an element type's sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Ids and positions, nodes or members: pages.
    Core = 0,
    /// Metadata: pages.
    Meta = 1,
    /// Tags: pages.
    Tags = 2,
    /// Parents: pages.
    Parents = 3,
    /// Ids in order, with the page of each: pages of [`IDS_ON_PAGE`] entries.
    Ids = 4,
}

/// The names of a section and of its index.
pub fn paged(kind: ElementType, part: Part) -> (&'static str, &'static str) {
    const NAMES: [[(&str, &str); 5]; 3] = [
        [
            ("nodes.core", "nodes.core.index"),
            ("nodes.meta", "nodes.meta.index"),
            ("nodes.tags", "nodes.tags.index"),
            ("nodes.up", "nodes.up.index"),
            ("nodes.ids", "nodes.ids.index"),
        ],
        [
            ("ways.core", "ways.core.index"),
            ("ways.meta", "ways.meta.index"),
            ("ways.tags", "ways.tags.index"),
            ("ways.up", "ways.up.index"),
            ("ways.ids", "ways.ids.index"),
        ],
        [
            ("relations.core", "relations.core.index"),
            ("relations.meta", "relations.meta.index"),
            ("relations.tags", "relations.tags.index"),
            ("relations.up", "relations.up.index"),
            ("relations.ids", "relations.ids.index"),
        ],
    ];
    NAMES[kind as usize][part as usize]
}

/// The box of every page: south, west, north, east, i32 each.
pub fn boxes(kind: ElementType) -> &'static str {
    ["nodes.boxes", "ways.boxes", "relations.boxes"][kind as usize]
}

/// The first id on every page of the id index, i64 each.
pub fn first_ids(kind: ElementType) -> &'static str {
    ["nodes.ids.first", "ways.ids.first", "relations.ids.first"][kind as usize]
}

/// Ids that are referred to and not there: one page of differences a type.
pub const MISSING: (&str, &str) = ("missing", "missing.index");
/// Keys and where their values and lists are: one page, `KeyTable` in bincode (tags.rs).
pub const KEYS: (&str, &str) = ("tags.keys", "tags.keys.index");
/// Values in byte order of (key, value), front-coded: pages of [`PAIRS_ON_PAGE`].
pub const VALUES: (&str, &str) = ("tags.values", "tags.values.index");
/// Posting lists of pairs: pages of [`PAIRS_ON_PAGE`].
pub const POSTINGS: (&str, &str) = ("tags.postings", "tags.postings.index");
/// Long posting lists: a page each.
pub const LONG_LISTS: (&str, &str) = ("tags.long", "tags.long.index");
/// Users, (id, name) in order: one page, bincode.
pub const USERS: (&str, &str) = ("users", "users.index");
/// Roles in byte order: one page, bincode.
pub const ROLES: (&str, &str) = ("roles", "roles.index");
/// Areas: [`super::areas`].
pub const AREAS: &str = "areas";
