//! The keys.

use terrapin_budget as budget;
use terrapin_osm::KeyId;

use super::counts::{Counts, KINDS, Which};
use super::docs::Docs;
use super::listed::{First, Listed, Part, Place, sorted};
use super::needle::Needle;
use super::{Tags, Value, ValueSorting, ValuesWanted};

/// What is asked of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyFilter {
    /// There is white space in it.
    Space,
    /// There is something in it that is likely to make trouble, such as `=` or a quotation mark.
    Problem,
    /// There is a description of it.
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

/// What keys are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySorting {
    /// What fits the query best, then what is most frequent.
    Fit,
    /// Byte order of the keys.
    Key,
    /// How many characters they have.
    Length,
    /// How many elements have them.
    Count(Which),
    /// How many values they have.
    Values,
}

/// Which keys are listed, and in which order.
#[derive(Debug, Clone)]
pub struct KeysWanted<'a> {
    /// Keys that have this in them, whatever the case.
    pub query: &'a str,
    /// What else is asked of them.
    pub filter: Option<KeyFilter>,
    /// What they are sorted by; byte order decides between equals.
    pub sorting: KeySorting,
    /// Whether the greatest is first.
    pub descending: bool,
    /// Which of them.
    pub part: Part,
}

/// A key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Its text.
    pub key: String,
    /// How many elements have it.
    pub counts: Counts,
    /// How many values it has.
    pub values: u64,
}

impl Tags {
    /// How many elements have a key; nobody has one that there is not.
    pub fn key_counts(&self, key: &str) -> Counts {
        self.osm.key(key).map_or_else(Counts::default, |key| self.counts_of_key(key))
    }

    pub(super) fn counts_of_key(&self, key: KeyId) -> Counts {
        Counts(KINDS.map(|kind| self.osm.key_posting_len(kind, key)))
    }

    /// How many values a key has on these elements.
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

    /// The keys.
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
            // The other way round from the end.
            KeySorting::Key => return (0, 0, if wanted.descending { !id } else { id }),
            KeySorting::Length => name.chars().count() as u64,
            KeySorting::Count(which) => self.counts_of_key(id).of(which),
            KeySorting::Values => self.osm.pairs_of(id).len() as u64,
        };
        (0, sorted(number, wanted.descending), id)
    }

    /// The values that one in a hundred of a key's elements has or more, the most frequent first.
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
