//! Described keys that no element of the snapshot has, in one order with those of the snapshot.

use std::sync::Arc;

use terrapin_budget as budget;
use terrapin_osm::{KeyId, Osm};

use super::TagStatistics;

/// A described key that no element has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedKey {
    pub name: String,
    /// Position among all keys, those of the snapshot included, in byte order.
    pub rank: u32,
}

/// A key by its position in the common order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankedKey<'a> {
    /// A key of the snapshot.
    Used(KeyId),
    /// A described key that no element has.
    Unused(&'a str),
}

/// The keys of a snapshot in byte order, with or without the unused ones.
pub struct RankedKeys<'a> {
    osm: &'a Osm,
    unused: Arc<[UnusedKey]>,
}

impl RankedKeys<'_> {
    /// Returns the number of keys.
    pub fn len(&self) -> u32 {
        self.osm.key_count().saturating_add(u32::try_from(self.unused.len()).unwrap_or(u32::MAX))
    }

    /// Returns the key at a position.
    pub fn get(&self, rank: u32) -> RankedKey<'_> {
        match self.unused.binary_search_by_key(&rank, |key| key.rank) {
            Ok(at) => RankedKey::Unused(&self.unused[at].name),
            Err(before) => RankedKey::Used(rank - before as u32),
        }
    }
}

impl TagStatistics {
    pub(super) fn ranked_keys(&self, with_unused: bool) -> RankedKeys<'_> {
        let unused = if with_unused { self.unused_keys() } else { [].into() };
        RankedKeys { osm: &self.osm, unused }
    }

    /// Returns the described keys that no element has, in byte order. The first caller finds them within its budget.
    fn unused_keys(&self) -> Arc<[UnusedKey]> {
        if let Some(made) = self.unused.get() {
            return Arc::clone(made);
        }
        let mut names: Vec<&str> = Vec::new();
        for name in self.docs.keys() {
            budget::checkpoints(16);
            if self.osm.key(name).is_none() {
                names.push(name);
            }
        }
        names.sort_unstable();
        let mut unused = Vec::with_capacity(names.len());
        let mut used: KeyId = 0;
        for (before, name) in names.into_iter().enumerate() {
            while used < self.osm.key_count() && self.osm.key_name(used) < name {
                budget::checkpoint();
                used += 1;
            }
            unused.push(UnusedKey { name: name.to_owned(), rank: used + before as u32 });
        }
        // The cached copy is not charged to the budget of this query.
        let made = budget::unwatched(|| unused.as_slice().into());
        Arc::clone(self.unused.get_or_init(|| made))
    }
}
