//! Text search for tags, such as `fast food that is vegan`. The search is lexical and deterministic. A score depends on
//! the rarity of the matching words in key, value and description, and on the share of the tag that the query covers.
//! The count of the tag, and the number of elements that also have the best tag, add to it.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use terrapin_budget as budget;
use terrapin_osm::{ElementType, PairId};

use super::TagStatistics;
use super::counts::KINDS;
use super::frequent::TagCount;
use super::index::{Doc, TagIndex, WordId};
use super::keys::KeyUsage;
use super::words::WordSplitter;

/// Number of best tags that are scored again by their combination with the best one.
const AGAIN: usize = 40;
/// Combinations are not counted if the shorter posting list is longer than this.
const LONG: u64 = 1 << 20;

/// Weights of the parts of a score. They were tuned on questions that no benchmark uses.
mod weights {
    /// A matched word of the key, if a word of the value matches.
    pub const KEY: f64 = 0.6;
    /// A matched word of the key, if no word of the value matches.
    pub const KEY_ALONE: f64 = 0.3;
    /// A matched word of the description that neither key nor value contains.
    pub const TEXT: f64 = 0.35;
    /// The natural logarithm of the tag's count.
    pub const COUNT: f64 = 0.7;
    /// Penalty for a free-text key, times the share of its elements without a frequent value.
    pub const TEXTS: f64 = 4.0;
    /// Penalty for each part of the key after the first.
    pub const PART: f64 = 0.4;
    /// The logarithm of the number of elements that also have the best tag.
    pub const TOGETHER: f64 = 0.3;
}

/// A tag that matches a query.
#[derive(Debug, Clone, PartialEq)]
pub struct TagMatch {
    /// The tag.
    pub tag: TagCount,
    /// The score: greater is better. Comparable within one result only.
    pub score: f64,
    /// Number of elements that also have the best tag, if counted.
    pub together: Option<u64>,
}

/// The result of a text search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TagMatches {
    /// Number of tags with at least one word of the query.
    pub total: u64,
    /// Tags, best first.
    pub tags: Vec<TagMatch>,
    /// Keys with any value, best first.
    pub keys: Vec<KeyUsage>,
}

/// A tag with its score.
#[derive(Debug, Clone, Copy)]
struct ScoredTag {
    doc: u32,
    score: f64,
}

/// The words of a query that occur in the index, with their weights.
type Wanted = FxHashMap<WordId, f64>;

impl TagStatistics {
    /// Searches for tags by text. Returns at most `most` tags and `most` keys.
    pub fn search(&self, question: &str, most: usize) -> TagMatches {
        let words = WordSplitter::new();
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
        let tags = best.into_iter().map(|ScoredTag { doc, score }| TagMatch {
            tag: self.tag(index.docs[doc as usize].pair),
            score,
            together: together.get(&doc).copied(),
        });
        TagMatches { total, tags: tags.collect(), keys }
    }

    fn index(&self, words: &WordSplitter) -> Arc<TagIndex> {
        if let Some(made) = self.index.get() {
            return Arc::clone(made);
        }
        let made = TagIndex::make(&self.osm, &self.docs, words);
        // The cached copy is not charged to the budget of this query.
        let made = budget::unwatched(|| Arc::new(made.clone()));
        Arc::clone(self.index.get_or_init(|| made))
    }

    fn best_keys(&self, index: &TagIndex, wanted: &Wanted, most: usize) -> Vec<KeyUsage> {
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

    /// Raises the score of tags that occur together with the best tag and match a word of the query that it does not.
    /// Returns the number of elements with both, by tag.
    fn weigh_together(&self, index: &TagIndex, wanted: &Wanted, best: &mut [ScoredTag]) -> FxHashMap<u32, u64> {
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

    /// Returns the number of elements with both tags.
    fn both(&self, a: PairId, b: PairId) -> u64 {
        KINDS.into_iter().map(|kind| self.both_of(kind, a, b)).sum()
    }

    fn both_of(&self, kind: ElementType, a: PairId, b: PairId) -> u64 {
        let (a, b) = (self.osm.postings(kind, a), self.osm.postings(kind, b));
        let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        if short.is_empty() { 0 } else { long.among(&short.all(), true).len() as u64 }
    }
}

/// Returns the summed weight of the words in `own` that the query contains, and that of all words in `own`.
fn covered(index: &TagIndex, wanted: &Wanted, own: &[WordId]) -> (f64, f64) {
    let got = own.iter().filter_map(|word| wanted.get(word)).sum();
    let all = own.iter().map(|word| index.weight(*word)).sum::<f64>().max(f64::MIN_POSITIVE);
    (got, all)
}

/// Returns the words of a tag and its key that the query contains.
fn said(index: &TagIndex, doc: &Doc, wanted: &Wanted) -> Vec<WordId> {
    let mut words = index.words_of(doc);
    words.extend(index.words_of_key(&index.keys[doc.key as usize]));
    words.retain(|word| wanted.contains_key(word));
    words
}

/// Returns every tag with at least one word of the query, best first.
fn candidates(index: &TagIndex, wanted: &Wanted) -> Vec<ScoredTag> {
    let mut docs: FxHashSet<u32> = wanted.keys().flat_map(|word| index.with_word(*word)).copied().collect();
    docs.extend(wanted.keys().flat_map(|word| index.with_word_in_text(*word)));
    let keys = wanted.keys().flat_map(|word| index.keys_with_word(*word));
    docs.extend(keys.flat_map(|&key| index.keys[key as usize].docs.clone()));
    let mut all: Vec<ScoredTag> = docs
        .into_iter()
        .map(|doc| {
            budget::checkpoints(8);
            ScoredTag { doc, score: score(index, wanted, doc) }
        })
        .collect();
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
    all
}

fn score(index: &TagIndex, wanted: &Wanted, doc: u32) -> f64 {
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
    // A word in both key and value counts for the value only.
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
