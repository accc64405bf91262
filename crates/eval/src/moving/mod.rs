//! Moves the queries and questions of a benchmark to another snapshot: places, boxes, ids, users, dates and absent tag
//! values are replaced by ones that exist there. The language of the queries stays. OverpassQL is changed by ranges of its
//! syntax tree, SPARQL by its terms.
//!
//! - `parts` finds the replaceable parts of a query.
//! - `places` replaces places only, also for queries of examples.
//! - `target` draws places, values, ids and edits of the snapshot, `geometry` moves coordinates.
//! - `question` finds names in questions.
//! - `attempt` replaces all parts of one pair; `sparql` those of SPARQL.
//!
//! A pair is moved several times, each time to larger places, until its query has results. All draws depend on the seed
//! and the pair only.

mod attempt;
mod draw;
mod edits;
mod geometry;
pub(crate) mod parts;
mod places;
pub mod question;
mod sparql;
mod target;

pub use places::{PlaceName, with_places};

use serde::Serialize;
use terrapin_engine::Engine;
use terrapin_geocoder::PlaceTable;
use terrapin_overpass::syntax::Tag;

use crate::dataset::{GoldEngine, GoldPair};
use crate::language::QueryLanguage;
use attempt::Attempt;
use parts::QueryParts;
use target::Target;

/// Options for moving a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveOptions {
    /// The seed.
    pub seed: u64,
    /// Maximum number of attempts for a pair.
    pub attempts: u32,
}

/// The default of [`MoveOptions::attempts`].
pub const ATTEMPTS: u32 = 8;

/// A replacement in a pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replacement {
    /// The kind of the part.
    pub kind: ReplacementKind,
    /// The old text.
    pub old: String,
    /// The new text; empty if nothing in the snapshot can replace it.
    pub new: String,
    /// Whether the question names it and was changed; `None` for parts that questions do not name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_question: Option<bool>,
}

/// The kinds of replaced parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplacementKind {
    /// A place.
    Place,
    /// Coordinates, also those of the pair's box.
    Box,
    /// The id of an element.
    Id,
    /// A user.
    User,
    /// A date.
    Date,
    /// The value of a tag.
    Value,
    /// An item of Wikidata.
    Item,
}

impl ReplacementKind {
    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            ReplacementKind::Place => "place",
            ReplacementKind::Box => "box",
            ReplacementKind::Id => "id",
            ReplacementKind::User => "user",
            ReplacementKind::Date => "date",
            ReplacementKind::Value => "value",
            ReplacementKind::Item => "item",
        }
    }
}

/// How far the question follows the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionState {
    /// It needs no change, or every replaced name was found in it.
    Moved,
    /// A place was guessed: the only name after a preposition.
    Guessed,
    /// A replaced value, date or user was not found in it.
    Differs,
    /// A replaced place was not found in it.
    PlaceNotFound,
}

impl QuestionState {
    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            QuestionState::Moved => "moved",
            QuestionState::Guessed => "guessed",
            QuestionState::Differs => "differs",
            QuestionState::PlaceNotFound => "place-not-found",
        }
    }
}

/// A moved pair.
#[derive(Debug, Clone, PartialEq)]
pub struct MovedPair {
    /// The pair, with its line and split.
    pub pair: GoldPair,
    /// The replacements.
    pub replacements: Vec<Replacement>,
    /// How far the question follows the query.
    pub question: QuestionState,
    /// The number of results on the snapshot, or the error.
    pub results: Result<u64, String>,
    /// The number of the attempt, from 0.
    pub attempt: u32,
    /// Whether only the shortcuts of the query could be read, because it has syntax errors or the XML form.
    pub unread: bool,
}

impl MovedPair {
    /// Returns whether the query has results.
    pub fn is_answered(&self) -> bool {
        self.results.as_ref().is_ok_and(|number| *number > 0)
    }
}

/// Returns the tags in the filters of a query in OverpassQL: a key, and a value if the filter has one. The alternatives of
/// a plain regular expression count as values.
pub fn tags_of(query: &str) -> Vec<(String, Option<String>)> {
    let mut tags = Vec::new();
    let parts = QueryParts::of(query);
    for tag in parts.queries.iter().flat_map(|query| &query.tags) {
        match tag {
            Tag::Equals { key, value } | Tag::NotEquals { key, value } => tags.push((key.clone(), Some(value.clone()))),
            Tag::HasKey { key } | Tag::NotKey { key } => tags.push((key.clone(), None)),
            Tag::Matches { key, value } | Tag::NotMatches { key, value } => {
                let is_plain = |value: &&str| {
                    !value.is_empty()
                        && value.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | ' '))
                };
                let values = value.pattern.split('|').map(|value| value.trim_matches(['^', '$', '(', ')']));
                tags.extend(values.filter(is_plain).map(|value| (key.clone(), Some(value.to_owned()))));
                tags.push((key.clone(), None));
            }
            Tag::KeyMatches { .. } | Tag::KeyNotMatches { .. } => {}
        }
    }
    tags
}

/// Moves pairs to a snapshot.
pub struct Mover<'a> {
    gold: &'a GoldEngine<'a>,
    target: Target<'a>,
    items: sparql::ItemIndex<'a>,
    synonyms: Option<&'a PlaceTable>,
    options: MoveOptions,
}

impl<'a> Mover<'a> {
    /// Reads the snapshot's places. `gold` runs the queries, with the areas of the snapshot as places; `synonyms` has
    /// other names of the benchmark's places: those of the same element.
    pub fn new(gold: &'a GoldEngine<'a>, synonyms: Option<&'a PlaceTable>, options: MoveOptions) -> Mover<'a> {
        let engine: &Engine = gold.engine;
        Mover {
            gold,
            target: Target::new(engine.osm()),
            items: sparql::ItemIndex::new(engine.triples()),
            synonyms,
            options,
        }
    }

    /// Moves a pair: attempts follow each other until the query has results. Without results, returns the first.
    pub fn move_pair(&self, pair: &GoldPair) -> MovedPair {
        if pair.language() == QueryLanguage::Sparql {
            return self.tried(pair, |attempt| self.items.moved(pair, self.options.seed, attempt), false);
        }
        let parts = QueryParts::of(&pair.query);
        let unread = parts.invalid;
        self.tried(
            pair,
            |number| Attempt::new(&self.target, self.synonyms, pair, &parts, self.options.seed, number).moved(),
            unread,
        )
    }

    /// Runs attempts.
    fn tried(&self, pair: &GoldPair, attempt: impl Fn(u32) -> AttemptResult, unread: bool) -> MovedPair {
        let mut first: Option<MovedPair> = None;
        let mut last = String::new();
        for number in 0..self.options.attempts.max(1) {
            let AttemptResult { query, question, bbox, replacements, state } = attempt(number);
            let same = format!("{query}\n{}", bbox.as_deref().unwrap_or_default());
            if number > 0 && same == last {
                continue;
            }
            last = same;
            let moved = GoldPair { query, question, bbox, places: None, ..pair.clone() };
            let results = self.gold.ask(&moved).map(|answer| answer.number).map_err(|failure| failure.text);
            let moved = MovedPair { pair: moved, replacements, question: state, results, attempt: number, unread };
            if moved.is_answered() {
                return moved;
            }
            first.get_or_insert(moved);
        }
        first.unwrap_or_else(|| MovedPair {
            pair: pair.clone(),
            replacements: Vec::new(),
            question: QuestionState::Moved,
            results: Err("no attempt".to_owned()),
            attempt: 0,
            unread,
        })
    }
}

/// The texts of one attempt.
struct AttemptResult {
    query: String,
    question: String,
    bbox: Option<String>,
    replacements: Vec<Replacement>,
    state: QuestionState,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_a_query() {
        let query = "area[name=Bonn]->.a;node[shop][amenity~\"^(cafe|bar)$\"](area.a);out;";
        let found: Vec<String> = tags_of(query)
            .into_iter()
            .map(|(key, value)| value.map_or_else(|| key.clone(), |value| format!("{key}={value}")))
            .collect();
        assert_eq!(found, ["shop", "amenity=cafe", "amenity=bar", "amenity"]);
    }
}
