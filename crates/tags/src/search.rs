//! `fast food that is vegan`: which tags a question in words is about. Lexical and without chance: the words of keys and
//! values, how rare they are, how much of a tag is asked for, how frequent it is, and what is found together with what
//! fits best.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use terrapin_budget as budget;
use terrapin_osm::{ElementType, PairId};

use super::Tags;
use super::counts::KINDS;
use super::frequent::Tag;
use super::index::{Doc, Index, WordId};
use super::keys::Key;
use super::words::Words;

/// Tags that are weighed again by what they are found with.
const AGAIN: usize = 40;
/// Longer lists are not compared for that.
const LONG: u64 = 1 << 20;

/// What each side of a match counts for. Found by trying on questions that nothing is measured by.
mod weights {
    /// A word of the key.
    pub const KEY: f64 = 0.6;
    /// The same where no word of the value is asked for.
    pub const KEY_ALONE: f64 = 0.3;
    /// A word of the description that is in neither.
    pub const TEXT: f64 = 0.35;
    /// How frequent the tag is, by the logarithm of its count.
    pub const COUNT: f64 = 0.7;
    /// A key of which few values are known.
    pub const TEXTS: f64 = 4.0;
    /// Each part of a key after the first.
    pub const PART: f64 = 0.4;
    /// Found together with what fits best, by the logarithm of how often.
    pub const TOGETHER: f64 = 0.3;
}

/// A tag that a question is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The tag.
    pub tag: Tag,
    /// How well it fits: the greater, the better; of use only beside the others.
    pub score: f64,
    /// How many elements have it and the first tag, where this was counted.
    pub together: Option<u64>,
}

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// How many tags there are that have one of the words.
    pub total: u64,
    /// Tags, the best first.
    pub tags: Vec<Match>,
    /// Keys whatever their value, the best first.
    pub keys: Vec<Key>,
}

/// A candidate.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    doc: u32,
    score: f64,
}

/// A question's words that the index knows: what each counts for.
type Wanted = FxHashMap<WordId, f64>;

impl Tags {
    /// The tags that a question is about, at most so many, and as many keys.
    pub fn search(&self, question: &str, most: usize) -> Found {
        let words = Words::new();
        let index = self.index(&words);
        let mut wanted = Wanted::default();
        for asked in words.asked(question) {
            if let Some(word) = index.word(&asked.stem) {
                wanted.insert(word, asked.weight * index.weight(word));
            }
        }
        let keys = self.best_keys(&index, &wanted, most);
        let mut best = candidates(&index, &wanted);
        let total = best.len() as u64;
        best.truncate(AGAIN.max(most));
        let together = self.weigh_together(&index, &wanted, &mut best);
        best.truncate(most);
        let tags = best.into_iter().map(|Candidate { doc, score }| Match {
            tag: self.tag(index.docs[doc as usize].pair),
            score,
            together: together.get(&doc).copied(),
        });
        Found { total, tags: tags.collect(), keys }
    }

    fn index(&self, words: &Words) -> Arc<Index> {
        if let Some(made) = self.index.get() {
            return Arc::clone(made);
        }
        let made = Index::make(&self.osm, &self.docs, words);
        // A copy that belongs to nobody.
        let made = budget::unwatched(|| Arc::new(made.clone()));
        Arc::clone(self.index.get_or_init(|| made))
    }

    fn best_keys(&self, index: &Index, wanted: &Wanted, most: usize) -> Vec<Key> {
        let places: FxHashSet<u32> = wanted.keys().flat_map(|word| index.keys_with_word(*word)).copied().collect();
        let mut scored: Vec<(f64, u32)> = places
            .into_iter()
            .map(|place| {
                budget::checkpoints(8);
                let key = &index.keys[place as usize];
                let own = index.words_of_key(key);
                let (got, all) = covered(index, wanted, &own);
                (got * (got / all).min(1.0) + weights::COUNT * libm::log(key.count.max(1) as f64) * (got / all), place)
            })
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.truncate(most);
        scored.into_iter().map(|(_, place)| self.key_of(index.keys[place as usize].key)).collect()
    }

    /// Raises what is found together with the best tag and says something that this one does not; tells how often.
    fn weigh_together(&self, index: &Index, wanted: &Wanted, best: &mut [Candidate]) -> FxHashMap<u32, u64> {
        let mut together = FxHashMap::default();
        let Some((first, others)) = best.split_first_mut() else { return together };
        let first = &index.docs[first.doc as usize];
        let said_first = said(index, first, wanted);
        for other in others.iter_mut() {
            let doc = &index.docs[other.doc as usize];
            let says_more = said(index, doc, wanted).iter().any(|word| !said_first.contains(word));
            if !says_more || doc.key == first.key || first.count.min(doc.count) > LONG {
                continue;
            }
            let count = self.both(first.pair, doc.pair);
            together.insert(other.doc, count);
            other.score += weights::TOGETHER * libm::log1p(count as f64);
        }
        others.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
        together
    }

    /// How many elements have both tags.
    fn both(&self, a: PairId, b: PairId) -> u64 {
        KINDS.into_iter().map(|kind| self.both_of(kind, a, b)).sum()
    }

    fn both_of(&self, kind: ElementType, a: PairId, b: PairId) -> u64 {
        let (a, b) = (self.osm.postings(kind, a), self.osm.postings(kind, b));
        let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        if short.is_empty() { 0 } else { long.among(&short.all(), true).len() as u64 }
    }
}

/// What of these words is asked for, and all of them: sums of what they tell.
fn covered(index: &Index, wanted: &Wanted, own: &[WordId]) -> (f64, f64) {
    let got = own.iter().filter_map(|word| wanted.get(word)).sum();
    let all = own.iter().map(|word| index.weight(*word)).sum::<f64>().max(f64::MIN_POSITIVE);
    (got, all)
}

/// The words of a tag and its key that are asked for.
fn said(index: &Index, doc: &Doc, wanted: &Wanted) -> Vec<WordId> {
    let mut words = index.words_of(doc);
    words.extend(index.words_of_key(&index.keys[doc.key as usize]));
    words.retain(|word| wanted.contains_key(word));
    words
}

/// Every tag that has a word which is asked for, the best first.
fn candidates(index: &Index, wanted: &Wanted) -> Vec<Candidate> {
    let mut docs: FxHashSet<u32> = wanted.keys().flat_map(|word| index.with_word(*word)).copied().collect();
    docs.extend(wanted.keys().flat_map(|word| index.with_word_in_text(*word)));
    let keys = wanted.keys().flat_map(|word| index.keys_with_word(*word));
    docs.extend(keys.flat_map(|&key| index.keys[key as usize].docs.clone()));
    let mut all: Vec<Candidate> = docs
        .into_iter()
        .map(|doc| {
            budget::checkpoints(8);
            Candidate { doc, score: score(index, wanted, doc) }
        })
        .collect();
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
    all
}

fn score(index: &Index, wanted: &Wanted, doc: u32) -> f64 {
    let doc = &index.docs[doc as usize];
    let key = &index.keys[doc.key as usize];
    let (mut got, mut all) = covered(index, wanted, &index.words_of(doc));
    let joined = doc.joined.and_then(|word| wanted.get(&word));
    if let Some(&joined) = joined
        && joined > got
    {
        (got, all) = (joined, joined);
    }
    let part = (got / all).min(1.0);
    let said = said(index, doc, wanted);
    let mut told: Vec<(WordId, f64)> = wanted.iter().map(|(word, weight)| (*word, *weight)).collect();
    told.retain(|(word, _)| !said.contains(word) && index.tells(doc, *word));
    // Sums of floats depend on their order.
    told.sort_unstable_by_key(|(word, _)| *word);
    let of_text: f64 = told.iter().map(|(_, weight)| weight).sum();
    // What its own words say is said.
    let mut rest = index.words_of_key(key);
    let own = index.words_of(doc);
    rest.retain(|word| !own.contains(word));
    let of_key = covered(index, wanted, &rest).0;
    got * part
        + if part > 0.0 { weights::KEY } else { weights::KEY_ALONE } * of_key
        + weights::TEXT * of_text
        + weights::COUNT * libm::log(doc.count.max(1) as f64) * part
        - weights::TEXTS * (1.0 - key.known)
        - weights::PART * (key.parts - 1) as f64
}
