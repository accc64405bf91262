//! OpenStreetMap elements in a snapshot: pages of nodes, ways and relations along a Hilbert curve, their tags, ids,
//! metadata and topology, the R-tree of pages, areas, and exact geometry on integers.
//!
//! This crate knows the snapshot file and does not know any query language. All layers above it identify elements by
//! [`Ordinal`]s.

mod area_table;
pub mod areas;
pub mod build;
mod counts;
use terrapin_base::codec;
pub mod geometry;
mod hilbert;
pub mod history;
pub mod layout;
mod lookup;
mod name_table;
pub mod names;
pub mod outline;
mod page;
mod page_cache;
mod postings;
pub mod radix;
mod source;
mod state_settings;
mod store;
mod tables;
mod tags;
mod types;

pub use name_table::NameTable;
pub use page_cache::{MetaPage, NodePage, RelationPage, TagPage, WayNodes, WayPage};
pub use postings::{PostingScope, Postings};
pub use store::{CACHE_BYTES, Osm, Remembered};
pub use tags::ValuePage;
pub use terrapin_snapshot::IndexWord;
pub use types::{BoundingBox, Coord, ElementRef, ElementType, MetaRef, NoBox, Ordinal, RelationMember};

/// A key's place among the keys in byte order.
pub type KeyId = u32;
/// A tag's place among the distinct (key, value) pairs in byte order: the tags of one key are a range.
pub type PairId = u32;
