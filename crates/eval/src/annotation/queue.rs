//! Reads a queue: queries to annotate, with ids and optional context and suggested questions.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::benchmarks::jsonl::{self, OtherLanguages};
use crate::error::RunError;
use crate::input::InputError;
use crate::input::published::FieldMap;
use crate::input::rows::{kind, read_rows};
use crate::language::QueryLanguage;

/// Maximum number of entries of a queue.
const MOST_ENTRIES: usize = 100_000;
/// Maximum size of a query in bytes.
const LONGEST_QUERY: usize = 64 << 10;
/// Maximum size of an entry's context in bytes.
const LONGEST_CONTEXT: usize = 16 << 10;
/// Maximum length of an id in bytes.
const LONGEST_ID: usize = 200;
/// Maximum number of suggestions of an entry, and the maximum size of each in bytes.
const MOST_SUGGESTIONS: usize = 20;
const LONGEST_SUGGESTION: usize = 2000;

/// A query to annotate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueueEntry {
    /// Its id, unique in the queue; by default its line.
    pub id: String,
    /// The language of the query: `overpassql` or `sparql`.
    pub lang: &'static str,
    /// The query.
    pub query: String,
    /// The bounding box for `{{bbox}}`: `south,west,north,east`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bbox: Option<String>,
    /// The geocoded places of the query, in the format of `nominatim_cache.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<Value>,
    /// Information for the annotator, such as the page that the query comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Suggested questions, such as those of a model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// The split, template and class of complexity, which the export repeats.
    #[serde(skip)]
    pub labels: EntryLabels,
}

/// Fields of an entry that only the export uses.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct EntryLabels {
    /// The split.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// The name of the query's template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// The class of complexity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complexity: Option<String>,
}

impl QueueEntry {
    /// Returns the first 16 hexadecimal digits of a digest of language, query and box. Work on an entry counts only as
    /// long as these stay the same.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in [self.lang, &self.query, self.bbox.as_deref().unwrap_or_default()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex().chars().take(16).collect()
    }
}

/// The queries to annotate, in the order of the file.
#[derive(Debug, Default)]
pub struct AnnotationQueue {
    /// The entries.
    pub entries: Vec<QueueEntry>,
    by_id: HashMap<String, usize>,
}

impl AnnotationQueue {
    /// Reads a file in any format of `terrapin benchmark check`. Further fields of a row: `context`, a text, and
    /// `suggestions`, a list of texts; a question in the file is a suggestion too.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is empty, an entry is invalid or too large, or an id is used twice.
    pub fn read(path: &Path) -> Result<AnnotationQueue, RunError> {
        let golds = jsonl::read_golds_of(path, &FieldMap::default(), OtherLanguages::Rejected)?;
        let mut extras = extras(path)?;
        let mut queue = AnnotationQueue::default();
        for (instance, more) in golds.instances.into_iter().zip(golds.more) {
            let line = instance.line;
            let unfit = |message: String| InputError::unfit(path, &format!("line {line}"), message);
            let (context, suggested) = extras.remove(&line).unwrap_or_default();
            let mut suggestions: Vec<String> = Vec::new();
            for text in instance.nl.clone().into_iter().chain(more.paraphrases).chain(suggested) {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                if !text.is_empty() && !suggestions.contains(&text) {
                    suggestions.push(text);
                }
            }
            let language = instance.language();
            let lang = if language == QueryLanguage::Sparql { "sparql" } else { "overpassql" };
            let id = instance.id.unwrap_or_else(|| line.to_string());
            let labels = EntryLabels { split: more.split, template: more.template, complexity: instance.complexity };
            let (query, bbox, places) = (instance.gold, instance.bbox, instance.places);
            let entry = QueueEntry { id, lang, query, bbox, places, context, suggestions, labels };
            check(&entry).map_err(unfit)?;
            queue.push(entry).map_err(unfit)?;
        }
        if queue.entries.is_empty() {
            return Err(InputError::unfit(path, "the file", "it has no queries to annotate").into());
        }
        Ok(queue)
    }

    fn push(&mut self, entry: QueueEntry) -> Result<(), String> {
        if self.entries.len() == MOST_ENTRIES {
            return Err(format!("the queue has more than {MOST_ENTRIES} entries: divide it"));
        }
        if self.by_id.insert(entry.id.clone(), self.entries.len()).is_some() {
            return Err(format!("the id {:?} is used twice: ids must be unique", entry.id));
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Returns the number of an entry.
    pub fn index_of(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }
}

/// Returns an error if an entry is too large.
fn check(entry: &QueueEntry) -> Result<(), String> {
    let longest = |what: &str, length: usize, most: usize| match length > most {
        true => Err(format!("the {what} has {length} bytes: at most {most} are allowed")),
        false => Ok(()),
    };
    if entry.id.is_empty() || entry.id.chars().any(char::is_control) {
        return Err("the id is empty or has control characters".to_owned());
    }
    if entry.query.trim().is_empty() {
        return Err("the query is empty".to_owned());
    }
    longest("id", entry.id.len(), LONGEST_ID)?;
    longest("query", entry.query.len(), LONGEST_QUERY)?;
    longest("context", entry.context.as_ref().map_or(0, String::len), LONGEST_CONTEXT)?;
    if entry.suggestions.len() > MOST_SUGGESTIONS {
        return Err(format!("{} suggestions: at most {MOST_SUGGESTIONS} are allowed", entry.suggestions.len()));
    }
    entry.suggestions.iter().try_for_each(|text| longest("suggestion", text.len(), LONGEST_SUGGESTION))
}

/// The context and the suggestions of a row.
type Extra = (Option<String>, Vec<String>);

/// Reads `context` and `suggestions` of the rows, by line. Shapes that are not rows have none.
fn extras(path: &Path) -> Result<HashMap<usize, Extra>, InputError> {
    let Ok(rows) = read_rows(path) else { return Ok(HashMap::new()) };
    let mut extras = HashMap::new();
    for mut row in rows {
        let unfit = |message: String| InputError::unfit(path, &row.place, message);
        let context = match row.fields.remove("context") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text).filter(|text| !text.trim().is_empty()),
            Some(other) => Some(other.to_string()),
        };
        let texts = match row.fields.remove("suggestions") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(values)) => values,
            Some(other) => {
                return Err(unfit(format!("`suggestions`: expected an array of texts, found {}", kind(&other))));
            }
        };
        let text = |value: Value| match value {
            Value::String(text) => Ok(text),
            other => Err(unfit(format!("`suggestions`: expected texts, found {}", kind(&other)))),
        };
        let texts = texts.into_iter().map(text).collect::<Result<Vec<String>, _>>()?;
        extras.insert(row.number, (context, texts));
    }
    Ok(extras)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<AnnotationQueue, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queue.jsonl");
        std::fs::write(&path, text).unwrap();
        AnnotationQueue::read(&path).map_err(|e| e.to_string())
    }

    #[test]
    fn an_entry_has_its_query_context_and_suggestions() {
        let queue = read(
            "{\"id\": \"a\", \"query\": \"out;\", \"context\": \"from a wiki\", \"nl\": \"All\\n things\", \
             \"suggestions\": [\"All things\", \"Everything\"], \"split\": \"dev\"}\n\
             {\"query\": \"ASK {}\", \"lang\": \"sparql\", \"context\": {\"page\": 7}, \"nl\": \"Any?\", \"paraphrases\": [\"Is any?\"]}\n",
        )
        .unwrap();
        let [first, second] = &queue.entries[..] else { panic!("{queue:?}") };
        assert_eq!((first.lang, first.context.as_deref()), ("overpassql", Some("from a wiki")));
        assert_eq!(first.suggestions, ["All things", "Everything"]);
        assert_eq!(first.labels.split.as_deref(), Some("dev"));
        assert_eq!((second.id.as_str(), second.lang), ("2", "sparql"));
        assert_eq!(second.context.as_deref(), Some("{\"page\":7}"));
        assert_eq!(
            second.suggestions,
            ["Any?", "Is any?"],
            "questions of a model, as `benchmark instruct` writes them"
        );
        assert_eq!(queue.index_of("2"), Some(1));
        assert_ne!(first.digest(), second.digest());
    }

    #[test]
    fn an_invalid_entry_is_named() {
        let long = format!("{{\"query\": \"{}\"}}", "x".repeat(LONGEST_QUERY + 1));
        for (text, says) in [
            (
                "{\"id\": \"a\", \"query\": \"out;\"}\n{\"id\": \"a\", \"query\": \"out;\"}",
                "line 2: the id \"a\" is used",
            ),
            ("", "no queries to annotate"),
            ("{\"id\": \"a\"}", "there is no `gold`"),
            ("{\"id\": \"a\", \"query\": \" \"}", "the query is empty"),
            ("{\"id\": \"\", \"query\": \"out;\"}", "the id is empty"),
            ("{\"query\": \"out;\", \"suggestions\": \"x\"}", "expected an array of texts, found a text"),
            ("{\"query\": \"out;\", \"suggestions\": [1]}", "expected texts, found a number"),
            ("{\"query\": \"out;\", \"lang\": \"sql\"}", "is not run here"),
            (&long, "at most 65536"),
        ] {
            assert!(read(text).is_err_and(|e| e.contains(says)), "{says}");
        }
    }
}
