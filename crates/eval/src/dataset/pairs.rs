//! Reads pairs of a question and its query.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::benchmarks::jsonl::{self, OtherLanguages};
use crate::error::RunError;
use crate::input::InputError;
use crate::input::published::FieldMap;
use crate::language::QueryLanguage;

/// A question and its gold query.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GoldPair {
    /// Its line in the file of its split, from 1.
    pub line: usize,
    /// Its id, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its split, such as `train`.
    pub split: String,
    /// The question; empty if missing.
    pub question: String,
    /// The gold query.
    pub query: String,
    /// The query's language: `sparql`, or OverpassQL by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    /// The bounding box for `{{bbox}}`: `south,west,north,east`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bbox: Option<String>,
    /// The geocoded places of this pair, in the format of `nominatim_cache.json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<serde_json::Value>,
    /// Its class of complexity, if the benchmark has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity: Option<String>,
    /// The name of its template, if the benchmark has templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Other wordings of the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paraphrases: Vec<String>,
}

impl GoldPair {
    /// Reports whether the query is in a language that is run here.
    pub fn is_run_here(&self) -> bool {
        self.lang.as_deref().is_none_or(|lang| lang.starts_with("sparql") || QueryLanguage::named(lang).is_some())
    }

    /// Returns the query's language.
    pub fn language(&self) -> QueryLanguage {
        match self.lang.as_deref() {
            Some(lang) if lang.starts_with("sparql") => QueryLanguage::Sparql,
            _ => QueryLanguage::OverpassQl,
        }
    }

    /// Returns its position for people: `dev line 7`.
    pub fn place(&self) -> String {
        let id = self.id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        format!("{} line {}{id}", self.split, self.line)
    }
}

/// Reads the pairs of files in any format of `terrapin eval jsonl`; predictions may be missing. A pair's split is its
/// `split` field, else the file name up to the first dot.
///
/// # Errors
/// Returns an error if a file cannot be read, or a row is not a pair in a supported language.
pub fn read_pairs(files: &[&Path]) -> Result<(Vec<GoldPair>, Vec<String>), RunError> {
    read_pairs_of(files, &FieldMap::default(), OtherLanguages::Rejected)
}

/// Reads pairs like [`read_pairs`], with renamed fields, and optionally those in a language that is not run here.
///
/// # Errors
/// Returns the errors of [`read_pairs`], and an error if no row has a field that `map` names.
pub fn read_pairs_of(
    files: &[&Path],
    map: &FieldMap,
    others: OtherLanguages,
) -> Result<(Vec<GoldPair>, Vec<String>), RunError> {
    let (mut pairs, mut unused) = (Vec::new(), std::collections::BTreeSet::new());
    for file in files {
        let read = jsonl::read_golds_of(file, map, others)?;
        let own = split_of(file);
        unused.extend(read.unused);
        for (instance, more) in read.instances.into_iter().zip(read.more) {
            let split = more.split.unwrap_or_else(|| own.clone());
            // The split becomes a file name.
            let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if split.is_empty() || split.starts_with('.') || !split.chars().all(fits) {
                let message = format!("split {split:?}: expected letters, digits, \"-\", \"_\" and \".\"");
                return Err(InputError::unfit(file, &format!("line {}", instance.line), message).into());
            }
            pairs.push(GoldPair {
                line: instance.line,
                id: instance.id,
                split,
                question: instance.nl.unwrap_or_default(),
                query: instance.gold,
                lang: instance.lang,
                bbox: instance.bbox,
                places: instance.places,
                complexity: instance.complexity,
                template: more.template,
                paraphrases: more.paraphrases,
            });
        }
    }
    Ok((pairs, unused.into_iter().collect()))
}

/// Returns the split in a file's name.
fn split_of(file: &Path) -> String {
    let name = if file.is_dir() { file.file_name() } else { file.file_stem() };
    let stem = name.map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let last = stem.rsplit('.').next().unwrap_or_default();
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let part = last.rsplit_once("-of-").filter(|(_, of)| is_digits(of));
    let whole = part.and_then(|(rest, _)| rest.rsplit_once('-').filter(|(_, number)| is_digits(number)));
    whole.map_or(last, |(split, _)| split).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_called_by_their_splits() {
        for name in ["train.jsonl", "dataset.train.csv", "a/train-00000-of-00003.parquet", "train"] {
            assert_eq!(split_of(Path::new(name)), "train");
        }
        assert_eq!(split_of(Path::new("end-of-1.json")), "end-of-1");
    }

    #[test]
    fn splits_are_named_by_rows_or_by_files() {
        let folder = tempfile::tempdir().unwrap();
        let (train, rest) = (folder.path().join("train.jsonl"), folder.path().join("rest.csv"));
        std::fs::write(&train, "{\"question\": \"Which?\", \"gold\": \"out;\", \"pred\": \"x\"}\n").unwrap();
        std::fs::write(&rest, "nl,gold,split,lang\nWhat?,ASK {},dev,SPARQL\nWho?,out;,,\n").unwrap();
        let (pairs, unused) = read_pairs(&[&train, &rest]).unwrap();
        let of = |pair: &GoldPair| (pair.split.clone(), pair.question.clone(), pair.language());
        assert_eq!(
            pairs.iter().map(of).collect::<Vec<_>>(),
            [
                ("train".to_owned(), "Which?".to_owned(), QueryLanguage::OverpassQl),
                ("dev".to_owned(), "What?".to_owned(), QueryLanguage::Sparql),
                ("rest".to_owned(), "Who?".to_owned(), QueryLanguage::OverpassQl),
            ]
        );
        assert!(unused.is_empty(), "{unused:?}");
        std::fs::write(&train, "{\"question\": \"Which?\", \"pred\": \"x\"}\n").unwrap();
        assert!(read_pairs(&[&train]).unwrap_err().to_string().contains("there is no `gold`"));
    }
}
