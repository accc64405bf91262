//! The values of a key.

use terrapin_osm::PairId;

use super::Tags;
use super::counts::{Counts, KINDS, Which};
use super::listed::{First, Listed, Part, sorted};
use super::needle::Needle;

/// What values are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueSorting {
    /// What fits the query best, then what is most frequent.
    Fit,
    /// Byte order of the values.
    Value,
    /// How many of the elements have them.
    Count,
}

/// Which values are listed, and in which order.
#[derive(Debug, Clone)]
pub struct ValuesWanted<'a> {
    /// Values that have this in them, whatever the case.
    pub query: &'a str,
    /// Those that these elements have.
    pub which: Which,
    /// What they are sorted by; byte order decides between equals.
    pub sorting: ValueSorting,
    /// Whether the greatest is first.
    pub descending: bool,
    /// Which of them.
    pub part: Part,
}

/// A value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// Its text.
    pub value: String,
    /// How many elements have it.
    pub counts: Counts,
}

impl Tags {
    /// How many elements have a tag; nobody has one that there is not.
    pub fn tag_counts(&self, key: &str, value: &str) -> Counts {
        self.osm.pair(key, value).map_or_else(Counts::default, |pair| self.counts_of_pair(pair))
    }

    pub(super) fn counts_of_pair(&self, pair: PairId) -> Counts {
        Counts(KINDS.map(|kind| self.osm.posting_len(kind, pair)))
    }

    /// The values of a key; none of one that there is not.
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
