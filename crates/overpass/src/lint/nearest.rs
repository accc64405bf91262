//! Finds the keys and values of the data that are nearest to one that does not occur, within the query's limits.

use std::cmp::Reverse;
use std::fmt;
use std::ops::ControlFlow;

use terrapin_base::untrusted;
use terrapin_budget::{Budget, ExceededLimit};
use terrapin_osm::{ElementType, KeyId, Osm, PairId};

/// The maximum number of suggestions.
const NAMED: usize = 3;
/// The maximum length of a word. Longer words are unlikely to be misspelt, and comparing them is slow.
const LONGEST: usize = 60;
/// A key with at most this many values is assumed to have words as values, not names.
const WORDS: usize = 1000;
/// The maximum number of values of a key to compare. For keys with more, such as names, only the first are compared.
const COMPARED: u32 = 200_000;
/// The number of words between two checks of the limits.
const LOOK: usize = 1024;

/// A key or a tag of the data that may have been meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagSuggestion {
    /// The key.
    pub key: String,
    /// The value, if a tag is suggested.
    pub value: Option<String>,
    /// The number of elements that have it.
    pub count: u64,
}

impl TagSuggestion {
    fn of_tag(osm: &Osm, pair: PairId, value: String) -> TagSuggestion {
        let key = osm.key_name(osm.key_of(pair)).to_owned();
        TagSuggestion { key, value: Some(value), count: count(osm, pair) }
    }
}

/// Writes one line, such as `amenity=cafe (4)` or `amenity (12)`.
impl fmt::Display for TagSuggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TagSuggestion { key, value, count } = self;
        match value {
            Some(value) => write!(f, "{} ({count})", untrusted::line(&format!("{key}={value}"))),
            None => write!(f, "{} ({count})", untrusted::line(key)),
        }
    }
}

/// Returns the keys nearest to a word, with the number of elements of each.
pub fn keys(osm: &Osm, word: &str, budget: &Budget) -> Result<Vec<TagSuggestion>, ExceededLimit> {
    let candidates = (0..osm.key_count()).map(|key| (osm.key_name(key).to_owned(), key));
    let near = nearest(word, candidates, budget)?;
    let counted = near.into_iter().map(|(distance, name, key)| {
        let count = ElementType::ALL.iter().map(|kind| osm.key_posting_len(*kind, key)).sum();
        (distance, TagSuggestion { key: name, value: None, count })
    });
    Ok(by_count(counted))
}

/// Returns the values of a key that are nearest to a word. If none is near and the key has few values, returns its most
/// frequent ones.
pub fn values(osm: &Osm, key: KeyId, word: &str, budget: &Budget) -> Result<Vec<TagSuggestion>, ExceededLimit> {
    let pairs = osm.pairs_of(key);
    let mut candidates = Vec::new();
    let last = pairs.start.saturating_add(COMPARED);
    let length = word.chars().count();
    each_value(osm, key, budget, |pair, value| {
        if pair >= last {
            return false;
        }
        if value.len().abs_diff(length) <= 3 * length.max(1) {
            candidates.push((value.to_owned(), pair));
        }
        true
    })?;
    let few = candidates.len() <= 50;
    let near = nearest(word, candidates.iter().cloned(), budget)?;
    let near = if near.is_empty() && few { candidates.into_iter().map(|(v, p)| (0, v, p)).collect() } else { near };
    Ok(by_count(near.into_iter().map(|(distance, value, pair)| (distance, TagSuggestion::of_tag(osm, pair, value)))))
}

/// Returns the tags that have a value under another key.
pub fn elsewhere(osm: &Osm, value: &str, budget: &Budget) -> Result<Vec<TagSuggestion>, ExceededLimit> {
    let mut tags = Vec::new();
    for key in 0..osm.key_count() {
        if (key as usize).is_multiple_of(LOOK) {
            budget.check()?;
        }
        tags.extend(osm.pair(osm.key_name(key), value));
    }
    Ok(by_count(tags.into_iter().map(|pair| (0, TagSuggestion::of_tag(osm, pair, value.to_owned())))))
}

/// Returns tags whose value is near to a word that does not occur. Considers only keys that have words as values.
pub fn near_elsewhere(osm: &Osm, word: &str, budget: &Budget) -> Result<Vec<TagSuggestion>, ExceededLimit> {
    let length = word.chars().count();
    if !(5..=LONGEST).contains(&length) {
        return Ok(Vec::new());
    }
    let mut candidates = Vec::new();
    for key in (0..osm.key_count()).filter(|key| osm.pairs_of(*key).len() <= WORDS) {
        each_value(osm, key, budget, |pair, value| {
            if value.chars().count().abs_diff(length) <= 2 {
                candidates.push((value.to_owned(), pair));
            }
            true
        })?;
    }
    let near = nearest(word, candidates.into_iter(), budget)?;
    Ok(by_count(near.into_iter().map(|(distance, value, pair)| (distance, TagSuggestion::of_tag(osm, pair, value)))))
}

/// Calls `f` with the values of a key until it returns false.
fn each_value(
    osm: &Osm,
    key: KeyId,
    budget: &Budget,
    mut f: impl FnMut(PairId, &str) -> bool,
) -> Result<(), ExceededLimit> {
    let mut seen = 0_usize;
    let stopped = osm.try_for_values(key, |pair, value| {
        if seen.is_multiple_of(LOOK)
            && let Err(exceeded) = budget.check()
        {
            return ControlFlow::Break(Some(exceeded));
        }
        seen += 1;
        if f(pair, value) { ControlFlow::Continue(()) } else { ControlFlow::Break(None) }
    });
    match stopped {
        ControlFlow::Break(Some(exceeded)) => Err(exceeded),
        _ => Ok(()),
    }
}

/// Returns the number of elements with a tag.
pub fn count(osm: &Osm, pair: PairId) -> u64 {
    ElementType::ALL.iter().map(|kind| osm.posting_len(*kind, pair)).sum()
}

/// Returns the candidates near enough to be meant, with their distances.
fn nearest<T>(
    word: &str,
    candidates: impl Iterator<Item = (String, T)>,
    budget: &Budget,
) -> Result<Vec<(usize, String, T)>, ExceededLimit> {
    let plain = |text: &str| text.to_lowercase().replace([' ', '-', ':'], "_");
    let wanted = plain(word);
    let length = wanted.chars().count();
    if length > LONGEST {
        return Ok(Vec::new());
    }
    let allowed = match length {
        0..=2 => 1,
        3..=6 => 2,
        _ => 3,
    };
    let near = |(text, what): (String, T)| {
        let candidate = plain(&text);
        if candidate.chars().count().abs_diff(length) > allowed {
            return None;
        }
        let distance = strsim::osa_distance(&wanted, &candidate);
        (distance <= allowed).then_some((distance, text, what))
    };
    let mut found: Vec<(usize, String, T)> = Vec::new();
    for (index, candidate) in candidates.enumerate() {
        if index.is_multiple_of(LOOK) {
            budget.check()?;
        }
        found.extend(near(candidate));
    }
    let mut near = found;
    if let Some(least) = near.iter().map(|(distance, ..)| *distance).min() {
        near.retain(|(distance, ..)| *distance <= least + 1);
    }
    Ok(near)
}

/// Returns the first suggestions: the nearest, of equally near ones the most frequent.
fn by_count(near: impl Iterator<Item = (usize, TagSuggestion)>) -> Vec<TagSuggestion> {
    let mut near: Vec<(usize, TagSuggestion)> = near.collect();
    near.sort_by_cached_key(|(distance, tag)| {
        let text = tag.value.as_ref().map_or_else(|| tag.key.clone(), |value| format!("{}={value}", tag.key));
        (*distance, Reverse(tag.count), text)
    });
    near.into_iter().take(NAMED).map(|(_, tag)| tag).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_is_one_line() {
        let tag = |key: &str, value: Option<&str>| TagSuggestion {
            key: key.to_owned(),
            value: value.map(str::to_owned),
            count: 4,
        };
        assert_eq!(tag("amenity", Some("cafe")).to_string(), "amenity=cafe (4)");
        assert_eq!(tag("name", None).to_string(), "name (4)");
        assert_eq!(tag("name", Some("a\nb (1)")).to_string(), "name=a b (1) (4)");
    }

    #[test]
    fn spelling_case_and_signs_are_near() {
        let known = ["amenity", "building", "addr:street", "name"];
        let near = |word: &str| {
            let budget = Budget::new(&Default::default());
            let found = nearest(word, known.iter().map(|k| ((*k).to_owned(), ())), &budget).unwrap();
            found.into_iter().map(|(_, text, ())| text).collect::<Vec<_>>()
        };
        assert_eq!(near("amenty"), ["amenity"]);
        assert_eq!(near("addr_street"), ["addr:street"]);
        assert_eq!(near("Name"), ["name"]);
        assert!(near("leisure").is_empty() && near(&"x".repeat(100)).is_empty());
    }
}
