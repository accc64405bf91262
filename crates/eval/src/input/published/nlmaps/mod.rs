//! Reads NLmaps (Haas and Riezler, NAACL-HLT 2016) and its extensions: lines of its query language in `NAME.mrl`, with
//! the questions in `NAME.en` or another language. Queries are translated to OverpassQL as far as it can express them.
//!
//! ```text
//! term.rs       parses a line to a tree of calls, texts and symbols
//! translate.rs  translates the tree to OverpassQL
//! ```

mod term;
mod translate;

use std::path::Path;

use serde_json::Map;

use super::super::rows::InputRow;
use super::super::{InputError, read_lines, same_length};

pub use translate::{Untranslatable, translate};

/// The ending of files of queries.
const QUERIES: &str = "mrl";
/// The endings of files of questions, in the order of preference.
const LANGUAGES: [&str; 5] = ["en", "nl", "de", "fr", "es"];
/// The `lang` of queries that are not translated.
pub const NLMAPS: &str = "nlmaps";

/// Returns whether a file has queries of NLmaps.
pub fn is_nlmaps(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == QUERIES)
}

/// A line of NLmaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NlmapsLine {
    /// Its number, counted from 1.
    pub number: usize,
    /// The question, if a file with questions exists.
    pub question: Option<String>,
    /// The query in NLmaps' language.
    pub mrl: String,
    /// The query in OverpassQL, or the reason why it has none.
    pub query: Result<String, Untranslatable>,
}

/// Reads a file of queries with the questions next to it. Empty lines are left out.
///
/// # Errors
/// Returns an error if a file cannot be read, or the files have different numbers of lines.
pub fn lines(path: &Path) -> Result<Vec<NlmapsLine>, InputError> {
    let queries = read_lines(path)?;
    let questions = LANGUAGES.iter().map(|language| path.with_extension(language)).find(|path| path.exists());
    let questions = match &questions {
        Some(file) => {
            let lines = read_lines(file)?;
            same_length((path, queries.len()), (file, lines.len()))?;
            Some(lines)
        }
        None => None,
    };
    let line = |(index, mrl): (usize, String)| NlmapsLine {
        number: index + 1,
        question: questions.as_ref().and_then(|lines| lines.get(index)).map(|text| text.trim().to_owned()),
        query: translate(&mrl),
        mrl,
    };
    Ok(queries.into_iter().enumerate().filter(|(_, mrl)| !mrl.trim().is_empty()).map(line).collect())
}

/// Reads the lines as rows. Those that are not translated keep their language.
pub(super) fn read(path: &Path) -> Result<Vec<InputRow>, InputError> {
    let row = |line: NlmapsLine| {
        let mut fields = Map::new();
        fields.insert("nl".to_owned(), line.question.unwrap_or_default().into());
        let (lang, gold) = match line.query {
            Ok(query) => ("overpassql", query),
            Err(_) => (NLMAPS, line.mrl),
        };
        fields.insert("lang".to_owned(), lang.into());
        fields.insert("gold".to_owned(), gold.into());
        InputRow { number: line.number, place: format!("line {}", line.number), fields }
    };
    Ok(lines(path)?.into_iter().map(row).collect())
}
