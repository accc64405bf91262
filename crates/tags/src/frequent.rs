//! The most frequent tags, and a search for tags by substring.

use std::cmp::Ordering;
use std::sync::Arc;

use rayon::prelude::*;
use terrapin_budget as budget;
use terrapin_osm::{Osm, PairId};

use super::TagStatistics;
use super::counts::{TypeCounts, Which};
use super::listed::{Listed, PageCollector, RowPage, sorted};
use super::needle::Needle;

/// Number of tags in the cached list; 3.2 MB.
const MOST: usize = 100_000;

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagCount {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Number of elements with this tag.
    pub counts: TypeCounts,
}

/// The texts to search for in tags, as case-insensitive substrings; the empty text is in every other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagQuery<'a> {
    /// One text in the key and one in the value.
    Both {
        /// The text in the key.
        key: &'a str,
        /// The text in the value.
        value: &'a str,
    },
    /// A text in the key or in the value.
    Either(&'a str),
}

/// The sort order of tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagSorting {
    /// Number of elements, of the selected types; ties are in byte order of key and value.
    Count(Which),
    /// Byte order of the keys, then of the values.
    Key,
    /// Byte order of the values, then of the keys.
    Value,
}

/// Filter, sort order and page of a list of tags.
#[derive(Debug, Clone, Copy)]
pub struct TagsWanted<'a> {
    /// The texts in the tags.
    pub query: TagQuery<'a>,
    /// The sort order.
    pub sorting: TagSorting,
    /// Whether the order is descending.
    pub descending: bool,
    /// The rows to return.
    pub part: RowPage,
}

/// The sort key of a tag by its value.
#[derive(PartialEq, Eq)]
struct ValuePlace {
    value: Box<str>,
    pair: PairId,
    descending: bool,
}

impl Ord for ValuePlace {
    fn cmp(&self, other: &Self) -> Ordering {
        let ascending = (&self.value, self.pair).cmp(&(&other.value, other.pair));
        if self.descending { ascending.reverse() } else { ascending }
    }
}

impl PartialOrd for ValuePlace {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// An entry of the cached list.
#[derive(Debug, Clone, Copy)]
pub struct FrequentPair {
    pub pair: PairId,
    pub counts: TypeCounts,
}

impl TagStatistics {
    /// Returns a tag by its number.
    pub(super) fn tag(&self, pair: PairId) -> TagCount {
        let key = self.osm.key_name(self.osm.key_of(pair)).to_owned();
        TagCount { key, value: self.osm.with_value(pair, str::to_owned), counts: self.counts_of_pair(pair) }
    }

    /// Returns the number of distinct tags.
    pub fn tag_count(&self) -> u64 {
        pair_count(&self.osm).into()
    }

    /// Returns the most frequent tags, by descending count. The first caller builds the list within its own budget; it
    /// is then cached.
    pub(super) fn frequent(&self) -> Arc<[FrequentPair]> {
        if let Some(made) = self.frequent.get() {
            return Arc::clone(made);
        }
        let all = pair_count(&self.osm);
        let step = (Osm::VALUES_ON_PAGE * 64) as PairId;
        let starts: Vec<PairId> = (0..all).step_by(step as usize).collect();
        let current = budget::current();
        let merge = |mut a: Vec<FrequentPair>, mut b: Vec<FrequentPair>| {
            budget::charge((a.len() + b.len()) as u64 * size_of::<FrequentPair>() as u64);
            a.append(&mut b);
            cut(&mut a);
            a
        };
        let part = |&start: &PairId| {
            current.share(|| {
                let mut entries = Vec::with_capacity(step.min(all - start) as usize);
                let pairs = start..start.saturating_add(step).min(all);
                self.osm
                    .for_counts(pairs, |pair, counts| entries.push(FrequentPair { pair, counts: TypeCounts(counts) }));
                cut(&mut entries);
                entries
            })
        };
        let mut entries = starts.par_iter().map(part).reduce(Vec::new, |a, b| current.share(|| merge(a, b)));
        entries.sort_unstable_by_key(order);
        let made = budget::unwatched(|| entries.as_slice().into());
        // Another thread may have been faster; both built the same list.
        Arc::clone(self.frequent.get_or_init(|| made))
    }

    /// Lists tags.
    pub fn tags(&self, wanted: &TagsWanted<'_>) -> Listed<TagCount> {
        let TagsWanted { query, sorting, descending, part } = *wanted;
        let is_any = matches!(query, TagQuery::Both { key: "", value: "" } | TagQuery::Either(""));
        if is_any
            && sorting == TagSorting::Count(Which::All)
            && descending
            && part.take.is_some_and(|take| part.skip.saturating_add(take) <= MOST)
        {
            let frequent = self.frequent();
            let rows = frequent.iter().skip(part.skip).take(part.take.unwrap_or_default());
            return Listed { total: self.tag_count(), rows: rows.map(|entry| self.tag(entry.pair)).collect() };
        }
        match sorting {
            TagSorting::Count(which) => {
                let mut first = PageCollector::new(part);
                self.for_tags(query, |pair, counts| first.push((sorted(counts.of(which), descending), pair)));
                first.listed().map(|(_, pair)| self.tag(pair))
            }
            TagSorting::Key => {
                let mut first = PageCollector::new(part);
                // Inverted numbers sort in reverse.
                self.for_tags(query, |pair, _| first.push(if descending { !pair } else { pair }));
                first.listed().map(|pair| self.tag(if descending { !pair } else { pair }))
            }
            TagSorting::Value => {
                let mut first = PageCollector::new(part);
                self.for_tags(query, |pair, _| {
                    let value = self.osm.with_value(pair, str::to_owned).into_boxed_str();
                    budget::checkpoints(1 + value.len() / 16);
                    first.push(ValuePlace { value, pair, descending });
                });
                first.listed().map(|place| self.tag(place.pair))
            }
        }
    }

    /// Calls `add` for each tag that the query finds, in byte order.
    fn for_tags(&self, query: TagQuery<'_>, mut add: impl FnMut(PairId, TypeCounts)) {
        let (key, value) = match query {
            TagQuery::Both { key, value } => (key, value),
            TagQuery::Either(text) => (text, text),
        };
        let is_either = matches!(query, TagQuery::Either(_));
        let (in_key, in_value) = (Needle::new(key), Needle::new(value));
        for id in 0..self.osm.key_count() {
            budget::checkpoint();
            let fits_key = in_key.fits(self.osm.key_name(id)).is_some();
            if !fits_key && !is_either {
                continue;
            }
            if value.is_empty() || (fits_key && is_either) {
                self.osm.for_counts(self.osm.pairs_of(id), |pair, counts| add(pair, TypeCounts(counts)));
                continue;
            }
            self.osm.for_values(id, |pair, text| {
                if in_value.fits(text).is_some() {
                    add(pair, self.counts_of_pair(pair));
                }
            });
        }
    }
}

fn pair_count(osm: &Osm) -> PairId {
    osm.key_count().checked_sub(1).map_or(0, |last| osm.pairs_of(last).end)
}

fn order(entry: &FrequentPair) -> (u64, PairId) {
    (sorted(entry.counts.all(), true), entry.pair)
}

fn cut(entries: &mut Vec<FrequentPair>) {
    if entries.len() > MOST {
        entries.select_nth_unstable_by_key(MOST, order);
        entries.truncate(MOST);
    }
}
