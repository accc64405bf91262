//! Lists and counts of keys.

use terrapin_budget as budget;
use terrapin_osm::KeyId;

use super::characters::KeyCharacters;
use super::counts::{KINDS, TypeCounts, Which, fraction};
use super::listed::{Listed, PageCollector, Place, RowPage, sorted};
use super::needle::Needle;
use super::unused::RankedKey;
use super::{KeyValueUsage, TagStatistics, ValueSorting, ValuesWanted};

/// A condition on a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyFilter {
    /// The key belongs to this category.
    Characters(KeyCharacters),
    /// The key has a description.
    Described,
    /// The key has no description.
    Undescribed,
    /// No element has the key.
    Unused,
    /// At least this number of elements have the key.
    AtLeast(u64),
}

/// The sort order of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySorting {
    /// Best match first, then descending count.
    Fit,
    /// Byte order of the keys.
    Key,
    /// Length in characters.
    Length,
    /// Number of elements, of the selected types.
    Count(Which),
    /// Number of distinct values.
    Values,
    /// Whether the key has a description.
    Described,
}

/// Filter, sort order and page of a list of keys.
#[derive(Debug, Clone)]
pub struct KeysWanted<'a> {
    /// Case-insensitive substring of the keys; empty for all.
    pub query: &'a str,
    /// Further conditions on the keys; all must hold.
    pub filters: &'a [KeyFilter],
    /// Whether described keys that no element has are listed.
    pub with_unused: bool,
    /// The sort order; ties are in byte order.
    pub sorting: KeySorting,
    /// Whether the order is descending.
    pub descending: bool,
    /// The rows to return.
    pub part: RowPage,
}

/// A key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUsage {
    /// The key as text.
    pub key: String,
    /// Number of elements with this key.
    pub counts: TypeCounts,
    /// Number of distinct values.
    pub values: u64,
}

impl TagStatistics {
    /// Returns the number of elements with a key: 0 if the key does not occur.
    pub fn key_counts(&self, key: &str) -> TypeCounts {
        self.osm.key(key).map_or_else(TypeCounts::default, |key| self.counts_of_key(key))
    }

    pub(super) fn counts_of_key(&self, key: KeyId) -> TypeCounts {
        TypeCounts(KINDS.map(|kind| self.osm.key_posting_len(kind, key)))
    }

    /// Returns the number of distinct values of a key on the selected element types.
    pub fn key_values(&self, key: &str, which: Which) -> u64 {
        let Some(id) = self.osm.key(key) else { return 0 };
        if which == Which::All {
            return self.osm.pairs_of(id).len() as u64;
        }
        let mut values = 0;
        self.osm.for_counts(self.osm.pairs_of(id), |_, counts| values += u64::from(TypeCounts(counts).of(which) > 0));
        values
    }

    pub(super) fn key_of(&self, id: KeyId) -> KeyUsage {
        let (counts, values) = (self.counts_of_key(id), self.osm.pairs_of(id).len() as u64);
        KeyUsage { key: self.osm.key_name(id).to_owned(), counts, values }
    }

    /// Lists the keys.
    pub fn keys(&self, wanted: &KeysWanted<'_>) -> Listed<KeyUsage> {
        let needle = Needle::new(wanted.query);
        let keys = self.ranked_keys(wanted.with_unused);
        let mut first = PageCollector::new(wanted.part);
        for rank in 0..keys.len() {
            budget::checkpoint();
            let key = keys.get(rank);
            let name = self.name_of(key);
            let Some(fit) = needle.fits(name) else { continue };
            if wanted.filters.iter().all(|filter| self.takes(*filter, key, name)) {
                first.push(self.place(wanted, rank, key, fit));
            }
        }
        let from_end = wanted.descending && wanted.sorting == KeySorting::Key;
        first.listed().map(|(_, _, rank)| match keys.get(if from_end { !rank } else { rank }) {
            RankedKey::Used(id) => self.key_of(id),
            RankedKey::Unused(name) => KeyUsage { key: name.to_owned(), counts: TypeCounts::default(), values: 0 },
        })
    }

    fn name_of<'a>(&'a self, key: RankedKey<'a>) -> &'a str {
        match key {
            RankedKey::Used(id) => self.osm.key_name(id),
            RankedKey::Unused(name) => name,
        }
    }

    fn takes(&self, filter: KeyFilter, key: RankedKey<'_>, name: &str) -> bool {
        match filter {
            KeyFilter::Characters(category) => KeyCharacters::of(name) == category,
            KeyFilter::Described => self.docs.key(name).is_some(),
            KeyFilter::Undescribed => self.docs.key(name).is_none(),
            KeyFilter::Unused => matches!(key, RankedKey::Unused(_)),
            KeyFilter::AtLeast(least) => match key {
                RankedKey::Used(id) => self.counts_of_key(id).all() >= least,
                RankedKey::Unused(_) => least == 0,
            },
        }
    }

    fn place(&self, wanted: &KeysWanted<'_>, rank: u32, key: RankedKey<'_>, fit: u8) -> Place {
        let count = |which| match key {
            RankedKey::Used(id) => self.counts_of_key(id).of(which),
            RankedKey::Unused(_) => 0,
        };
        let number = match wanted.sorting {
            KeySorting::Fit => return (fit, sorted(count(Which::All), true), rank),
            // Inverted numbers sort in reverse; `keys` inverts them back.
            KeySorting::Key => return (0, 0, if wanted.descending { !rank } else { rank }),
            KeySorting::Length => self.name_of(key).chars().count() as u64,
            KeySorting::Count(which) => count(which),
            KeySorting::Values => match key {
                RankedKey::Used(id) => self.osm.pairs_of(id).len() as u64,
                RankedKey::Unused(_) => 0,
            },
            KeySorting::Described => self.docs.key(self.name_of(key)).is_some().into(),
        };
        (0, sorted(number, wanted.descending), rank)
    }

    /// Returns the values that at least `min_fraction` of the key's elements have, by descending count. There are at
    /// most `1 / min_fraction`.
    pub fn prevalent(&self, key: &str, which: Which, min_fraction: f64) -> Vec<KeyValueUsage> {
        let all = self.key_counts(key).of(which);
        let wanted = ValuesWanted {
            query: "",
            which,
            sorting: ValueSorting::Count,
            descending: true,
            part: RowPage { skip: 0, take: Some((1.0 / min_fraction).ceil() as usize) },
        };
        let mut values = self.values(key, &wanted).rows;
        values.retain(|value| fraction(value.counts.of(which), all) >= min_fraction);
        values
    }
}
