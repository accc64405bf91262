//! Reads and writes the questions and gold queries of a benchmark's files.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::eval::unusable;
use super::super::{CommandError, stdout};
use crate::engine::Engine;
use crate::eval::benchmarks::jsonl::OtherLanguages;
use crate::eval::dataset::{GoldPair, read_pairs_of};
use crate::eval::input::published::FieldMap;
use crate::eval::language::QueryLanguage;

/// Reads the pairs of the files. Returns an error if they have no pairs, or if a query is in
/// a language that Terrapin does not run.
pub fn pairs(files: &[PathBuf]) -> Result<Vec<GoldPair>, CommandError> {
    pairs_of(files, &FieldMap::default())
}

/// Reads pairs like [`pairs`], with renamed fields.
pub fn pairs_of(files: &[PathBuf], map: &FieldMap) -> Result<Vec<GoldPair>, CommandError> {
    read(files, map, OtherLanguages::Rejected)
}

/// Reads the pairs of the files in any query language. Returns an error if they have no pairs.
pub fn all_pairs(files: &[PathBuf], map: &FieldMap) -> Result<Vec<GoldPair>, CommandError> {
    read(files, map, OtherLanguages::Kept)
}

fn read(files: &[PathBuf], map: &FieldMap, others: OtherLanguages) -> Result<Vec<GoldPair>, CommandError> {
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let (pairs, unused) = read_pairs_of(&paths, map, others).map_err(unusable)?;
    if !unused.is_empty() {
        stdout::tell(&format!("note: unused fields: {}", unused.join(", ")));
    }
    match (pairs.is_empty(), paths.first()) {
        (true, Some(first)) => Err(CommandError::input("empty", format!("{}: the file has no pairs", first.display()))),
        _ => Ok(pairs),
    }
}

/// Returns a pair in the format that is read again.
pub fn row(pair: &GoldPair) -> Map<String, Value> {
    let mut row = Map::new();
    let mut set = |name: &str, value: Option<Value>| drop(value.and_then(|value| row.insert(name.to_owned(), value)));
    set("id", pair.id.clone().map(Value::from));
    set("nl", Some(pair.question.as_str().into()));
    set("gold", Some(pair.query.as_str().into()));
    set("split", (!pair.split.is_empty()).then(|| pair.split.clone().into()));
    set("lang", pair.lang.clone().map(Value::from));
    set("bbox", pair.bbox.clone().map(Value::from));
    set("places", pair.places.clone());
    set("complexity", pair.complexity.clone().map(Value::from));
    set("template", pair.template.clone().map(Value::from));
    set("paraphrases", (!pair.paraphrases.is_empty()).then(|| pair.paraphrases.clone().into()));
    row
}

/// Returns an error if a query is SPARQL and the snapshot has no triples.
pub fn needs_triples(engine: &Engine, path: &Path, pairs: &[GoldPair]) -> Result<(), CommandError> {
    let sparql = |pair: &&GoldPair| pair.is_run_here() && pair.language() == QueryLanguage::Sparql;
    match (engine.triples(), pairs.iter().find(sparql)) {
        (None, Some(pair)) => {
            let message = format!("{} is SPARQL, and {} has no triples", pair.place(), path.display());
            Err(CommandError::input("no-triples", message))
        }
        _ => Ok(()),
    }
}

/// Parses a similarity.
pub fn similarity(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| *share > 0.5 && *share <= 1.0);
    share.ok_or_else(|| "expected a number above 0.5 and at most 1".to_owned())
}
