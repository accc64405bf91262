//! Compiles tag filters to tests on the pairs of an element, and to sources of elements.
//!
//! A filter is compiled once per query. `[k=v]` becomes one pair. A regular expression becomes the pairs of its key
//! whose values it matches, found by matching each distinct value of the key once. If there are few elements to test
//! and the key has many values, only the values of these elements are matched, each once.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex::Regex;

use crate::sorted;
use crate::syntax::{FilterKind, Regex as Pattern, Tag, posix};
use terrapin_budget as budget;
use terrapin_osm::{ElementType, KeyId, Ordinal, Osm, PairId, PostingScope, Postings};

/// For a key with at most this many values, a regular expression is always matched against all values at once.
const EAGER_VALUES: u64 = 512;
/// For a longer list of pairs, the postings of the key are used instead of those of the pairs.
const MANY_PAIRS: usize = 4096;

/// One tag filter.
pub struct TagTest {
    /// The filter holds if one of these does. Ascending by range, without overlaps.
    alternatives: Vec<KeyTest>,
    /// If set, the filter holds if none of the alternatives does.
    negated: bool,
}

/// The accepted values of one key.
#[derive(Clone)]
struct KeyTest {
    key: KeyId,
    /// The key's pairs.
    range: Range<PairId>,
    accept: PairAcceptance,
}

#[derive(Clone)]
enum PairAcceptance {
    Any,
    One(PairId),
    Listed(Arc<[PairId]>),
    Lazy(Arc<Lazy>),
}

/// A regular expression that is matched against a value when the value first occurs, once per value.
struct Lazy {
    regex: Regex,
    first: PairId,
    /// The results by pair, in blocks of [`KNOWN`], allocated on first use: 0 is unknown, 1 does not match, 2 matches.
    known: Box<[OnceLock<Box<[AtomicU8]>>]>,
}

/// The number of pairs per block of results. A key may have as many pairs as there are elements.
const KNOWN: usize = 1 << 12;

impl Lazy {
    fn new(regex: Regex, range: &Range<PairId>) -> Lazy {
        let known = std::iter::repeat_with(OnceLock::new).take(range.len().div_ceil(KNOWN)).collect();
        Lazy { regex, first: range.start, known }
    }

    fn matches(&self, osm: &Osm, pair: PairId) -> bool {
        let Some(place) = pair.checked_sub(self.first).map(|place| place as usize) else { return false };
        let Some(some) = self.known.get(place / KNOWN) else { return false };
        let some = some.get_or_init(|| std::iter::repeat_with(AtomicU8::default).take(KNOWN).collect());
        let known = &some[place % KNOWN];
        match known.load(Ordering::Relaxed) {
            0 => {
                let matches = osm.with_value(pair, |value| self.regex.is_match(value));
                known.store(1 + matches as u8, Ordering::Relaxed);
                matches
            }
            state => state == 2,
        }
    }
}

/// The results for tags in this query: a script often has the same filter on nodes, ways and relations.
#[derive(Default)]
pub struct TagMemo {
    by_pattern: Mutex<BTreeMap<(KeyId, PatternName), PairAcceptance>>,
    keys: Mutex<BTreeMap<PatternName, Arc<[KeyId]>>>,
    compiled: Mutex<BTreeMap<PatternName, Option<Regex>>>,
}

impl TagMemo {
    /// Returns the compiled pattern. A pattern on values is often used for hundreds of keys.
    fn compile(&self, pattern: &Pattern) -> Option<Regex> {
        let name = (pattern.pattern.clone(), pattern.ignore_case);
        lock(&self.compiled).entry(name).or_insert_with(|| compile(pattern)).clone()
    }
}

/// A pattern, and whether it ignores case.
type PatternName = (String, bool);

/// Locks the mutex even if another thread panicked while it held the lock: the maps are always consistent.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Compiles a pattern that the parser has already compiled once. Returns `None` if it fails here.
pub fn compile(pattern: &Pattern) -> Option<Regex> {
    budget::checkpoint();
    posix::compile(&pattern.pattern, pattern.ignore_case).ok()
}

impl KeyTest {
    fn of_key(
        osm: &Osm,
        name: &str,
        accept: impl FnOnce(KeyId, Range<PairId>) -> Option<PairAcceptance>,
    ) -> Vec<KeyTest> {
        let Some(key) = osm.key(name) else { return Vec::new() };
        let range = osm.pairs_of(key);
        accept(key, range.clone()).map(|accept| KeyTest { key, range, accept }).into_iter().collect()
    }

    /// Returns whether an element with these tags has this key with an accepted value.
    fn holds(&self, osm: &Osm, tags: &[PairId]) -> bool {
        match &self.accept {
            PairAcceptance::One(pair) => tags.contains(pair),
            accept => {
                let Some(&pair) = tags.iter().find(|&&pair| pair >= self.range.start) else { return false };
                pair < self.range.end
                    && match accept {
                        PairAcceptance::Any => true,
                        PairAcceptance::One(one) => pair == *one,
                        PairAcceptance::Listed(pairs) => pairs.binary_search(&pair).is_ok(),
                        PairAcceptance::Lazy(lazy) => lazy.matches(osm, pair),
                    }
            }
        }
    }

    /// Returns whether the accepted elements are those of one posting list.
    fn is_list(&self) -> bool {
        matches!(self.accept, PairAcceptance::One(_) | PairAcceptance::Any)
    }

    /// Returns an upper bound of the number of accepted elements.
    fn most(&self, osm: &Osm, kind: ElementType) -> u64 {
        match &self.accept {
            PairAcceptance::One(pair) => osm.posting_len(kind, *pair),
            PairAcceptance::Listed(pairs) if pairs.len() <= MANY_PAIRS => {
                pairs.iter().map(|&pair| osm.posting_len(kind, pair)).sum()
            }
            _ => osm.key_posting_len(kind, self.key),
        }
    }

    /// Appends the accepted elements within a scope. Returns true if there may be others among them.
    fn elements(&self, osm: &Osm, kind: ElementType, scope: PostingScope<'_>, into: &mut Vec<Ordinal>) -> bool {
        match &self.accept {
            PairAcceptance::One(pair) => into.extend_from_slice(&osm.postings(kind, *pair).part(scope)),
            PairAcceptance::Listed(pairs) if pairs.len() <= MANY_PAIRS => {
                for &pair in pairs.iter() {
                    if osm.posting_len(kind, pair) > 0 {
                        into.extend_from_slice(&osm.postings(kind, pair).part(scope));
                    }
                }
            }
            accept => {
                into.extend_from_slice(&osm.key_postings(kind, self.key).part(scope));
                return !matches!(accept, PairAcceptance::Any);
            }
        }
        false
    }

    /// Returns the posting list of the accepted elements, if one list contains exactly these.
    fn list<'a>(&self, osm: &'a Osm, kind: ElementType) -> Option<Postings<'a>> {
        match &self.accept {
            PairAcceptance::One(pair) => Some(osm.postings(kind, *pair)),
            PairAcceptance::Any => Some(osm.key_postings(kind, self.key)),
            _ => None,
        }
    }
}

/// The elements of a source.
pub struct TagCandidates {
    /// The elements.
    pub elements: Arc<[Ordinal]>,
    /// Whether the test that is their source must still be applied.
    pub still_to_test: bool,
}

impl TagTest {
    /// Compiles a tag filter. Returns `None` for other filters, and for a tag filter that always holds. `candidates` is
    /// the approximate number of elements to test.
    pub fn compile(osm: &Osm, memo: &TagMemo, filter: &FilterKind, candidates: u64) -> Option<TagTest> {
        let FilterKind::Tag(tag) = filter else { return None };
        let (alternatives, negated) = match tag {
            Tag::HasKey { key } => (KeyTest::of_key(osm, key, |_, _| Some(PairAcceptance::Any)), false),
            Tag::NotKey { key } => (KeyTest::of_key(osm, key, |_, _| Some(PairAcceptance::Any)), true),
            Tag::Equals { key, value } => (equals(osm, key, value), false),
            Tag::NotEquals { key, value } => (equals(osm, key, value), true),
            Tag::Matches { key, value } => (matches(osm, memo, key, value, candidates), false),
            Tag::NotMatches { key, value } => (matches(osm, memo, key, value, candidates), true),
            Tag::KeyMatches { key, value } => (key_matches(osm, memo, key, value, candidates), false),
            Tag::KeyNotMatches { key, value } => (key_matches(osm, memo, key, value, candidates), true),
        };
        Some(TagTest { alternatives, negated })
    }

    /// Returns whether an element with these tags passes.
    pub fn holds(&self, osm: &Osm, tags: &[PairId]) -> bool {
        let any = match self.alternatives.as_slice() {
            [] => false,
            [one] => one.holds(osm, tags),
            many => tags.iter().any(|&pair| {
                let at = many.partition_point(|a| a.range.end <= pair);
                many.get(at).is_some_and(|a| a.range.start <= pair && a.holds(osm, std::slice::from_ref(&pair)))
            }),
        };
        any != self.negated
    }

    /// Returns whether no element can pass.
    pub fn never(&self) -> bool {
        !self.negated && self.alternatives.is_empty()
    }

    /// Returns whether every element passes.
    pub fn always(&self) -> bool {
        self.negated && self.alternatives.is_empty()
    }

    /// Returns whether the reference accepts the test as selective enough to test all elements. This is a required tag,
    /// or a forbidden tag that some element has.
    pub fn is_strong(&self, osm: &Osm, kind: ElementType) -> bool {
        !self.negated || self.alternatives.iter().any(|a| a.most(osm, kind) > 0)
    }

    /// Returns an upper bound of the number of elements that pass; `None` if the test is no source of elements.
    pub fn most(&self, osm: &Osm, kind: ElementType) -> Option<u64> {
        (!self.negated).then(|| self.alternatives.iter().map(|a| a.most(osm, kind)).sum())
    }

    /// Returns the number of elements that pass, if it is known without reading any.
    pub fn count(&self, osm: &Osm, kind: ElementType) -> Option<u64> {
        match self.alternatives.as_slice() {
            _ if self.negated => None,
            [] => Some(0),
            [one] => one.list(osm, kind).map(|list| list.len()),
            _ => None,
        }
    }

    /// Returns whether the elements that pass are those of one posting list.
    pub fn is_list(&self) -> bool {
        !self.negated && matches!(self.alternatives.as_slice(), [one] if one.is_list())
    }

    /// Returns the posting list that decides the test, and whether elements must not be in it. Returns `None` if there
    /// is no such single list, or if it has more than `longest` elements.
    pub fn posting<'a>(&self, osm: &'a Osm, kind: ElementType, longest: u64) -> Option<(Postings<'a>, bool)> {
        let [one] = self.alternatives.as_slice() else { return None };
        if !one.is_list() || one.most(osm, kind) > longest {
            return None;
        }
        Some((one.list(osm, kind)?, self.negated))
    }

    /// Returns the elements of a type within a scope that pass, from the posting lists of its tags. Must not be called
    /// for a negated test: no posting list has its elements, and [`TagTest::most`] returns `None` for it.
    pub fn source(&self, osm: &Osm, kind: ElementType, scope: PostingScope<'_>) -> TagCandidates {
        if let [one] = self.alternatives.as_slice()
            && let Some(list) = one.list(osm, kind)
        {
            return TagCandidates { elements: list.part(scope), still_to_test: false };
        }
        let mut elements = Vec::new();
        let mut still_to_test = false;
        for alternative in &self.alternatives {
            still_to_test |= alternative.elements(osm, kind, scope, &mut elements);
        }
        TagCandidates { elements: sorted::from_unsorted(elements).into(), still_to_test }
    }
}

fn equals(osm: &Osm, key: &str, value: &str) -> Vec<KeyTest> {
    KeyTest::of_key(osm, key, |_, _| osm.pair(key, value).map(PairAcceptance::One))
}

fn matches(osm: &Osm, memo: &TagMemo, key: &str, pattern: &Pattern, candidates: u64) -> Vec<KeyTest> {
    KeyTest::of_key(osm, key, |id, range| accepted(osm, memo, id, range, pattern, candidates))
}

/// Returns whether the pattern matches every value, including the empty one, and whether it matches every non-empty
/// value.
fn matches_all(pattern: &str) -> (bool, bool) {
    let body = pattern.strip_prefix('^').unwrap_or(pattern);
    let body = body.strip_suffix('$').unwrap_or(body);
    let all = body == ".*" || matches!(pattern, "" | "^" | "$");
    (all, all || body == ".+" || pattern == ".")
}

/// The characters with a special meaning in a pattern, except `|`.
const SPECIAL: &str = r"\.[](){}*+?^$";

/// Returns the values of a pattern that is a plain list of values, such as `^(a|b)$`.
fn plain_values(pattern: &Pattern) -> Option<Vec<&str>> {
    if pattern.ignore_case {
        return None;
    }
    let body = pattern.pattern.strip_prefix('^')?.strip_suffix('$')?;
    let in_brackets = body.strip_prefix('(').and_then(|b| b.strip_suffix(')'));
    // In `^a|b$`, each alternative has only one anchor.
    if in_brackets.is_none() && body.contains('|') {
        return None;
    }
    let list = in_brackets.unwrap_or(body);
    (!list.contains(|c| SPECIAL.contains(c))).then(|| list.split('|').collect())
}

/// Returns the accepted values of a key; `None` if the pattern matches none.
fn accepted(
    osm: &Osm,
    memo: &TagMemo,
    key: KeyId,
    range: Range<PairId>,
    pattern: &Pattern,
    candidates: u64,
) -> Option<PairAcceptance> {
    let (every, every_but_empty) = matches_all(&pattern.pattern);
    if every || every_but_empty && osm.pair(osm.key_name(key), "").is_none() {
        return Some(PairAcceptance::Any);
    }
    if let Some(values) = plain_values(pattern) {
        let mut pairs: Vec<PairId> = values.iter().filter_map(|v| osm.pair(osm.key_name(key), v)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        return listed(pairs.into(), &range);
    }
    match tested(osm, memo, key, &range, pattern, candidates)? {
        PairAcceptance::Listed(pairs) => listed(pairs, &range),
        other => Some(other),
    }
}

/// Returns the simplest way to accept some of a key's pairs, which are ascending.
fn listed(pairs: Arc<[PairId]>, range: &Range<PairId>) -> Option<PairAcceptance> {
    match *pairs {
        [] => None,
        [one] => Some(PairAcceptance::One(one)),
        _ if pairs.len() == range.len() => Some(PairAcceptance::Any),
        _ => Some(PairAcceptance::Listed(pairs)),
    }
}

/// Matches the pattern against the key's values. Matches all values at once; if there are many values and fewer
/// candidates, matches each value when it first occurs. The result is cached.
fn tested(
    osm: &Osm,
    memo: &TagMemo,
    key: KeyId,
    range: &Range<PairId>,
    pattern: &Pattern,
    candidates: u64,
) -> Option<PairAcceptance> {
    let name = (key, (pattern.pattern.clone(), pattern.ignore_case));
    let values = range.len() as u64;
    let lazily = values > EAGER_VALUES && candidates < values;
    // If there are enough elements to test now, matching all values is worthwhile after all.
    let usable = |known: &PairAcceptance| lazily || !matches!(known, PairAcceptance::Lazy(_));
    let known = lock(&memo.by_pattern).get(&name).cloned();
    if let Some(known) = known.filter(usable) {
        return Some(known);
    }
    let regex = memo.compile(pattern)?;
    let accept = match lazily {
        true => PairAcceptance::Lazy(Arc::new(Lazy::new(regex, range))),
        false => PairAcceptance::Listed(matching(osm, key, &regex)),
    };
    lock(&memo.by_pattern).insert(name, accept.clone());
    Some(accept)
}

/// Returns a key's pairs with matching values, ascending.
fn matching(osm: &Osm, key: KeyId, regex: &Regex) -> Arc<[PairId]> {
    let mut pairs = Vec::new();
    osm.for_values(key, |pair, value| {
        if regex.is_match(value) {
            pairs.push(pair);
        }
    });
    pairs.into()
}

/// Compiles `[~key~value]`.
fn key_matches(osm: &Osm, memo: &TagMemo, key: &Pattern, value: &Pattern, candidates: u64) -> Vec<KeyTest> {
    let name = (key.pattern.clone(), key.ignore_case);
    let known = lock(&memo.keys).get(&name).cloned();
    let keys = match known {
        Some(keys) => keys,
        None => {
            let Some(regex) = memo.compile(key) else { return Vec::new() };
            let keys: Arc<[KeyId]> = (0..osm.key_count()).filter(|&id| regex.is_match(osm.key_name(id))).collect();
            lock(&memo.keys).insert(name, keys.clone());
            keys
        }
    };
    let test = |&key: &KeyId| {
        let range = osm.pairs_of(key);
        accepted(osm, memo, key, range.clone(), value, candidates).map(|accept| KeyTest { key, range, accept })
    };
    keys.iter().filter_map(test).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern { pattern: text.to_owned(), ignore_case: false }
    }

    #[test]
    fn patterns_that_need_no_matching() {
        assert_eq!(matches_all(".*"), (true, true));
        assert_eq!(matches_all("^.*$"), (true, true));
        assert_eq!(matches_all("."), (false, true));
        assert_eq!(matches_all(".+"), (false, true));
        assert_eq!(matches_all("a.*"), (false, false));
        assert_eq!(plain_values(&pattern("^(bar|pub)$")), Some(vec!["bar", "pub"]));
        assert_eq!(plain_values(&pattern("^bar$")), Some(vec!["bar"]));
        assert_eq!(plain_values(&pattern("^bar|pub$")), None);
        assert_eq!(plain_values(&pattern("^(bar|pu.)$")), None);
        assert_eq!(plain_values(&pattern("bar")), None);
        assert_eq!(plain_values(&pattern("^(a|(b))$")), None);
    }
}
