//! OpenStreetMap elements in a snapshot: pages of nodes, ways and relations along a Hilbert curve, their tags, ids,
//! metadata and topology, the R-tree of pages, areas, and exact geometry on integers.
//!
//! This module knows the snapshot file and nothing of query languages. Everything above it speaks in [`Ordinal`]s.

pub mod areas;
pub mod geometry;
mod store;
mod types;

pub use store::{KeyId, MetaPage, NodePage, Osm, PairId, RelationPage, TagPage, WayPage};
pub use types::{BoundingBox, Coord, ElementType, Member, MetaRef, Ordinal, Reference};
