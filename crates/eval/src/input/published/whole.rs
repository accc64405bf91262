//! Reads files that are one document: QALD's JSON and the YAML of TEXT2SPARQL.

use std::path::Path;

use serde_json::{Map, Value};
use yaml_rust2::parser::{Event, EventReceiver, Parser};
use yaml_rust2::{Yaml, YamlLoader};

use super::super::rows::{InputRow, kind};
use super::super::{InputError, read_lines};

/// The language of questions that have several.
const LANGUAGE: &str = "en";
/// The maximum depth of a YAML document.
const MAX_DEPTH: usize = 32;

/// Reads a file that is one document; returns `None` for files of rows.
pub(super) fn read(path: &Path) -> Result<Option<Vec<InputRow>>, InputError> {
    if is_yaml(path) {
        return text2sparql(path).map(Some);
    }
    let bytes = std::fs::read(path).map_err(|source| InputError::Unreadable { path: path.to_owned(), source })?;
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii_start();
    if !text.starts_with(b"{") {
        return Ok(None);
    }
    // JSON lines are more than one document.
    let Ok(Value::Object(mut file)) = serde_json::from_slice(text) else { return Ok(None) };
    match file.remove("questions") {
        Some(Value::Array(questions)) => numbered(path, questions, qald).map(Some),
        Some(_) => Ok(None),
        None if is_geoquestions(&file) => Ok(Some(geoquestions(file))),
        None => Ok(None),
    }
}

/// Reports whether a file is GeoQuestions1089: an object with a question for each number.
fn is_geoquestions(file: &Map<String, Value>) -> bool {
    !file.is_empty() && file.iter().all(|(name, entry)| name.parse::<u64>().is_ok() && entry.get("Question").is_some())
}

fn geoquestions(file: Map<String, Value>) -> Vec<InputRow> {
    let number = |name: &str| name.parse::<u64>().unwrap_or(u64::MAX);
    let mut entries: Vec<(String, Value)> = file.into_iter().collect();
    entries.sort_by_key(|(name, _)| number(name));
    let row = |(index, (name, entry)): (usize, (String, Value))| {
        let field = |names: &[&str]| names.iter().find_map(|name| entry.get(*name)).cloned().unwrap_or_default();
        let mut fields = Map::new();
        fields.insert("nl".to_owned(), field(&["Question"]));
        fields.insert("gold".to_owned(), field(&["Query", "GeoSPARQL"]));
        fields.insert("complexity".to_owned(), field(&["Category"]));
        fields.insert("lang".to_owned(), "sparql".into());
        let place = format!("question {name}");
        fields.insert("id".to_owned(), name.into());
        InputRow { number: index + 1, place, fields }
    };
    entries.into_iter().enumerate().map(row).collect()
}

/// Converts the entries of a list to rows.
fn numbered(
    path: &Path,
    entries: Vec<Value>,
    convert: impl Fn(&Map<String, Value>) -> Result<Map<String, Value>, String>,
) -> Result<Vec<InputRow>, InputError> {
    let row = |(index, entry): (usize, Value)| {
        let place = format!("question {}", index + 1);
        let fields = match &entry {
            Value::Object(fields) => convert(fields),
            other => Err(format!("expected an object, found {}", kind(other))),
        };
        let fields = fields.map_err(|message| InputError::unfit(path, &place, message))?;
        Ok(InputRow { number: index + 1, place, fields })
    };
    entries.into_iter().enumerate().map(row).collect()
}

/// QALD: `question` is a list of texts with their languages, `query.sparql` the query.
fn qald(entry: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let questions = entry.get("question").and_then(Value::as_array).ok_or("there is no list `question`")?;
    let in_language = |question: &&Value| question.get("language").and_then(Value::as_str) == Some(LANGUAGE);
    let question = questions.iter().find(in_language).or(questions.first());
    let text = question.and_then(|question| question.get("string")).cloned();
    row_of(entry, entry.get("id").map(plain_id), text)
}

/// Returns the identifier of the data in a file of TEXT2SPARQL (`dataset.id`); `None` for other files.
///
/// # Errors
/// Returns an error if the file cannot be read, or is not YAML.
pub fn dataset(path: &Path) -> Result<Option<String>, InputError> {
    if !is_yaml(path) {
        return Ok(None);
    }
    let file = yaml(path)?;
    let id = file.get("dataset").and_then(|dataset| dataset.get("id")).and_then(Value::as_str);
    Ok(id.map(str::to_owned))
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|name| name.eq_ignore_ascii_case("yml") || name.eq_ignore_ascii_case("yaml"))
}

/// Reads a document of YAML without references.
fn yaml(path: &Path) -> Result<Value, InputError> {
    let text = read_lines(path)?.join("\n");
    let invalid = |e: &dyn std::fmt::Display| InputError::unfit(path, "the file", format!("YAML: {e}"));
    let mut aliases = AliasSearch::default();
    Parser::new_from_str(&text).load(&mut aliases, true).map_err(|e| invalid(&e))?;
    if aliases.is_found {
        return Err(invalid(&"references to other parts of the file (`*name`) are not supported"));
    }
    let documents = YamlLoader::load_from_str(&text).map_err(|e| invalid(&e))?;
    let file = documents.first().map(|document| json(document, 0)).transpose().map_err(|e| invalid(&e))?;
    Ok(file.unwrap_or_default())
}

/// TEXT2SPARQL: `question` has a text for each language. The id is that of its client: `ck25:7-en`.
fn text2sparql(path: &Path) -> Result<Vec<InputRow>, InputError> {
    let file = yaml(path)?;
    let Some(Value::Array(questions)) = file.get("questions").cloned() else {
        return Err(InputError::unfit(path, "the file", "expected a list `questions`, as in the files of TEXT2SPARQL"));
    };
    let prefix = file.get("dataset").and_then(|dataset| dataset.get("prefix")).and_then(Value::as_str);
    numbered(path, questions, |entry| {
        let texts = entry.get("question").and_then(Value::as_object).ok_or("there is no `question` with languages")?;
        let (language, text) = texts
            .get_key_value(LANGUAGE)
            .or_else(|| texts.iter().next())
            .ok_or("`question` has no text in any language")?;
        let id = entry.get("id").map(plain_id).filter(|id| !id.is_empty());
        let id = id.map(|id| prefix.map_or_else(|| id.clone(), |prefix| format!("{prefix}:{id}-{language}")));
        row_of(entry, id, Some(text.clone()))
    })
}

/// Searches a document for aliases. A small file of them can stand for a document that fits in no memory.
#[derive(Default)]
struct AliasSearch {
    is_found: bool,
}

impl EventReceiver for AliasSearch {
    fn on_event(&mut self, event: Event) {
        self.is_found |= matches!(event, Event::Alias(_));
    }
}

fn row_of(entry: &Map<String, Value>, id: Option<String>, text: Option<Value>) -> Result<Map<String, Value>, String> {
    let query = entry.get("query").and_then(|query| query.get("sparql"));
    let query = query.and_then(Value::as_str).ok_or("there is no `query` with `sparql`")?;
    let mut fields = Map::new();
    if let Some(id) = id {
        fields.insert("id".to_owned(), id.into());
    }
    fields.insert("nl".to_owned(), text.unwrap_or_default());
    fields.insert("gold".to_owned(), query.into());
    fields.insert("lang".to_owned(), "sparql".into());
    // A list of names in TEXT2SPARQL, an object in QALD.
    match entry.get("features") {
        Some(Value::Array(names)) if names.iter().any(|name| name == "RESULT_ORDER_MATTERS") => {
            fields.insert("order_matters".to_owned(), true.into());
        }
        Some(features) => {
            if let Some(order) = features.get("order_matters") {
                fields.insert("order_matters".to_owned(), order.clone());
            }
        }
        None => {}
    }
    Ok(fields)
}

fn plain_id(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

/// Converts YAML to JSON.
fn json(value: &Yaml, depth: usize) -> Result<Value, String> {
    if depth > MAX_DEPTH {
        return Err(format!("nested more than {MAX_DEPTH} times"));
    }
    Ok(match value {
        Yaml::String(text) | Yaml::Real(text) => Value::String(text.clone()),
        Yaml::Integer(number) => (*number).into(),
        Yaml::Boolean(yes) => (*yes).into(),
        Yaml::Array(list) => list.iter().map(|item| json(item, depth + 1)).collect::<Result<_, _>>()?,
        Yaml::Hash(entries) => {
            let mut fields = Map::new();
            for (key, value) in entries {
                // `no` and `1` are keys as well.
                let key = match json(key, depth + 1)? {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                fields.insert(key, json(value, depth + 1)?);
            }
            Value::Object(fields)
        }
        Yaml::Alias(_) | Yaml::Null | Yaml::BadValue => Value::Null,
    })
}
