//! The tool `query_from_words`.

use schemars::JsonSchema;
use serde::Deserialize;
use terrapin_engine::Engine;
use terrapin_osm::BoundingBox;

use super::{Limits, Tool, Trouble};
use crate::words::{UnderstoodWords, WordsOptions, understand};

/// Turns words into a query.
pub struct QueryFromWords;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WordsToolRequest {
    /// The words: "cafes in Valletta", "bus stops within 200 m of a school", "amenity=cafe and name=* in Sliema".
    text: String,
    /// The box for words without a place, in degrees: "south,west,north,east".
    bbox: Option<String>,
    /// The language of the words and of labels, such as "de"; default: "en".
    language: Option<String>,
}

impl Tool for QueryFromWords {
    const NAME: &'static str = "query_from_words";
    const TITLE: &'static str = "Turn words into a query";
    const DESCRIPTION: &'static str = "Turn a short description (a thing, a place, conditions) into a query in OverpassQL and \
        SPARQL by the tags, places and items of this data, with the meaning of each part, other meanings with counts, and \
        the words that were not understood. A good first step: check the parts, then run or correct the query.";
    type Input = WordsToolRequest;
    type Output = UnderstoodWords;

    fn run(engine: &Engine, input: WordsToolRequest, _: &Limits) -> Result<UnderstoodWords, Trouble> {
        let bbox = match input.bbox.as_deref().map(str::parse::<BoundingBox>) {
            Some(Err(_)) => return Err(Trouble::new("bbox: expected \"south,west,north,east\" in degrees")),
            Some(Ok(bbox)) => Some(bbox),
            None => None,
        };
        let options = WordsOptions { bbox, language: input.language, ..WordsOptions::default() };
        understand(engine, &input.text, &options).map_err(Trouble::new)
    }
}
