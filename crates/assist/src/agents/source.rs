//! The source of an answer. Licences of the data require attribution, and a snapshot's digest makes an answer
//! reproducible. A model can only pass on the text of the answer.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::part::short_text;
use terrapin_engine::Engine;

/// Maximum number of licences in an answer.
const LICENCES: usize = 8;

/// An answer with its source.
#[derive(Serialize, JsonSchema)]
pub struct SourcedAnswer<T> {
    #[serde(flatten)]
    answer: T,
    /// The source of the answer: name it when you use the answer.
    source: AnswerSource,
}

#[derive(Serialize, JsonSchema)]
struct AnswerSource {
    /// The digest of the snapshot, which makes the answer reproducible.
    snapshot: String,
    /// The licences of the snapshot's data, with the required attribution.
    licences: Vec<String>,
}

impl<T> SourcedAnswer<T> {
    /// Adds the source to an answer from a snapshot.
    pub fn new(engine: &Engine, answer: T) -> SourcedAnswer<T> {
        let licences: BTreeSet<&str> = engine.manifest().sources.iter().map(|source| source.licence.as_str()).collect();
        let licences =
            licences.into_iter().rev().take(LICENCES).map(|licence| short_text(licence.to_owned())).collect();
        SourcedAnswer { answer, source: AnswerSource { snapshot: engine.digest().to_owned(), licences } }
    }
}
