//! From words to a query without a model: `cafes in Valletta`, `bus stops within 200 m of a school`, and the syntax of
//! Overpass Turbo's wizard. The same text over the same snapshot always has the same result.
//!
//! ```text
//! text.rs        tokens, folding and stems
//! tables.rs      words of the grammar
//! lexicon.rs     phrases of iD's presets and fields
//! choices.rs     tags for a phrase, with counts
//! place.rs       places for a name
//! items.rs       classes and properties of Wikidata
//! request.rs     what the text asks for
//! wizard.rs      conditions such as amenity=cafe
//! read.rs        reads a text from left to right
//! clauses.rs     places, surroundings and views
//! conditions.rs  keys, values, comparisons, users and dates
//! overpass.rs    the query in OverpassQL
//! sparql.rs      the query in SPARQL
//! complete.rs    completions of the last word
//! ```

mod choices;
mod clauses;
mod complete;
mod conditions;
mod items;
mod lexicon;
mod overpass;
mod place;
mod read;
mod request;
mod sparql;
mod tables;
mod text;
mod wizard;

use schemars::JsonSchema;
use serde::Serialize;
use terrapin_engine::Engine;
use terrapin_osm::BoundingBox;

pub use complete::{WordsCompletion, complete};

/// The name of the baseline that answers questions by their words.
pub const WORDS: &str = "words";
/// The longest text in characters.
pub const LONGEST: usize = 1000;
/// The most words and signs of a text. Each may be a thing, a place or a key, and is looked up as all of them.
pub const MOST_WORDS: usize = 120;

/// The form of the elements in an answer of OverpassQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WordsOutput {
    /// The elements with their geometry: `out geom;`.
    #[default]
    Geometry,
    /// The elements and their members, as Overpass Turbo's wizard writes it: `out; >; out skel qt;`.
    Members,
}

/// Options of [`understand`].
#[derive(Debug, Clone, Default)]
pub struct WordsOptions {
    /// The box of the view. With it, a text without a place means the view.
    pub bbox: Option<BoundingBox>,
    /// The language of labels, and the preferred language of the text; default: `en`.
    pub language: Option<String>,
    /// The form of elements.
    pub output: WordsOutput,
}

/// The meaning of a part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WordsPartKind {
    /// Things with tags.
    Thing,
    /// A condition on tags, ids, users or dates.
    Condition,
    /// The type of elements.
    Type,
    /// A place that contains the things.
    Place,
    /// A place or a thing that is near.
    Near,
    /// The part of the map that is shown, or the whole world.
    View,
    /// A request for a number.
    Count,
}

/// A meaning of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WordsChoice {
    /// A name for people.
    pub label: String,
    /// The words that have exactly this meaning: put them in place of the part to choose it.
    pub words: String,
    /// The tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<String>,
    /// The class or property of Wikidata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Number of elements or items in this snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// An understood part of the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WordsPart {
    /// Its first character, from 0.
    pub start: usize,
    /// The character after its last.
    pub end: usize,
    /// Its text.
    pub text: String,
    /// Its kind.
    pub kind: WordsPartKind,
    /// The chosen meaning.
    pub chosen: WordsChoice,
    /// Other meanings, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<WordsChoice>,
    /// The characters that `words` of a choice replace, if these are not the whole part: the name after `in`.
    pub replaces: [usize; 2],
}

/// A part of the text without a meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnknownWords {
    /// Its first character, from 0.
    pub start: usize,
    /// The character after its last.
    pub end: usize,
    /// Its text.
    pub text: String,
    /// The reason.
    pub reason: String,
}

/// A query for the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WordsQuery {
    /// overpassql or sparql.
    pub language: &'static str,
    /// elements of OpenStreetMap or items of Wikidata.
    pub about: &'static str,
    /// The query. OverpassQL may have the shortcuts {{geocodeArea:NAME}}, {{bbox}} and {{date:...}}.
    pub query: String,
}

/// A text with its parts and its queries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnderstoodWords {
    /// The text.
    pub text: String,
    /// The understood parts, in the order of the text.
    pub parts: Vec<WordsPart>,
    /// The other words that might matter.
    pub unknown: Vec<UnknownWords>,
    /// The queries, best first; empty if nothing was understood.
    pub queries: Vec<WordsQuery>,
}

impl UnderstoodWords {
    /// Returns the first query in a language.
    pub fn query_in(&self, language: &str) -> Option<&WordsQuery> {
        self.queries.iter().find(|query| query.language == language)
    }
}

/// Understands a text. Runs within the budget of the thread.
///
/// # Errors
/// The text is empty, longer than [`LONGEST`], or has more words than [`MOST_WORDS`].
pub fn understand(engine: &Engine, text: &str, options: &WordsOptions) -> Result<UnderstoodWords, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("there are no words: write what you look for, such as \"cafes in Valletta\"".to_owned());
    }
    if text.chars().count() > LONGEST {
        return Err(format!("the text is longer than {LONGEST} characters"));
    }
    if text::tokens(text).len() > MOST_WORDS {
        return Err(format!("the text has more than {MOST_WORDS} words and signs: write one sentence"));
    }
    let language = options.language.as_deref().unwrap_or("en");
    let Some(reader) = read::Reader::new(engine, text, language) else {
        return Err("the built-in phrases are damaged".to_owned());
    };
    let read::Reading { request, parts, unknown, items_first } = reader.read();
    let mut queries = Vec::new();
    let mut add = |language: &'static str, about: &'static str, query: Option<String>| {
        queries.extend(query.map(|query| WordsQuery { language, about, query }));
    };
    let has_elements = engine.manifest().counts.nodes > 0;
    if has_elements {
        add("overpassql", "elements", overpass::write(&request, options));
        add("sparql", "elements", sparql::write_elements(&request, options));
    }
    if let (Some(items), Some(finder)) = (&request.items, items::ItemFinder::new(engine, language)) {
        let is_country = |item: &str| finder.is_country(item);
        add("sparql", "items", sparql::write_items(&request, items, &is_country, language));
    }
    if items_first || !has_elements {
        queries.sort_by_key(|query| query.about != "items");
    }
    Ok(UnderstoodWords { text: text.to_owned(), parts, unknown, queries })
}
