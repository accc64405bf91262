//! Looks up names by their words in the index of a snapshot.

use std::collections::HashMap;
use std::rc::Rc;

use terrapin_budget as budget;
use terrapin_osm::names::words as folded;
use terrapin_osm::{IndexWord, NameTable, Osm, PairId};

use super::variants::variants;

/// Maximum number of names to return, of full matches and of others.
const NAMES: usize = 64;
/// Maximum number of words for a prefix that is the whole query.
const BEGINNINGS: usize = 256;
/// Minimum length in letters of a word that may have one misspelled letter, and two.
const SLIPS: [usize; 2] = [4, 8];
/// Minimum length in letters of a prefix in a complete text.
const BEGINS: usize = 3;
/// Distance of one misspelled letter. Additional words of a name have the distance 1.
pub const LONGER: u8 = 2;

/// How words of the query match words of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Whole words.
    Whole,
    /// The last word may be a prefix.
    Typing,
    /// Words may be misspelled.
    Slips,
}

/// A name with all words, and its distance from the query: 0 for a full match.
#[derive(Debug, Clone, Copy)]
pub struct NameDistance {
    /// Its number in the index.
    pub name: u32,
    /// Its distance.
    pub distance: u8,
}

/// Names with a word, ascending, each with the number of misspelled letters.
type List = Rc<[(u32, u8)]>;

/// The index of names, with a cache of lists.
pub struct NameLists<'a> {
    osm: &'a Osm,
    pub names: &'a NameTable,
    /// Whether the text is incomplete.
    typing: bool,
    lists: HashMap<(String, Mode), List>,
}

impl<'a> NameLists<'a> {
    /// Opens the index; `None` if the snapshot has none.
    pub fn new(osm: &'a Osm, typing: bool) -> Option<Self> {
        Some(NameLists { osm, names: osm.names()?, typing, lists: HashMap::new() })
    }

    /// Returns the names with all of these words: full matches, then others, by rank. `ends` is true if the last word
    /// is the last of the query.
    pub fn named(&mut self, words: &[String], mode: Mode, ends: bool) -> Vec<NameDistance> {
        let Some((last, others)) = words.split_last() else { return Vec::new() };
        let typed = mode == Mode::Typing;
        if typed && (!ends || !self.may_begin(last)) {
            return self.named(words, Mode::Whole, false);
        }
        let mut lists: Vec<List> =
            others.iter().map(|word| self.list(word, if typed { Mode::Whole } else { mode }, false)).collect();
        lists.push(self.list(last, mode, others.is_empty()));
        lists.sort_by_key(|list| list.len());
        let Some((shortest, rest)) = lists.split_first() else { return Vec::new() };
        let (mut full, mut longer) = (Vec::new(), Vec::new());
        for &(name, slips) in shortest.iter() {
            budget::checkpoint();
            let Some(slips) = rest.iter().try_fold(slips, |slips, list| {
                let at = list.binary_search_by_key(&name, |entry| entry.0).ok()?;
                Some(slips.saturating_add(list[at].1))
            }) else {
                continue;
            };
            let (_, count) = self.names.name(name);
            let distance = slips.saturating_mul(LONGER);
            if count <= words.len() || typed {
                full.push(NameDistance { name, distance });
            } else if longer.len() < NAMES {
                longer.push(NameDistance { name, distance: distance + 1 });
            }
            if full.len() == NAMES && longer.len() == NAMES {
                break;
            }
        }
        full.sort_by_key(|named| (named.distance, named.name));
        full.truncate(NAMES);
        if mode == Mode::Whole {
            full.retain_mut(|named| {
                let (pair, _) = self.names.name(named.name);
                let fits = self.fits(pair, words);
                named.distance += u8::from(fits == Some(false));
                fits.is_some()
            });
            // The text before brackets is a full name: `Halle (Saale)`.
            for named in &mut longer {
                let (pair, _) = self.names.name(named.name);
                let is_full = self
                    .osm
                    .with_value(pair, |value| value.split_once('(').is_some_and(|(front, _)| folded(front) == words));
                named.distance -= u8::from(is_full && named.distance > 0);
            }
        }
        full.append(&mut longer);
        full
    }

    /// Returns whether one of several names in a value matches in full (`true`) or in part; `None` if the words belong
    /// to different names. The index has the words of all names of a value.
    fn fits(&self, pair: PairId, said: &[String]) -> Option<bool> {
        self.osm.with_value(pair, |value| {
            if !value.contains(';') {
                return Some(true);
            }
            let has =
                |name: &[String], word: &String| name.contains(word) || variants(word).iter().any(|w| name.contains(w));
            if folded(value) == said {
                return Some(false);
            }
            let names = value.split(';').map(folded).filter(|name| said.iter().all(|word| has(name, word)));
            names.map(|name| name.len() <= said.len()).max()
        })
    }

    /// Returns whether a word may be a prefix. Two letters have too many matches in a complete text.
    fn may_begin(&self, word: &str) -> bool {
        self.typing || !word.is_ascii() || word.len() >= BEGINS
    }

    /// Returns the names with a word.
    fn list(&mut self, word: &str, mode: Mode, alone: bool) -> List {
        let key = (word.to_owned(), mode);
        if let Some(known) = self.lists.get(&key) {
            return Rc::clone(known);
        }
        let mut words: Vec<IndexWord> = match mode {
            Mode::Whole => self.names.word(word).into_iter().collect(),
            Mode::Typing => {
                let mut words = self.names.beginning(word);
                if alone && words.len() > BEGINNINGS {
                    // Names are numbered by rank: the best names are in lists with the lowest first number.
                    words.sort_by_cached_key(|word| self.names.first(word));
                    words.truncate(BEGINNINGS);
                }
                words
            }
            Mode::Slips => {
                // A number with another digit is another number.
                let letters = word.chars().take_while(|c| !c.is_ascii_digit()).count();
                let most = SLIPS.iter().filter(|&&least| letters >= least).count() as u8;
                let mut words = if most > 0 { self.names.near("", word, most) } else { Vec::new() };
                if words.is_empty() {
                    words.extend(self.names.word(word));
                }
                words
            }
        };
        words.extend(variants(word).iter().filter_map(|other| self.names.word(other)));
        let list: List = match &words[..] {
            [only] => self.names.list(only).into_iter().map(|name| (name, only.edits)).collect(),
            words => {
                let mut all: Vec<(u32, u8)> = Vec::new();
                for word in words {
                    all.extend(self.names.list(word).into_iter().map(|name| (name, word.edits)));
                }
                all.sort_unstable();
                all.dedup_by_key(|entry| entry.0);
                all.into()
            }
        };
        self.lists.insert(key, Rc::clone(&list));
        list
    }
}
