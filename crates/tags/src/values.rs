//! The values of a key.

use terrapin_osm::PairId;

use super::Tags;
use super::counts::{Counts, KINDS, Which};
use super::listed::{First, Listed, Part, sorted};
use super::needle::Needle;

/// The sort order of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSorting {
    /// Best match first, then descending count.
    Fit,
    /// Byte order of the values.
    Value,
    /// Number of elements, of the selected types.
    Count,
}

/// Filter, sort order and page of a list of values.
#[derive(Debug, Clone)]
pub struct ValuesWanted<'a> {
    /// Case-insensitive substring of the values; empty for all.
    pub query: &'a str,
    /// Element types to count; values with a count of 0 are left out.
    pub which: Which,
    /// The sort order; ties are in byte order.
    pub sorting: ValueSorting,
    /// Whether the order is descending.
    pub descending: bool,
    /// The rows to return.
    pub part: Part,
}

/// A value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// The value as text.
    pub value: String,
    /// Number of elements with this value.
    pub counts: Counts,
}

impl Tags {
    /// Returns the number of elements with a tag: 0 if the tag does not occur.
    pub fn tag_counts(&self, key: &str, value: &str) -> Counts {
        self.osm.pair(key, value).map_or_else(Counts::default, |pair| self.counts_of_pair(pair))
    }

    pub(super) fn counts_of_pair(&self, pair: PairId) -> Counts {
        Counts(KINDS.map(|kind| self.osm.posting_len(kind, pair)))
    }

    /// Lists the values of a key; the list is empty if the key does not occur.
    pub fn values(&self, key: &str, wanted: &ValuesWanted<'_>) -> Listed<Value> {
        let mut first = First::new(wanted.part);
        let Some(key) = self.osm.key(key) else { return Listed { total: 0, rows: Vec::new() } };
        let needle = Needle::new(wanted.query);
        let from_end = wanted.descending && wanted.sorting == ValueSorting::Value;
        let mut add = |pair: PairId, counts: Counts, fit: u8| {
            let count = counts.of(wanted.which);
            if count > 0 {
                first.push(match wanted.sorting {
                    ValueSorting::Fit => (fit, sorted(count, true), pair),
                    ValueSorting::Value => (0, 0, if wanted.descending { !pair } else { pair }),
                    ValueSorting::Count => (0, sorted(count, wanted.descending), pair),
                });
            }
        };
        let pairs = self.osm.pairs_of(key);
        if wanted.query.is_empty() {
            self.osm.for_counts(pairs, |pair, counts| add(pair, Counts(counts), 0));
        } else {
            self.osm.for_values(key, |pair, value| {
                if let Some(fit) = needle.fits(value) {
                    add(pair, self.counts_of_pair(pair), fit);
                }
            });
        }
        first.listed().map(|(_, _, pair)| {
            let pair = if from_end { !pair } else { pair };
            Value { value: self.osm.with_value(pair, str::to_owned), counts: self.counts_of_pair(pair) }
        })
    }
}
