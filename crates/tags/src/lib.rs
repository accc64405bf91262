//! Statistics of keys and tags of a snapshot: counts, values, combinations, roles of members and a text search. Counts
//! are the lengths of posting lists. Only combinations and roles are counted element by element. The crate may use
//! `osm`; it does not know query languages or HTTP. The server formats the answers as taginfo does.
//!
//! No data is read before the first request. Every scan runs within the budget of the caller. Caches are bounded;
//! `combinations.rs`, `frequent.rs`, `index.rs` and `relations.rs` state their limits.

mod characters;
mod combinations;
mod counts;
mod docs;
mod everyday;
mod frequent;
mod index;
mod keys;
mod listed;
mod needle;
mod relations;
mod search;
mod spans;
mod unused;
mod values;
mod words;

use std::sync::{Arc, OnceLock};

use terrapin_osm::Osm;

pub use characters::KeyCharacters;
pub use combinations::Combination;
pub use counts::{TypeCounts, Which, fraction};
pub use docs::{Docs, DocsError, DocsSource};
pub use frequent::{TagCount, TagQuery, TagSorting, TagsWanted};
pub use keys::{KeyFilter, KeySorting, KeyUsage, KeysWanted};
pub use listed::{Listed, RowPage};
pub use relations::{MemberRole, MemberRoles, RelationType, RelationTypeSorting, RoleSorting, RolesWanted};
pub use search::{TagMatch, TagMatches};
pub use values::{KeyValueUsage, ValueSorting, ValuesWanted};

/// The tags of a snapshot, with cached statistics.
pub struct TagStatistics {
    osm: Arc<Osm>,
    docs: Docs,
    frequent: OnceLock<Arc<[frequent::FrequentPair]>>,
    index: OnceLock<Arc<index::TagIndex>>,
    together: combinations::CombinationCache,
    roles: OnceLock<Arc<[relations::RoleEntry]>>,
    unused: OnceLock<Arc<[unused::UnusedKey]>>,
}

impl TagStatistics {
    /// Creates the statistics of `osm` with the descriptions in `docs`, without reading any data.
    pub fn new(osm: Arc<Osm>, docs: Docs) -> TagStatistics {
        TagStatistics {
            osm,
            docs,
            frequent: OnceLock::new(),
            index: OnceLock::new(),
            together: combinations::CombinationCache::default(),
            roles: OnceLock::new(),
            unused: OnceLock::new(),
        }
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
