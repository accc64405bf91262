//! The most frequent tags, and a search for tags by substring.

use std::sync::Arc;

use rayon::prelude::*;
use terrapin_budget as budget;
use terrapin_osm::{Osm, PairId};

use super::Tags;
use super::counts::{Counts, Which};
use super::listed::{First, Listed, Part, sorted};
use super::needle::Needle;

/// Number of tags in the cached list; 3.2 MB.
const MOST: usize = 100_000;

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Number of elements with this tag.
    pub counts: Counts,
}

/// An entry of the cached list.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub pair: PairId,
    pub counts: Counts,
}

impl Tags {
    /// Returns a tag by its number.
    pub(super) fn tag(&self, pair: PairId) -> Tag {
        let key = self.osm.key_name(self.osm.key_of(pair)).to_owned();
        Tag { key, value: self.osm.with_value(pair, str::to_owned), counts: self.counts_of_pair(pair) }
    }

    /// Returns the number of distinct tags.
    pub fn tag_count(&self) -> u64 {
        pair_count(&self.osm).into()
    }

    /// Returns the most frequent tags, by descending count. The first caller builds the list within its own budget; it
    /// is then cached.
    pub(super) fn frequent(&self) -> Arc<[Entry]> {
        if let Some(made) = self.frequent.get() {
            return Arc::clone(made);
        }
        let all = pair_count(&self.osm);
        let step = (Osm::VALUES_ON_PAGE * 64) as PairId;
        let starts: Vec<PairId> = (0..all).step_by(step as usize).collect();
        let current = budget::current();
        let merge = |mut a: Vec<Entry>, mut b: Vec<Entry>| {
            budget::charge((a.len() + b.len()) as u64 * size_of::<Entry>() as u64);
            a.append(&mut b);
            cut(&mut a);
            a
        };
        let part = |&start: &PairId| {
            current.share(|| {
                let mut entries = Vec::with_capacity(step.min(all - start) as usize);
                let pairs = start..start.saturating_add(step).min(all);
                self.osm.for_counts(pairs, |pair, counts| entries.push(Entry { pair, counts: Counts(counts) }));
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

    /// Lists the tags with `key` and `value` as case-insensitive substrings. The order is by the count of `sorting`, or
    /// by key and value if it is `None`.
    pub fn tags(&self, key: &str, value: &str, sorting: Option<Which>, descending: bool, part: Part) -> Listed<Tag> {
        let by_count = sorting == Some(Which::All) && descending && key.is_empty() && value.is_empty();
        if by_count && part.take.is_some_and(|take| part.skip.saturating_add(take) <= MOST) {
            let frequent = self.frequent();
            let rows = frequent.iter().skip(part.skip).take(part.take.unwrap_or_default());
            return Listed { total: self.tag_count(), rows: rows.map(|entry| self.tag(entry.pair)).collect() };
        }
        let place = |pair: PairId, counts: Counts| match sorting {
            Some(which) => (0, sorted(counts.of(which), descending), pair),
            None if descending => (0, 0, !pair),
            None => (0, 0, pair),
        };
        let (in_key, in_value) = (Needle::new(key), Needle::new(value));
        let mut first = First::new(part);
        for id in 0..self.osm.key_count() {
            budget::checkpoint();
            if in_key.fits(self.osm.key_name(id)).is_none() {
                continue;
            }
            if value.is_empty() {
                self.osm.for_counts(self.osm.pairs_of(id), |pair, counts| first.push(place(pair, Counts(counts))));
                continue;
            }
            self.osm.for_values(id, |pair, text| {
                if in_value.fits(text).is_some() {
                    first.push(place(pair, self.counts_of_pair(pair)));
                }
            });
        }
        let from_end = sorting.is_none() && descending;
        first.listed().map(|(_, _, pair)| self.tag(if from_end { !pair } else { pair }))
    }
}

fn pair_count(osm: &Osm) -> PairId {
    osm.key_count().checked_sub(1).map_or(0, |last| osm.pairs_of(last).end)
}

fn order(entry: &Entry) -> (u64, PairId) {
    (sorted(entry.counts.all(), true), entry.pair)
}

fn cut(entries: &mut Vec<Entry>) {
    if entries.len() > MOST {
        entries.select_nth_unstable_by_key(MOST, order);
        entries.truncate(MOST);
    }
}
