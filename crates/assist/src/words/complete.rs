//! Completions of the last word of a text, with counts from the snapshot.

use schemars::JsonSchema;
use serde::Serialize;
use terrapin_engine::Engine;

use super::choices::TagChooser;
use super::lexicon::lexicon;
use super::place::PlaceFinder;
use super::read::as_choice;
use super::tables::IN;
use super::text::{fold, tokens};
use super::{WordsChoice, WordsPartKind};

/// The most completions.
const MOST: usize = 8;
/// The most presets that are counted.
const COUNTED: usize = 60;

/// A completion of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WordsCompletion {
    /// The whole text with the completion.
    pub text: String,
    /// Its kind: thing or place.
    pub kind: WordsPartKind,
    /// Its meaning.
    pub choice: WordsChoice,
}

/// Returns completions of the last words of a text: places after `in`, otherwise things, most frequent first.
pub fn complete(engine: &Engine, text: &str, language: &str) -> Vec<WordsCompletion> {
    let all = tokens(text);
    let last_in = all.iter().rposition(|token| IN.contains(&token.folded.as_str()));
    if let Some(at) = last_in
        && at > 0
        && at + 1 < all.len()
    {
        let start = all.get(at + 1).map_or(0, |token| token.start);
        let name: String = text.chars().skip(start).collect();
        if name.trim().chars().count() >= 2 {
            return places(engine, text, start, name.trim(), language);
        }
        return Vec::new();
    }
    let joined = all.iter().rposition(|token| ["and", "or", ","].contains(&token.folded.as_str()));
    let first = joined.map_or(0, |at| at + 1);
    let Some(start) = all.get(first).map(|token| token.start) else { return Vec::new() };
    let typed: String = text.chars().skip(start).collect();
    things(engine, text, start, &fold(typed.trim()), language)
}

fn places(engine: &Engine, text: &str, start: usize, name: &str, language: &str) -> Vec<WordsCompletion> {
    let before: String = text.chars().take(start).collect();
    let found = PlaceFinder::new(engine, language).beginning(name);
    let mut completions: Vec<WordsCompletion> = Vec::new();
    for found in found {
        let text = format!("{before}{}", found.place.name);
        if !completions.iter().any(|other| other.text == text) {
            completions.push(WordsCompletion { text, kind: WordsPartKind::Place, choice: found.choice });
        }
    }
    completions.truncate(MOST);
    completions
}

fn things(engine: &Engine, text: &str, start: usize, typed: &str, language: &str) -> Vec<WordsCompletion> {
    if typed.chars().count() < 2 {
        return Vec::new();
    }
    let Some(chooser) = TagChooser::new(engine, language) else { return Vec::new() };
    let before: String = text.chars().take(start).collect();
    let mut found: Vec<(bool, WordsCompletion)> = Vec::new();
    for (name, preset) in lexicon().beginning(typed, language).into_iter().take(COUNTED) {
        let tags: Vec<(String, String)> =
            preset.tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let mut choice = as_choice(&chooser.named(tags, &name));
        choice.label.clone_from(&name);
        if choice.count == Some(0) || found.iter().any(|(_, other)| other.choice.tags == choice.tags) {
            continue;
        }
        let begins = fold(&name).starts_with(typed);
        let text = format!("{before}{}", name.to_lowercase());
        found.push((begins, WordsCompletion { text, kind: WordsPartKind::Thing, choice }));
    }
    found.sort_by(|(a, one), (b, other)| {
        b.cmp(a).then(other.choice.count.cmp(&one.choice.count)).then_with(|| one.text.cmp(&other.text))
    });
    found.truncate(MOST);
    found.into_iter().map(|(_, completion)| completion).collect()
}
