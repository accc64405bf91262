//! Statistics of keys and tags of a snapshot: counts, values, combinations and a text search. Counts are the lengths of
//! posting lists. Only combinations are counted element by element. The crate may use `osm`; it does not know query
//! languages or HTTP. The server formats the answers as taginfo does.
//!
//! No data is read before the first request. Every scan runs within the budget of the caller. Caches are bounded;
//! `combinations.rs`, `frequent.rs` and `index.rs` state their limits.

mod combinations;
mod counts;
mod docs;
mod everyday;
mod frequent;
mod index;
mod keys;
mod listed;
mod needle;
mod search;
mod values;
mod words;

use std::sync::{Arc, OnceLock};

use terrapin_osm::Osm;

pub use combinations::Combination;
pub use counts::{Counts, Which, fraction};
pub use docs::{Docs, DocsError, Source};
pub use frequent::Tag;
pub use keys::{Key, KeyFilter, KeySorting, KeysWanted};
pub use listed::{Listed, Part};
pub use search::{Found, Match};
pub use values::{Value, ValueSorting, ValuesWanted};

/// The tags of a snapshot, with cached statistics.
pub struct Tags {
    osm: Arc<Osm>,
    docs: Docs,
    frequent: OnceLock<Arc<[frequent::Entry]>>,
    index: OnceLock<Arc<index::Index>>,
    together: combinations::Kept,
}

impl Tags {
    /// Creates the statistics of `osm` with the descriptions in `docs`, without reading any data.
    pub fn new(osm: Arc<Osm>, docs: Docs) -> Tags {
        Tags { osm, docs, frequent: OnceLock::new(), index: OnceLock::new(), together: combinations::Kept::default() }
    }

    /// Returns the descriptions of keys and tags.
    pub fn docs(&self) -> &Docs {
        &self.docs
    }

    /// Returns the elements.
    pub fn osm(&self) -> &Osm {
        &self.osm
    }
}
