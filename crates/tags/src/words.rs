//! Tokenization and stemming of keys, values, descriptions and queries.

use std::borrow::Cow;

use icu_normalizer::DecomposingNormalizerBorrowed;
use rust_stemmers::{Algorithm, Stemmer};

use super::everyday;

/// Stop words: frequent in queries, without meaning for tags.
const STOP: &[&str] = &[
    "a",
    "all",
    "an",
    "and",
    "any",
    "are",
    "area",
    "areas",
    "as",
    "attribute",
    "attributes",
    "be",
    "by",
    "current",
    "every",
    "find",
    "for",
    "from",
    "give",
    "has",
    "have",
    "having",
    "i",
    "in",
    "is",
    "it",
    "its",
    "list",
    "map",
    "me",
    "my",
    "near",
    "node",
    "nodes",
    "not",
    "object",
    "objects",
    "of",
    "on",
    "only",
    "or",
    "osm",
    "place",
    "places",
    "relation",
    "relations",
    "selected",
    "show",
    "tag",
    "tagged",
    "tags",
    "than",
    "that",
    "the",
    "their",
    "there",
    "this",
    "to",
    "used",
    "value",
    "view",
    "way",
    "ways",
    "where",
    "which",
    "window",
    "with",
    "within",
];

/// A place name or a second object usually follows these words; their weight is [`OF_PLACE`].
const BEFORE_PLACES: &[&str] = &["around", "at", "in", "inside", "near", "within"];
/// After these words the query describes the object again.
const BACK: &[&str] = &["having", "that", "where", "which", "with"];
/// Weight of a word that probably belongs to a place name.
const OF_PLACE: f64 = 0.5;
/// Factor for a synonym of a query word.
const OTHER_WORD: f64 = 0.8;
/// Factor for the single words of a known phrase, such as `gas` in `gas station`.
const OF_PHRASE: f64 = 0.4;
/// Maximum number of words of a query; further words are ignored.
const MOST: usize = 64;

/// Splits texts into normalized words and stems.
pub struct WordSplitter {
    stemmer: Stemmer,
    normalizer: DecomposingNormalizerBorrowed<'static>,
}

/// A stem of a query with its weight, from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedStem {
    pub stem: String,
    pub weight: f64,
}

impl WordSplitter {
    pub fn new() -> WordSplitter {
        WordSplitter {
            stemmer: Stemmer::create(Algorithm::English),
            normalizer: DecomposingNormalizerBorrowed::new_nfd(),
        }
    }

    /// Splits a text into lower-case words without accents. `addr:street` and `associatedStreet` have two words each; a
    /// date or a decimal number is one word.
    fn split(&self, text: &str) -> Vec<String> {
        let plain: Cow<'_, str> = self.normalizer.normalize(text);
        let plain: Vec<char> = plain.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c) && *c != '\'').collect();
        let mut words = Vec::new();
        let mut word = String::new();
        for (at, &c) in plain.iter().enumerate() {
            let (before, after) = (at.checked_sub(1).and_then(|at| plain.get(at)), plain.get(at + 1));
            let is_digit = |c: Option<&char>| c.is_some_and(char::is_ascii_digit);
            let joins = "-:.,".contains(c) && is_digit(before) && is_digit(after);
            let breaks = c.is_uppercase() && before.is_some_and(|b| b.is_lowercase());
            if (breaks || !(c.is_alphanumeric() || joins)) && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            if c.is_alphanumeric() || joins {
                word.extend(c.to_lowercase());
            }
        }
        if !word.is_empty() {
            words.push(word);
        }
        words
    }

    fn stem(&self, word: &str) -> String {
        self.stemmer.stem(word).into_owned()
    }

    /// Returns the stems of a key or a value.
    pub fn of(&self, text: &str) -> Vec<String> {
        self.split(text).iter().map(|word| self.stem(word)).collect()
    }

    /// Returns the stems of a description, without stop words.
    pub fn of_text(&self, text: &str) -> Vec<String> {
        self.split(text).iter().filter(|word| !STOP.contains(&word.as_str())).map(|word| self.stem(word)).collect()
    }

    /// Returns the stem of a two-word text written as one word: `busstop` for `bus_stop`.
    pub fn joined(&self, text: &str) -> Option<String> {
        match self.split(text).as_slice() {
            [first, second] => Some(self.stem(&format!("{first}{second}"))),
            _ => None,
        }
    }

    /// Returns the weighted stems of a query, each once.
    pub fn asked(&self, question: &str) -> Vec<WeightedStem> {
        let words = self.split(question);
        let words = &words[..words.len().min(MOST)];
        let mut asked: Vec<WeightedStem> = Vec::new();
        let mut add = |stem: String, weight: f64| match asked.iter_mut().find(|asked| asked.stem == stem) {
            Some(known) => known.weight = known.weight.max(weight),
            None => asked.push(WeightedStem { stem, weight }),
        };
        let stems: Vec<String> = words.iter().map(|word| self.stem(word)).collect();
        let phrase = |at: usize| match stems.get(at..at + 2) {
            Some([first, second]) => everyday::words(&[first, second]),
            _ => &[],
        };
        let mut weight = 1.0;
        for (at, (word, stem)) in words.iter().zip(&stems).enumerate() {
            if at > 0 && BEFORE_PLACES.contains(&word.as_str()) {
                weight = OF_PLACE;
            } else if BACK.contains(&word.as_str()) {
                weight = 1.0;
            }
            for other in phrase(at) {
                add(self.stem(other), weight);
            }
            if let Some(next) = words.get(at + 1) {
                add(self.stem(&format!("{word}{next}")), weight);
            }
            let in_phrase = !phrase(at).is_empty() || at.checked_sub(1).is_some_and(|at| !phrase(at).is_empty());
            let own = if in_phrase { weight * OF_PHRASE } else { weight };
            for other in everyday::words(&[stem]) {
                add(self.stem(other), own * OTHER_WORD);
            }
            if !STOP.contains(&word.as_str()) {
                add(stem.clone(), own);
            }
        }
        asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_words() {
        let words = WordSplitter::new();
        assert_eq!(words.split("type:associatedStreet"), ["type", "associated", "street"]);
        assert_eq!(
            words.split("Caf\u{e9} d'Or, 2017-05-23 at 12.5 m"),
            ["cafe", "d", "or", "2017-05-23", "at", "12.5", "m"]
        );
        assert_eq!(words.of("fast_food"), words.of("Fast foods"));
        assert_eq!(words.joined("bus_stop"), Some(words.stem("busstops")));
        assert_eq!(words.split("..,:"), [""; 0]);
    }

    #[test]
    fn what_is_asked_for_counts_more_than_where() {
        let weight = |asked: &[WeightedStem], stem: &str| {
            asked.iter().find(|asked| asked.stem == stem).map(|asked| asked.weight)
        };
        let asked = WordSplitter::new().asked("All bakeries in Park City that have parking");
        assert_eq!(weight(&asked, "bakeri"), Some(1.0));
        assert_eq!(weight(&asked, "citi"), Some(OF_PLACE));
        assert_eq!(weight(&asked, "park"), Some(1.0));
        assert_eq!(weight(&asked, "all"), None);
        assert_eq!(weight(&WordSplitter::new().asked("gas stations"), "fuel"), Some(1.0));
    }
}
