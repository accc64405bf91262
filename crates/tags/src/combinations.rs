//! Combinations: the keys and tags of the elements that have a given key or tag. No posting list stores them; therefore
//! the tags of all these elements are counted, on several threads and within the budget of the caller. Results are
//! cached.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rustc_hash::FxHashMap;
use terrapin_budget as budget;
use terrapin_osm::{ElementType, KeyId, Ordinal, PairId, Postings};

use super::TagStatistics;
use super::counts::{TypeCounts, Which, fraction};
use super::spans::reduce_spans;

/// Maximum size in bytes of the result cache.
const KEPT: u64 = 16 << 20;
/// Number of ordinals that one task counts.
const SPAN: u64 = 1 << 18;
/// A tag is listed if at least one in this many of the elements has it. This leaves out names, which rarely repeat.
const RARE: u64 = 1000;

/// The key or the tag to count combinations of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Of {
    Key(KeyId),
    Pair(PairId),
}

/// A key or tag that occurs together with the given one.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// The other key.
    pub other_key: String,
    /// The other value; `None` for the key with any value.
    pub other_value: Option<String>,
    /// Number of elements with both.
    pub together: u64,
    /// Share of the given elements that also have the other key or tag, from 0 to 1.
    pub to_fraction: f64,
    /// Share of the elements with the other key or tag that also have the given one, from 0 to 1.
    pub from_fraction: f64,
}

/// The count of one other key or tag.
#[derive(Debug, Clone, Copy)]
struct CooccurrenceRow {
    other: Of,
    together: u64,
    /// Number of all elements with the other key or tag.
    whole: u64,
}

/// A cache of results, bounded by [`KEPT`] bytes.
pub(super) struct CombinationCache(Cache<(Of, Which), Arc<[CooccurrenceRow]>, ByBytes>);

#[derive(Clone)]
struct ByBytes;

impl Weighter<(Of, Which), Arc<[CooccurrenceRow]>> for ByBytes {
    fn weight(&self, _: &(Of, Which), rows: &Arc<[CooccurrenceRow]>) -> u64 {
        (rows.len() * size_of::<CooccurrenceRow>()) as u64 + 64
    }
}

impl Default for CombinationCache {
    fn default() -> Self {
        CombinationCache(Cache::with_weighter(256, KEPT, ByBytes))
    }
}

impl TagStatistics {
    /// Lists the keys that occur together with a key, by descending count.
    pub fn keys_with_key(&self, key: &str, which: Which) -> Vec<Combination> {
        self.osm.key(key).map_or_else(Vec::new, |key| self.found_with(Of::Key(key), which))
    }

    /// Lists the keys and tags that occur together with a tag, by descending count. Tags are listed if at least one in
    /// a thousand of the elements has them.
    pub fn tags_with_tag(&self, key: &str, value: &str, which: Which) -> Vec<Combination> {
        self.osm.pair(key, value).map_or_else(Vec::new, |pair| self.found_with(Of::Pair(pair), which))
    }

    fn found_with(&self, of: Of, which: Which) -> Vec<Combination> {
        let rows = self.together.0.get(&(of, which)).unwrap_or_else(|| {
            let rows = self.count(of, which);
            budget::unwatched(|| {
                let rows: Arc<[CooccurrenceRow]> = rows.as_slice().into();
                self.together.0.insert((of, which), Arc::clone(&rows));
                rows
            })
        });
        let all = self.counts_of(of).of(which);
        let worded = rows.iter().map(|row| {
            budget::checkpoint();
            let (other_key, other_value) = match row.other {
                Of::Key(key) => (self.osm.key_name(key).to_owned(), None),
                Of::Pair(pair) => {
                    let tag = self.tag(pair);
                    (tag.key, Some(tag.value))
                }
            };
            Combination {
                other_key,
                other_value,
                together: row.together,
                to_fraction: fraction(row.together, all),
                from_fraction: fraction(row.together, row.whole),
            }
        });
        worded.collect()
    }

    fn counts_of(&self, of: Of) -> TypeCounts {
        match of {
            Of::Key(key) => self.counts_of_key(key),
            Of::Pair(pair) => self.counts_of_pair(pair),
        }
    }

    fn count(&self, of: Of, which: Which) -> Vec<CooccurrenceRow> {
        let mut pairs = CombinationCounts::default();
        for kind in which.kinds() {
            let postings = match of {
                Of::Key(key) => self.osm.key_postings(kind, key),
                Of::Pair(pair) => self.osm.postings(kind, pair),
            };
            pairs = pairs.and(self.count_kind(of, kind, &postings));
        }
        let all = self.counts_of(of).of(which);
        let keys = pairs.keys.into_iter().map(|(key, together)| (Of::Key(key), together));
        let tags = pairs.tags.into_iter().filter(|(_, together)| *together > 0 && together * RARE >= all);
        let mut rows: Vec<CooccurrenceRow> = keys
            .chain(tags.map(|(pair, together)| (Of::Pair(pair), together)))
            .map(|(other, together)| CooccurrenceRow { other, together, whole: self.counts_of(other).of(which) })
            .collect();
        // Ties: keys before their tags, in byte order.
        let place = |of: Of| match of {
            Of::Key(key) => (self.osm.pairs_of(key).start, 0),
            Of::Pair(pair) => (pair, 1),
        };
        rows.sort_unstable_by_key(|row| (!row.together, place(row.other)));
        rows
    }

    fn count_kind(&self, of: Of, kind: ElementType, postings: &Postings<'_>) -> CombinationCounts {
        reduce_spans(&self.osm, kind, postings, SPAN, |list| self.count_list(of, kind, list), CombinationCounts::and)
    }

    fn count_list(&self, of: Of, kind: ElementType, list: &[Ordinal]) -> CombinationCounts {
        let mut found = CombinationCounts::default();
        let mut rest = list;
        while let Some(&first) = rest.first() {
            let (page, _) = self.osm.place(kind, first);
            let end = (u64::from(page) + 1) * self.osm.page_size(kind);
            let (here, others) = rest.split_at(rest.partition_point(|&ordinal| ordinal < end));
            let tags = self.osm.tag_page(kind, page);
            for &ordinal in here {
                let own = tags.tags(self.osm.place(kind, ordinal).1);
                budget::checkpoints(1 + own.len() * 4);
                own.iter().for_each(|&pair| self.add(of, pair, &mut found));
            }
            rest = others;
        }
        found
    }

    fn add(&self, of: Of, pair: PairId, found: &mut CombinationCounts) {
        match of {
            // Combinations of a key list keys alone; counting tags would only cost memory.
            Of::Key(own) => {
                let key = self.osm.key_of(pair);
                if key != own {
                    *found.keys.entry(key).or_default() += 1;
                }
            }
            Of::Pair(own) if own != pair => {
                *found.tags.entry(pair).or_default() += 1;
                *found.keys.entry(self.osm.key_of(pair)).or_default() += 1;
            }
            Of::Pair(_) => {}
        }
    }
}

/// Counts of elements by key and by tag.
#[derive(Default)]
struct CombinationCounts {
    keys: FxHashMap<KeyId, u64>,
    tags: FxHashMap<PairId, u64>,
}

impl CombinationCounts {
    fn and(mut self, mut other: CombinationCounts) -> CombinationCounts {
        if self.tags.len() + self.keys.len() < other.tags.len() + other.keys.len() {
            std::mem::swap(&mut self, &mut other);
        }
        for (key, count) in other.keys {
            *self.keys.entry(key).or_default() += count;
        }
        for (pair, count) in other.tags {
            *self.tags.entry(pair).or_default() += count;
        }
        self
    }
}
