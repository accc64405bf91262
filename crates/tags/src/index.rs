//! An inverted index of the words of keys and tags. The first search builds it within its own budget; it is then
//! cached.
//!
//! The index does not contain every tag. A key with mostly free text as values (names, addresses, notes) is indexed
//! without values; of all other keys, the most frequent values are indexed.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use terrapin_budget as budget;
use terrapin_osm::{KeyId, Osm, PairId};

use super::counts::TypeCounts;
use super::docs::Docs;
use super::words::WordSplitter;

/// Maximum number of tags in the index, the most frequent first; about 20 MB.
const MOST: usize = 200_000;
/// Maximum number of indexed values per key.
const OF_KEY: usize = 1000;
/// A key with more distinct values than this counts as free text; its values are not examined.
const TEXTS: usize = 1 << 20;
/// Number of most frequent values that decide whether a key is free text.
const KNOWN: usize = 100;
/// If the [`KNOWN`] most frequent values cover less than this share of its elements, a key counts as free text.
const PART: f64 = 0.2;
/// Maximum length in bytes of an indexed value; longer values count as free text.
const LONGEST: usize = 64;
/// Maximum number of words of an indexed value; longer values count as free text.
const MOST_WORDS: usize = 6;

/// The number of a stem in the index.
pub type WordId = u32;

/// A tag in the index.
#[derive(Debug, Clone)]
pub struct Doc {
    pub pair: PairId,
    /// The position of the key in [`Index::keys`].
    pub key: u32,
    /// Number of elements with this tag.
    pub count: u64,
    /// The words of the value, as a range of [`Index::words`]. For the values `yes` and `only`: the words of the last
    /// part of the key.
    words: Range<u32>,
    /// The stem of the two words of the value written as one word.
    pub joined: Option<WordId>,
    /// The words of the description, ascending, as a range of [`Index::texts`].
    text: Range<u32>,
}

/// A key in the index.
#[derive(Debug, Clone)]
pub struct KeyDoc {
    pub key: KeyId,
    /// Number of elements with this key.
    pub count: u64,
    words: Range<u32>,
    /// Share of its elements that have one of the [`KNOWN`] most frequent values, from 0 to 1.
    pub known: f64,
    /// Number of parts of its name, separated by colons.
    pub parts: usize,
    /// Its tags.
    pub docs: Range<u32>,
}

/// An inverted index from words to tags and keys.
#[derive(Debug, Clone, Default)]
pub struct TagIndex {
    pub docs: Vec<Doc>,
    pub keys: Vec<KeyDoc>,
    numbers: FxHashMap<Box<str>, WordId>,
    words: Vec<WordId>,
    texts: Vec<WordId>,
    /// For each word, the tags with that word in their value.
    in_docs: Vec<Vec<u32>>,
    /// For each word, the tags with that word in their description.
    in_texts: Vec<Vec<u32>>,
    /// For each word, the keys with that word in their name.
    in_keys: Vec<Vec<u32>>,
}

/// A key and its values while the index is built.
struct GatheredKey {
    key: KeyId,
    count: u64,
    known: f64,
    tags: Vec<(u64, PairId)>,
}

impl TagIndex {
    /// Builds the index from all keys and their most frequent values.
    pub fn make(osm: &Osm, docs: &Docs, words: &WordSplitter) -> TagIndex {
        let mut gathered = gather(osm);
        keep_most_frequent(&mut gathered);
        let mut index = TagIndex::default();
        for GatheredKey { key, count, known, tags } in gathered {
            let name = osm.key_name(key);
            let own = index.number(&words.of(name));
            let last = index.number(&words.of(name.rsplit(':').next().unwrap_or_default()));
            let place = index.keys.len() as u32;
            let from = index.docs.len() as u32;
            for (count, pair) in tags {
                budget::checkpoints(32);
                osm.with_value(pair, |value| {
                    let text = docs.tag(name, value).unwrap_or_default();
                    index.add(words, &IndexedTag { pair, place, count, value, text }, &last);
                });
            }
            let tags = from..index.docs.len() as u32;
            for word in unique(&index.words[own.start as usize..own.end as usize]) {
                index.in_keys[word as usize].push(place);
            }
            index.keys.push(KeyDoc { key, count, words: own, known, parts: name.split(':').count(), docs: tags });
        }
        index
    }

    fn add(&mut self, words: &WordSplitter, tag: &IndexedTag<'_>, last: &Range<u32>) {
        let &IndexedTag { pair, place, count, value, text } = tag;
        if value.len() > LONGEST {
            return;
        }
        // `diet:vegan=yes` is indexed under `vegan`: its value has no meaning of its own.
        let speaks_for_key = matches!(value, "yes" | "only");
        let own = if speaks_for_key { Vec::new() } else { words.of(value) };
        if own.len() > MOST_WORDS || (own.is_empty() && (!speaks_for_key || last.is_empty())) {
            return;
        }
        let range = if speaks_for_key { last.clone() } else { self.number(&own) };
        let joined = words.joined(value).filter(|_| !speaks_for_key);
        let joined = joined.map(|stem| self.number(&[stem])).map(|range| self.words[range.start as usize]);
        let doc = self.docs.len() as u32;
        let mut all = unique(&self.words[range.start as usize..range.end as usize]);
        all.extend(joined.filter(|joined| !all.contains(joined)));
        for word in all {
            self.in_docs[word as usize].push(doc);
        }
        let text = self.number_text(doc, &words.of_text(text));
        self.docs.push(Doc { pair, key: place, count, words: range, joined, text });
    }

    fn number(&mut self, stems: &[String]) -> Range<u32> {
        let from = self.words.len() as u32;
        for stem in stems {
            let next = self.in_docs.len() as WordId;
            let number = *self.numbers.entry(stem.as_str().into()).or_insert(next);
            if number == next {
                self.in_docs.push(Vec::new());
                self.in_texts.push(Vec::new());
                self.in_keys.push(Vec::new());
            }
            self.words.push(number);
        }
        from..self.words.len() as u32
    }

    fn number_text(&mut self, doc: u32, stems: &[String]) -> Range<u32> {
        let numbered = self.number(stems);
        let mut text = unique(&self.words[numbered.start as usize..numbered.end as usize]);
        self.words.truncate(numbered.start as usize);
        text.sort_unstable();
        let from = self.texts.len() as u32;
        for &word in &text {
            self.in_texts[word as usize].push(doc);
        }
        self.texts.append(&mut text);
        from..self.texts.len() as u32
    }

    /// Returns the number of a stem, or `None` if no tag or key contains it.
    pub fn word(&self, stem: &str) -> Option<WordId> {
        self.numbers.get(stem).copied()
    }

    /// Returns the words of a tag's value, each once.
    pub fn words_of(&self, doc: &Doc) -> Vec<WordId> {
        unique(&self.words[doc.words.start as usize..doc.words.end as usize])
    }

    /// Returns the words of a key, each once.
    pub fn words_of_key(&self, key: &KeyDoc) -> Vec<WordId> {
        unique(&self.words[key.words.start as usize..key.words.end as usize])
    }

    /// Returns the tags with `word` in their value, ascending.
    pub fn with_word(&self, word: WordId) -> &[u32] {
        &self.in_docs[word as usize]
    }

    /// Returns the tags with `word` in their description, ascending.
    pub fn with_word_in_text(&self, word: WordId) -> &[u32] {
        &self.in_texts[word as usize]
    }

    /// Returns whether the description of a tag contains `word`.
    pub fn tells(&self, doc: &Doc, word: WordId) -> bool {
        self.texts[doc.text.start as usize..doc.text.end as usize].binary_search(&word).is_ok()
    }

    /// Returns the keys with `word` in their name, ascending.
    pub fn keys_with_word(&self, word: WordId) -> &[u32] {
        &self.in_keys[word as usize]
    }

    /// Returns the weight of a word: its inverse document frequency, greater for rarer words.
    pub fn weight(&self, word: WordId) -> f64 {
        let keys: usize = self.keys_with_word(word).iter().map(|&key| self.keys[key as usize].docs.len()).sum();
        let with = self.with_word(word).len() + self.with_word_in_text(word).len() + keys;
        libm::log(1.0 + self.docs.len() as f64 / (1.0 + with as f64))
    }
}

struct IndexedTag<'a> {
    pair: PairId,
    place: u32,
    count: u64,
    value: &'a str,
    /// The description, or an empty string.
    text: &'a str,
}

fn unique(words: &[WordId]) -> Vec<WordId> {
    let mut all: Vec<WordId> = Vec::with_capacity(words.len());
    words.iter().for_each(|word| {
        if !all.contains(word) {
            all.push(*word);
        }
    });
    all
}

/// Collects all keys with their most frequent values, on all threads.
fn gather(osm: &Osm) -> Vec<GatheredKey> {
    let current = budget::current();
    let of_key = |key: KeyId| {
        let pairs = osm.pairs_of(key);
        let count = super::counts::KINDS.map(|kind| osm.key_posting_len(kind, key)).iter().sum::<u64>();
        let mut tags: Vec<(u64, PairId)> = Vec::new();
        if pairs.len() <= TEXTS {
            budget::charge(pairs.len() as u64 * 16);
            tags.reserve_exact(pairs.len());
            osm.for_counts(pairs, |pair, counts| tags.push((TypeCounts(counts).all(), pair)));
            tags.sort_unstable_by_key(|&(count, pair)| (!count, pair));
        }
        let most: u64 = tags.iter().take(KNOWN).map(|(count, _)| count).sum();
        let known = super::counts::fraction(most, count);
        tags.truncate(if known < PART { 0 } else { OF_KEY });
        tags.shrink_to_fit();
        GatheredKey { key, count, known, tags }
    };
    (0..osm.key_count()).into_par_iter().map(|key| current.share(|| of_key(key))).collect()
}

/// Keeps at most [`MOST`] tags, by a minimum count that applies to all keys.
fn keep_most_frequent(gathered: &mut [GatheredKey]) {
    let mut with: BTreeMap<u64, usize> = BTreeMap::new();
    gathered.iter().flat_map(|key| &key.tags).for_each(|(count, _)| *with.entry(*count).or_default() += 1);
    let mut total = 0;
    let least = with.iter().rev().take_while(|(_, tags)| {
        total += **tags;
        total <= MOST
    });
    let least = least.last().map_or(u64::MAX, |(count, _)| *count);
    for key in gathered {
        let end = key.tags.partition_point(|(count, _)| *count >= least);
        key.tags.truncate(end);
    }
}
