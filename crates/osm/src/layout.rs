//! The sections of elements: their names and the sizes of their pages. Any change here requires a new format version.

use super::{ElementType, Ordinal};
use terrapin_snapshot::WordSections;

/// Nodes, ways, relations on a page, as powers of two.
const PAGE_BITS: [u32; 3] = [9, 8, 6];

/// Entries on a page of the id index.
pub const IDS_ON_PAGE: usize = 1024;

/// Pairs on a page of values and on one of posting lists.
pub const PAIRS_ON_PAGE: usize = 128;

/// Minimum number of ordinals for which a posting list is stored in blocks of its own.
pub const LONG_LIST: usize = 1024;

/// Number of ordinals in a block of a posting list; the last block of a list has the rest. The elements with a tag in
/// one town usually are in one or two blocks, and reading a block takes some microseconds.
pub const BLOCK: usize = 4096;

/// Elements on a full page, a power of two.
#[inline]
pub fn page_size(kind: ElementType) -> u64 {
    1 << PAGE_BITS[kind as usize]
}

/// Returns the page of an ordinal and its slot there.
#[inline]
pub fn place(kind: ElementType, ordinal: Ordinal) -> (u32, usize) {
    let bits = PAGE_BITS[kind as usize];
    ((ordinal >> bits) as u32, (ordinal & (page_size(kind) - 1)) as usize)
}

/// A kind of section of an element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageSection {
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

/// A section of compressed pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paged {
    /// A section of the elements of a type.
    Elements(ElementType, PageSection),
    /// Values in byte order of (key, value), front-coded: pages of [`PAIRS_ON_PAGE`].
    Values,
    /// Posting lists of pairs: pages of [`PAIRS_ON_PAGE`].
    Postings,
    /// Blocks of long posting lists.
    Blocks,
}

impl Paged {
    /// The number of paged sections.
    pub const COUNT: usize = 18;

    /// Returns the index of the section.
    pub fn number(self) -> usize {
        match self {
            Paged::Elements(kind, part) => kind as usize * 5 + part as usize,
            Paged::Values => 15,
            Paged::Postings => 16,
            Paged::Blocks => 17,
        }
    }

    /// Returns the name of the section.
    pub fn name(self) -> &'static str {
        const NAMES: [&str; Paged::COUNT] = [
            "nodes.core",
            "nodes.meta",
            "nodes.tags",
            "nodes.up",
            "nodes.ids",
            "ways.core",
            "ways.meta",
            "ways.tags",
            "ways.up",
            "ways.ids",
            "relations.core",
            "relations.meta",
            "relations.tags",
            "relations.up",
            "relations.ids",
            "tags.values",
            "tags.postings",
            "tags.blocks",
        ];
        NAMES[self.number()]
    }
}

/// Returns the name of a section of an element type's pages.
pub fn paged(kind: ElementType, part: PageSection) -> &'static str {
    Paged::Elements(kind, part).name()
}

/// Returns the box of every page: boxes.
pub fn boxes(kind: ElementType) -> &'static str {
    ["nodes.boxes", "ways.boxes", "relations.boxes"][kind as usize]
}

/// Returns the first id on every page of the id index: a column of ordered numbers.
pub fn first_ids(kind: ElementType) -> &'static str {
    ["nodes.first-ids", "ways.first-ids", "relations.first-ids"][kind as usize]
}

/// Ids that are referred to and not there, ascending: a column of ordered numbers.
pub fn missing(kind: ElementType) -> &'static str {
    ["nodes.missing", "ways.missing", "relations.missing"][kind as usize]
}

/// Keys in byte order: texts.
pub const KEYS: &str = "keys";
/// The first pair of each key, and at the end the number of pairs: a column.
pub const KEY_PAIRS: &str = "keys.pairs";
/// The number of nodes, ways and relations with each key, three numbers per key: a column.
pub const KEY_COUNTS: &str = "keys.counts";
/// The places of the lists of keys: one more than the first block of a list, or 0 if the list is the union of the
/// pairs' lists. A column.
pub const KEY_LISTS: &str = "keys.lists";
/// The first ordinal of every block of posting lists: a column.
pub const BLOCK_FIRSTS: &str = "tags.blocks.firsts";
/// Ids of users, a column of ordered numbers. The first entry stands for no user.
pub const USER_IDS: &str = "users.ids";
/// Their names: texts.
pub const USER_NAMES: &str = "users.names";
/// The users in the order of their names: a column.
pub const USERS_BY_NAME: &str = "users.by-name";
/// Roles in byte order: texts.
pub const ROLES: &str = "roles.names";
/// The relations that are areas, ascending: a column.
pub const AREAS: &str = "areas.relations";
/// The boxes of areas: boxes.
pub const AREA_BOXES: &str = "areas.boxes";
/// The index of names, with its words and lists; the module `name_table` describes their content.
pub const NAMES: &str = "names";
/// The end of the names of each score: a column.
pub const NAME_SCORES: &str = "names.scores";
/// Words, and the names that have each.
pub const NAME_WORDS: WordSections = WordSections { words: "names.words", lists: "names.lists" };

/// Returns all versions of a type's elements, if they were kept: pages of them in order of id and version.
pub fn versions(kind: ElementType) -> &'static str {
    ["history.nodes", "history.ways", "history.relations"][kind as usize]
}

/// Returns the name of the section with, for every page of versions, the first id, i64, and the times of its oldest and
/// newest version, u32 each.
pub fn version_pages(kind: ElementType) -> &'static str {
    ["history.nodes.pages", "history.ways.pages", "history.relations.pages"][kind as usize]
}

/// The times of all versions, ascending and without duplicates, u32 each.
pub const VERSION_TIMES: &str = "history.times";

/// Three times the planet of 2025: nodes, ways, relations.
const MOST: [u64; 3] = [30_000_000_000, 3_300_000_000, 39_000_000];
/// Three times its distinct tags, and the tags of all its elements.
const MOST_TAGS: [u64; 2] = [450_000_000, 15_000_000_000];
/// Three times its users.
const MOST_USERS: u64 = 36_000_000;

// Pages have 32 bits, and so have pages of ids: 58.6 million and 29.3 million for nodes.
const _: () = assert!(MOST[0] >> PAGE_BITS[0] < u32::MAX as u64 && MOST[0] / (IDS_ON_PAGE as u64) < u32::MAX as u64);
const _: () = assert!(MOST[1] >> PAGE_BITS[1] < u32::MAX as u64 && MOST[2] >> PAGE_BITS[2] < u32::MAX as u64);
// Pairs, keys (fewer than pairs), users, roles (fewer than relations' members) and areas (fewer than relations) have
// 32.
const _: () = assert!(MOST_TAGS[0] < super::PairId::MAX as u64 && MOST_USERS < u32::MAX as u64);
const _: () = assert!(MOST[2] < u32::MAX as u64);
// Blocks have 32 bits. Every tag is in at most two lists, a pair's and a key's; and only lists of at least 64 have
// blocks, so that there are at most twice as many blocks as full ones and one for each 64 of the rest.
const _: () = assert!(2 * MOST_TAGS[1] / BLOCK as u64 + 2 * MOST_TAGS[1] / 64 < u32::MAX as u64);
// Ordinals have 63 bits, also within references. A slot is an index of type `usize`.
const _: () = assert!(MOST[0] < 1 << 63);
