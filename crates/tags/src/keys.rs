//! Lists and counts of keys.

use terrapin_budget as budget;
use terrapin_osm::KeyId;

use super::counts::{Counts, KINDS, Which};
use super::docs::Docs;
use super::listed::{First, Listed, Part, Place, sorted};
use super::needle::Needle;
use super::{Tags, Value, ValueSorting, ValuesWanted};

/// A condition on a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyFilter {
    /// The key contains white space.
    Space,
    /// The key contains a character that often causes errors, such as `=`, a quotation mark or a control character.
    Problem,
    /// The key has a description.
    Described,
}

impl KeyFilter {
    fn takes(self, key: &str, docs: &Docs) -> bool {
        match self {
            KeyFilter::Space => key.contains(char::is_whitespace),
            KeyFilter::Problem => key.contains(|c: char| c.is_control() || "=+/&<>;'\"?%#@\\,".contains(c)),
            KeyFilter::Described => docs.key(key).is_some(),
        }
    }
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
}

/// Filter, sort order and page of a list of keys.
#[derive(Debug, Clone)]
pub struct KeysWanted<'a> {
    /// Case-insensitive substring of the keys; empty for all.
    pub query: &'a str,
    /// A further condition on the keys.
    pub filter: Option<KeyFilter>,
    /// The sort order; ties are in byte order.
    pub sorting: KeySorting,
    /// Whether the order is descending.
    pub descending: bool,
    /// The rows to return.
    pub part: Part,
}

/// A key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The key as text.
    pub key: String,
    /// Number of elements with this key.
    pub counts: Counts,
    /// Number of distinct values.
    pub values: u64,
}

impl Tags {
    /// Returns the number of elements with a key: 0 if the key does not occur.
    pub fn key_counts(&self, key: &str) -> Counts {
        self.osm.key(key).map_or_else(Counts::default, |key| self.counts_of_key(key))
    }

    pub(super) fn counts_of_key(&self, key: KeyId) -> Counts {
        Counts(KINDS.map(|kind| self.osm.key_posting_len(kind, key)))
    }

    /// Returns the number of distinct values of a key on the selected element types.
    pub fn key_values(&self, key: &str, which: Which) -> u64 {
        let Some(id) = self.osm.key(key) else { return 0 };
        if which == Which::All {
            return self.osm.pairs_of(id).len() as u64;
        }
        let mut values = 0;
        self.osm.for_counts(self.osm.pairs_of(id), |_, counts| values += u64::from(Counts(counts).of(which) > 0));
        values
    }

    pub(super) fn key_of(&self, id: KeyId) -> Key {
        let (counts, values) = (self.counts_of_key(id), self.osm.pairs_of(id).len() as u64);
        Key { key: self.osm.key_name(id).to_owned(), counts, values }
    }

    /// Lists the keys.
    pub fn keys(&self, wanted: &KeysWanted<'_>) -> Listed<Key> {
        let needle = Needle::new(wanted.query);
        let mut first = First::new(wanted.part);
        for id in 0..self.osm.key_count() {
            budget::checkpoint();
            let name = self.osm.key_name(id);
            let Some(fit) = needle.fits(name) else { continue };
            if wanted.filter.is_none_or(|filter| filter.takes(name, &self.docs)) {
                first.push(self.place(wanted, id, name, fit));
            }
        }
        let from_end = wanted.descending && wanted.sorting == KeySorting::Key;
        first.listed().map(|(_, _, id)| self.key_of(if from_end { !id } else { id }))
    }

    fn place(&self, wanted: &KeysWanted<'_>, id: KeyId, name: &str, fit: u8) -> Place {
        let number = match wanted.sorting {
            KeySorting::Fit => return (fit, sorted(self.counts_of_key(id).all(), true), id),
            // Inverted numbers sort in reverse; `keys` inverts them back.
            KeySorting::Key => return (0, 0, if wanted.descending { !id } else { id }),
            KeySorting::Length => name.chars().count() as u64,
            KeySorting::Count(which) => self.counts_of_key(id).of(which),
            KeySorting::Values => self.osm.pairs_of(id).len() as u64,
        };
        (0, sorted(number, wanted.descending), id)
    }

    /// Returns the values that at least 1 % of the key's elements have, by descending count; at most 100.
    pub fn prevalent(&self, key: &str, which: Which) -> Vec<Value> {
        const MOST: usize = 100;
        let wanted = ValuesWanted {
            query: "",
            which,
            sorting: ValueSorting::Count,
            descending: true,
            part: Part { skip: 0, take: Some(MOST) },
        };
        let all = self.key_counts(key).of(which);
        let mut values = self.values(key, &wanted).rows;
        values.retain(|value| value.counts.of(which) * 100 >= all);
        values
    }
}
