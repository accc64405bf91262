//! The values of a key.

use terrapin_osm::PairId;

use super::TagStatistics;
use super::counts::{KINDS, TypeCounts, Which};
use super::listed::{Listed, PageCollector, RowPage, sorted};
use super::needle::Needle;

/// The sort order of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSorting {
    /// Best match first, then descending count.
    Fit,
    /// Byte order of the values.
    Value,
    /// Number of elements, of the types that are counted.
    Count,
    /// Number of elements of these types, whatever is counted.
    CountOf(Which),
    /// Whether the tag has a description.
    Described,
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
    pub part: RowPage,
}

/// A value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyValueUsage {
    /// The value as text.
    pub value: String,
    /// Number of elements with this value.
    pub counts: TypeCounts,
}

impl TagStatistics {
    /// Returns the number of elements with a tag: 0 if the tag does not occur.
    pub fn tag_counts(&self, key: &str, value: &str) -> TypeCounts {
        self.osm.pair(key, value).map_or_else(TypeCounts::default, |pair| self.counts_of_pair(pair))
    }

    pub(super) fn counts_of_pair(&self, pair: PairId) -> TypeCounts {
        TypeCounts(KINDS.map(|kind| self.osm.posting_len(kind, pair)))
    }

    /// Lists the values of a key; the list is empty if the key does not occur.
    pub fn values(&self, key: &str, wanted: &ValuesWanted<'_>) -> Listed<KeyValueUsage> {
        let mut first = PageCollector::new(wanted.part);
        let Some(id) = self.osm.key(key) else { return Listed { total: 0, rows: Vec::new() } };
        let needle = Needle::new(wanted.query);
        let from_end = wanted.descending && wanted.sorting == ValueSorting::Value;
        let mut add = |pair: PairId, counts: TypeCounts, fit: u8, is_described: bool| {
            let count = counts.of(wanted.which);
            if count > 0 {
                let place = |number: u64| (0, sorted(number, wanted.descending), pair);
                first.push(match wanted.sorting {
                    ValueSorting::Fit => (fit, sorted(count, true), pair),
                    ValueSorting::Value => (0, 0, if wanted.descending { !pair } else { pair }),
                    ValueSorting::Count => place(count),
                    ValueSorting::CountOf(which) => place(counts.of(which)),
                    ValueSorting::Described => place(is_described.into()),
                });
            }
        };
        let pairs = self.osm.pairs_of(id);
        let by_description = wanted.sorting == ValueSorting::Described;
        if wanted.query.is_empty() && !by_description {
            self.osm.for_counts(pairs, |pair, counts| add(pair, TypeCounts(counts), 0, false));
        } else {
            self.osm.for_values(id, |pair, value| {
                if let Some(fit) = needle.fits(value) {
                    let is_described = by_description && self.docs.tag(key, value).is_some();
                    add(pair, self.counts_of_pair(pair), fit, is_described);
                }
            });
        }
        first.listed().map(|(_, _, pair)| {
            let pair = if from_end { !pair } else { pair };
            KeyValueUsage { value: self.osm.with_value(pair, str::to_owned), counts: self.counts_of_pair(pair) }
        })
    }
}
