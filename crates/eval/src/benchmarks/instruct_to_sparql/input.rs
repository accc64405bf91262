//! Reads the benchmark's files: the dataset's JSON lines, predictions, and the table of the authors' code.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::error::RunError;
use crate::input::read_lines;
use crate::record::Instance;

/// The tags around a query in a model's reply.
const TAGS: [&str; 2] = ["[QUERY]", "[/QUERY]"];

/// A line of the dataset.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gold {
    /// Its id.
    pub id: Option<String>,
    /// The instruction.
    pub instruction: Option<String>,
    /// The query.
    pub query: String,
    /// The query with labels.
    pub labelled: Option<String>,
    /// simple, medium or complex.
    pub complexity: Option<String>,
}

#[derive(Deserialize)]
struct InstructLine {
    id: Option<Value>,
    #[serde(alias = "sparql_query")]
    query: String,
    #[serde(alias = "sparql_annotated")]
    annotated: Option<String>,
    complexity: Option<String>,
    #[serde(default)]
    instructions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Prediction {
    Text(String),
    Object {
        id: Option<Value>,
        // Null if the system gave no prediction; a missing field is an error.
        #[serde(alias = "generated_query", alias = "pred", alias = "query", deserialize_with = "Option::deserialize")]
        prediction: Option<String>,
    },
}

fn name(id: Option<Value>) -> Option<String> {
    match id? {
        Value::String(text) => Some(text),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}

fn parsed<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Vec<(usize, T)>, RunError> {
    let lines = read_lines(path)?;
    let filled = lines.iter().enumerate().filter(|(_, text)| !text.trim().is_empty());
    let parse = |(index, text): (usize, &String)| match serde_json::from_str(text) {
        Ok(value) => Ok((index + 1, value)),
        Err(source) => Err(RunError::Malformed { path: path.to_owned(), line: index + 1, source }),
    };
    filled.map(parse).collect()
}

/// The instructions of a query to use; the dataset has five for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructions {
    /// The instruction with this number, from 1 to 5.
    One(usize),
    /// All, each as an instance of its own. The id is that of the query with the number: `7/2`.
    All,
}

impl std::str::FromStr for Instructions {
    type Err = String;

    fn from_str(text: &str) -> Result<Instructions, String> {
        match text.parse() {
            Ok(number) if number > 0 => Ok(Instructions::One(number)),
            _ if text == "all" => Ok(Instructions::All),
            _ => Err("expected a number from 1, or all".to_owned()),
        }
    }
}

/// Reads the dataset: one object per line, with the dataset's field names.
///
/// # Errors
/// Returns an error if the file cannot be read, a line has no query, or a line has fewer instructions than the number.
pub fn read_gold(path: &Path, instructions: Instructions) -> Result<Vec<Gold>, RunError> {
    let mut golds = Vec::new();
    for (number, line) in parsed::<InstructLine>(path)? {
        let gold = |id: Option<String>, instruction: Option<String>| Gold {
            id,
            instruction,
            query: line.query.clone(),
            labelled: line.annotated.clone(),
            complexity: line.complexity.clone(),
        };
        let id = name(line.id.clone());
        match instructions {
            Instructions::All if !line.instructions.is_empty() => {
                for (index, instruction) in line.instructions.iter().enumerate() {
                    let id = id.as_ref().map(|id| format!("{id}/{}", index + 1));
                    golds.push(gold(id, Some(instruction.clone())));
                }
            }
            Instructions::One(which) if which > 1 && line.instructions.len() < which => {
                let message = format!("{}: line {number} has {} instructions", path.display(), line.instructions.len());
                return Err(RunError::Unfit(message));
            }
            Instructions::One(which) => golds.push(gold(id, line.instructions.get(which.saturating_sub(1)).cloned())),
            Instructions::All => golds.push(gold(id, None)),
        }
    }
    Ok(golds)
}

/// Reads predictions, one per line of the dataset: texts, or objects with `prediction` and, if they are in another
/// order, `id`.
///
/// # Errors
/// Returns an error if the file cannot be read, or its lines do not match the dataset's.
pub fn read_predictions(path: &Path, gold: &[Gold]) -> Result<Vec<String>, RunError> {
    let unfit = |what: String| RunError::Unfit(format!("{}: {what}", path.display()));
    let mut texts = Vec::new();
    let mut by_id: BTreeMap<String, String> = BTreeMap::new();
    for (line, prediction) in parsed(path)? {
        let (id, text) = match prediction {
            Prediction::Text(text) => (None, text),
            Prediction::Object { id, prediction } => (name(id), prediction.unwrap_or_default()),
        };
        if let Some(id) = id
            && by_id.insert(id.clone(), text.clone()).is_some()
        {
            return Err(unfit(format!("line {line}: {id:?} was there before")));
        }
        texts.push(text);
    }
    if by_id.is_empty() {
        if texts.len() != gold.len() {
            return Err(unfit(format!("{} predictions for {} lines of the dataset", texts.len(), gold.len())));
        }
        return Ok(texts);
    }
    if by_id.len() != texts.len() {
        return Err(unfit("some lines have an id and others have none".to_owned()));
    }
    let of = |gold: &Gold| {
        let id = gold.id.as_ref().ok_or_else(|| unfit("a line of the dataset has no id".to_owned()))?;
        by_id.remove(id).ok_or_else(|| unfit(format!("there is no prediction for {id:?}")))
    };
    let found = gold.iter().map(of).collect::<Result<Vec<String>, RunError>>()?;
    match by_id.into_keys().next() {
        Some(id) => Err(unfit(format!("{id:?} is not in the dataset"))),
        None => Ok(found),
    }
}

/// Reads the `generated_queries.csv` of the authors' code.
///
/// # Errors
/// Returns an error if the file cannot be read or lacks a column.
pub fn read_generated(path: &Path) -> Result<(Vec<Gold>, Vec<String>), RunError> {
    #[derive(Deserialize)]
    struct InstructRow {
        user_instruction: Option<String>,
        target_query: String,
        complexity: Option<String>,
        generated_query: Option<String>,
    }
    let unfit = |e: csv::Error| RunError::Unfit(format!("{}: {e}", path.display()));
    let mut reader = csv::Reader::from_path(path).map_err(unfit)?;
    let (mut gold, mut texts) = (Vec::new(), Vec::new());
    for row in reader.deserialize() {
        let row: InstructRow = row.map_err(unfit)?;
        let (query, labelled) = (row.target_query.clone(), Some(row.target_query));
        gold.push(Gold { id: None, instruction: row.user_instruction, query, labelled, complexity: row.complexity });
        texts.push(row.generated_query.unwrap_or_default());
    }
    Ok((gold, texts))
}

/// Returns the query in a model's reply: the text between the tags, or an empty text. The first tag may also end the
/// query.
pub fn extract(text: &str) -> &str {
    let [open, close] = TAGS;
    let Some((_, rest)) = text.split_once(open) else { return "" };
    let end = rest.find(close).or_else(|| rest.find(open));
    end.and_then(|end| rest.get(..end)).unwrap_or_default().trim_matches(crate::metrics::is_python_space)
}

impl Gold {
    /// Returns the instance with a prediction.
    pub fn instance(self, line: usize, pred: String, labelled: bool) -> Instance {
        let gold = self.labelled.filter(|_| labelled).unwrap_or(self.query);
        let lang = if labelled { super::LABELLED } else { "sparql" };
        Instance {
            line,
            id: self.id,
            nl: self.instruction,
            gold,
            pred,
            lang: Some(lang.to_owned()),
            complexity: self.complexity,
            ..Instance::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_stands_between_its_tags() {
        assert_eq!(extract("Here: [QUERY]\nSELECT 1\n[/QUERY] and [QUERY]2[/QUERY]"), "SELECT 1");
        assert_eq!(extract("[QUERY] a [QUERY] b"), "a");
        assert_eq!(extract("[QUERY] a"), "");
        assert_eq!(extract("SELECT * { }"), "");
    }

    #[test]
    fn predictions_come_by_id_or_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let gold = write(
            "gold",
            "{\"id\": 7, \"sparql_query\": \"a\", \"instructions\": [\"A?\", \"B?\"], \"complexity\": \"simple\"}\n\
             {\"id\": \"8\", \"query\": \"b\", \"annotated\": \"B\"}\n",
        );
        let file = gold;
        let gold = read_gold(&file, Instructions::One(1)).unwrap();
        assert_eq!((gold[0].id.as_deref(), gold[0].instruction.as_deref()), (Some("7"), Some("A?")));
        assert_eq!(gold[1].labelled.as_deref(), Some("B"));
        let all = read_gold(&file, Instructions::All).unwrap();
        let of = |gold: &Gold| (gold.id.clone(), gold.instruction.clone(), gold.query.clone());
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            all.iter().map(of).collect::<Vec<_>>(),
            [
                (text("7/1"), text("A?"), "a".to_owned()),
                (text("7/2"), text("B?"), "a".to_owned()),
                (text("8"), None, "b".to_owned())
            ]
        );
        let second = read_gold(&file, Instructions::One(2)).unwrap_err().to_string();
        assert!(second.contains("line 2 has 0 instructions"), "{second}");
        let read = |text: &str| read_predictions(&write("pred", text), &gold).map_err(|e| e.to_string());
        assert_eq!(read("\"x\"\n{\"prediction\": \"y\"}\n").unwrap(), ["x", "y"]);
        assert_eq!(read("\"x\"\n{\"prediction\": null}\n").unwrap(), ["x", ""]);
        assert_eq!(read("{\"id\": 8, \"pred\": \"y\"}\n{\"id\": 7, \"pred\": \"x\"}\n").unwrap(), ["x", "y"]);
        for (text, says) in [
            ("\"x\"", "1 predictions for 2"),
            ("{\"id\": 8, \"pred\": \"y\"}\n{\"id\": 9, \"pred\": \"x\"}", "no prediction for \"7\""),
            ("{\"id\": 8, \"pred\": \"y\"}\n{\"id\": 8, \"pred\": \"x\"}", "was there before"),
            ("{\"id\": 8, \"pred\": \"y\"}\n\"x\"", "others have none"),
            ("{\"id\": 8}", "line 1"),
        ] {
            assert!(read(text).is_err_and(|e| e.contains(says)), "{text}: {:?}", read(text));
        }
    }
}
