//! The names that have words, in the index of a snapshot.

use std::collections::HashMap;
use std::rc::Rc;

use terrapin_budget as budget;
use terrapin_osm::names::words as folded;
use terrapin_osm::{NameTable, Osm, PairId, Word};

use super::variants::variants;

/// Names that are followed to elements, of those said in full and of the others.
const NAMES: usize = 64;
/// Words that are followed where one is still being typed and nothing else is said.
const BEGINNINGS: usize = 256;
/// Letters of a word from which on it may have one slip, and two.
const SLIPS: [usize; 2] = [4, 8];
/// Letters of a word from which on it may be the beginning of another one, where nobody said that it is.
const BEGINS: usize = 3;
/// What a name is farther away for a slip in it than for words that were not said.
pub const LONGER: u8 = 2;

/// How words may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// As they stand.
    Whole,
    /// The last one may be the beginning of one.
    Typing,
    /// With slips.
    Slips,
}

/// A name that has all words, and how far it is from what was said: 0 is all of it and nothing else.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// Its number.
    pub name: u32,
    /// How far it is.
    pub distance: u8,
}

/// Names that have a word, ascending, with the slips in it.
type List = Rc<[(u32, u8)]>;

/// The names of a snapshot, and what was looked up in them so far.
pub struct Lists<'a> {
    osm: &'a Osm,
    pub names: &'a NameTable,
    /// Whether somebody is typing.
    typing: bool,
    lists: HashMap<(String, Mode), List>,
}

impl<'a> Lists<'a> {
    /// Nothing is looked up yet; `None` where the snapshot has no index of names.
    pub fn new(osm: &'a Osm, typing: bool) -> Option<Self> {
        Some(Lists { osm, names: osm.names()?, typing, lists: HashMap::new() })
    }

    /// The names that have all of these words: those that are said in full, then some others, the foremost first. `ends`
    /// says whether the last word is the last of all.
    pub fn named(&mut self, words: &[String], mode: Mode, ends: bool) -> Vec<Named> {
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
                full.push(Named { name, distance });
            } else if longer.len() < NAMES {
                longer.push(Named { name, distance: distance + 1 });
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
            // What stands in front of brackets is a name in full: `Halle (Saale)`.
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

    /// Whether one of several names in a value is said in full, or only a part of it; `None` where the words are of
    /// different names. The index knows them together.
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

    /// Whether a word may be the beginning of another one. Two letters begin too much that nobody means.
    fn may_begin(&self, word: &str) -> bool {
        self.typing || !word.is_ascii() || word.len() >= BEGINS
    }

    /// The names that have a word.
    fn list(&mut self, word: &str, mode: Mode, alone: bool) -> List {
        let key = (word.to_owned(), mode);
        if let Some(known) = self.lists.get(&key) {
            return Rc::clone(known);
        }
        let mut words: Vec<Word> = match mode {
            Mode::Whole => self.names.word(word).into_iter().collect(),
            Mode::Typing => {
                let mut words = self.names.beginning(word);
                if alone && words.len() > BEGINNINGS {
                    // The foremost names are among the lists that begin with the foremost.
                    words.sort_by_cached_key(|word| self.names.first(word));
                    words.truncate(BEGINNINGS);
                }
                words
            }
            Mode::Slips => {
                // Of numbers another one is meant.
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
