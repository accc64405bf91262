//! Which keys and tags a snapshot has, how often, and together with which others. Counts come from posting lists, which
//! know them; only what is found together is counted element by element. May use `osm`; knows nothing of query languages,
//! and nothing of HTTP: how taginfo words an answer is for the server to say.
//!
//! Nothing is read before somebody asks. All that walks data does so within the budget of who asks; what is kept of it is
//! bounded: `combinations.rs`, `frequent.rs` and `index.rs` say by what.

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

/// The tags of a snapshot, and what was found out about them so far.
pub struct Tags {
    osm: Arc<Osm>,
    docs: Docs,
    frequent: OnceLock<Arc<[frequent::Entry]>>,
    index: OnceLock<Arc<index::Index>>,
    together: combinations::Kept,
}

impl Tags {
    /// The tags of these elements, and what they mean. Reads nothing.
    pub fn new(osm: Arc<Osm>, docs: Docs) -> Tags {
        Tags { osm, docs, frequent: OnceLock::new(), index: OnceLock::new(), together: combinations::Kept::default() }
    }

    /// What keys and tags mean.
    pub fn docs(&self) -> &Docs {
        &self.docs
    }

    /// The elements.
    pub fn osm(&self) -> &Osm {
        &self.osm
    }
}
