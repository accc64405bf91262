//! Reads the published benchmarks' files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value};

use super::QaBenchmark;
use crate::error::RunError;
use crate::input::extract::{PredictionFormat, read_predictions};
use crate::input::rows::kind;
use crate::input::{InputError, read_lines};
use crate::language::QueryLanguage;
use crate::record::{GivenAnswers, Instance};

/// The language of SPARQL instances.
const SPARQL: &str = "sparql";

/// The contents of a published benchmark's file.
#[derive(Debug, Default)]
pub struct QaInstances {
    /// The instances, with predictions if the file has them.
    pub instances: Vec<Instance>,
    /// The file has predictions, like SPINACH's output.
    pub predicted: bool,
}

/// Reads the questions, gold queries and answers of a published benchmark. `language` is that of QALD's questions.
///
/// # Errors
/// Returns an error if the file cannot be read, or is not the benchmark's.
pub fn read_golds(set: QaBenchmark, path: &Path, language: &str) -> Result<QaInstances, RunError> {
    let file = parse(path)?;
    let entries = entries(set, path, &file)?;
    let mut golds = QaInstances { instances: Vec::with_capacity(entries.len()), predicted: false };
    for (index, (key, entry)) in entries.into_iter().enumerate() {
        let unfit = |message: String| InputError::unfit(path, &format!("entry {}", index + 1), message);
        let Some(fields) = entry.as_object() else {
            return Err(unfit(format!("expected an object, found {}", kind(entry))).into());
        };
        let mut instance = match set {
            QaBenchmark::Qald => qald(fields, language),
            QaBenchmark::LcQuad2 => lcquad2(fields),
            QaBenchmark::Spinach => spinach(fields, &mut golds.predicted),
            QaBenchmark::GeoQuestions1089 => geo(fields),
            QaBenchmark::Text2Sparql => Err("files of TEXT2SPARQL are read as rows (benchmarks/jsonl.rs)".to_owned()),
        }
        .map_err(unfit)?;
        instance.line = index + 1;
        instance.id = instance.id.or(key);
        instance.lang = Some(SPARQL.to_owned());
        golds.instances.push(instance);
    }
    Ok(golds)
}

/// Adds predictions: one query per line, rows with a field for it, QALD's JSON with matching ids, or other given
/// forms.
///
/// # Errors
/// Returns an error if the file cannot be read, or does not match the instances.
pub fn with_predictions(golds: &mut QaInstances, path: &Path, forms: &[PredictionFormat]) -> Result<(), RunError> {
    let text = read_lines(path)?.join("\n");
    let begins = text.trim_start_matches('\u{feff}').trim_start();
    let qald = begins.starts_with('{').then(|| serde_json::from_str::<Value>(begins).ok()).flatten();
    if let Some(questions) = qald.as_ref().and_then(|file| file.get("questions")).and_then(Value::as_array) {
        return by_id(golds, path, questions);
    }
    let queries = read_predictions(path, forms, Some(QueryLanguage::Sparql))?;
    crate::input::same_length((Path::new("the questions"), golds.instances.len()), (path, queries.len()))?;
    for (instance, query) in golds.instances.iter_mut().zip(queries) {
        instance.pred = query;
        // Gold answers without predicted ones cannot be compared.
        instance.answers = None;
    }
    Ok(())
}

fn by_id(golds: &mut QaInstances, path: &Path, questions: &[Value]) -> Result<(), RunError> {
    let mut known: BTreeMap<String, &Value> = BTreeMap::new();
    for question in questions {
        let id = id(question.get("id")).unwrap_or_default();
        if known.insert(id.clone(), question).is_some() {
            return Err(InputError::unfit(path, "the file", format!("has the question {id:?} twice")).into());
        }
    }
    let mut used = BTreeSet::new();
    for instance in &mut golds.instances {
        let id = instance.id.clone().unwrap_or_default();
        // A question without an entry has no answer.
        let question = known.get(&id);
        used.extend(question.map(|_| id));
        instance.pred = question.and_then(|q| q.get("query")?.get("sparql")?.as_str()).unwrap_or_default().to_owned();
        let answer = question.and_then(|q| q.get("answers")).cloned().unwrap_or_default();
        if let Some(answers) = &mut instance.answers {
            answers.pred = answer;
        }
    }
    if let Some(other) = known.keys().find(|id| !used.contains(*id)) {
        return Err(
            InputError::unfit(path, "the file", format!("has the question {other:?}, which the gold lacks")).into()
        );
    }
    Ok(())
}

fn parse(path: &Path) -> Result<Value, InputError> {
    let text = read_lines(path)?.join("\n");
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).map_err(|error| InputError::unfit(path, &format!("line {}", error.line()), error))
}

/// Returns the entries of a file, with their names if it has them.
fn entries<'f>(set: QaBenchmark, path: &Path, file: &'f Value) -> Result<Vec<(Option<String>, &'f Value)>, InputError> {
    let list = match set {
        QaBenchmark::Qald => file.get("questions"),
        _ => Some(file),
    };
    match list {
        Some(Value::Array(entries)) => Ok(entries.iter().map(|entry| (None, entry)).collect()),
        Some(Value::Object(entries)) if set == QaBenchmark::GeoQuestions1089 => {
            let mut entries: Vec<(&String, &Value)> = entries.iter().collect();
            // Numbers come first, in order.
            entries.sort_by_key(|(name, _)| (name.parse::<u64>().unwrap_or(u64::MAX), (*name).clone()));
            Ok(entries.into_iter().map(|(name, entry)| (Some(name.clone()), entry)).collect())
        }
        _ => {
            let expected = match set {
                QaBenchmark::Qald => "an object with `questions`",
                QaBenchmark::GeoQuestions1089 => "an object with an entry for each question",
                QaBenchmark::LcQuad2 | QaBenchmark::Spinach | QaBenchmark::Text2Sparql => "an array of questions",
            };
            Err(InputError::unfit(path, "the file", format!("expected {expected}, found {}", kind(file))))
        }
    }
}

fn qald(fields: &Map<String, Value>, language: &str) -> Result<Instance, String> {
    let questions = fields.get("question").and_then(Value::as_array).ok_or("there is no list `question`")?;
    let in_language = |question: &&Value| question.get("language").and_then(Value::as_str) == Some(language);
    let question = questions.iter().find(in_language).or(questions.first());
    let query = fields.get("query").and_then(|query| query.get("sparql")).and_then(Value::as_str);
    let answer = fields.get("answers").cloned().unwrap_or_default();
    Ok(Instance {
        id: id(fields.get("id")),
        nl: question.and_then(|question| text(question.get("string"))),
        gold: query.unwrap_or_default().to_owned(),
        answers: Some(GivenAnswers { gold: answer, pred: Value::Null }),
        ..Instance::default()
    })
}

fn lcquad2(fields: &Map<String, Value>) -> Result<Instance, String> {
    // Some questions have only the text of their template.
    let wordings = ["question", "paraphrased_question", "NNQT_question"];
    Ok(Instance {
        id: id(fields.get("uid")),
        nl: wordings.iter().find_map(|name| text(fields.get(*name))),
        gold: query(fields, &["sparql_wikidata"])?,
        ..Instance::default()
    })
}

fn spinach(fields: &Map<String, Value>, predicted: &mut bool) -> Result<Instance, String> {
    let answers = match (fields.get("gold_answer_tuple"), fields.get("predicted_answer_tuple")) {
        (Some(gold), Some(pred)) => Some(GivenAnswers { gold: gold.clone(), pred: pred.clone() }),
        _ => None,
    };
    *predicted |= fields.contains_key("predicted_sparql");
    Ok(Instance {
        id: id(fields.get("id")),
        nl: text(fields.get("question")),
        gold: query(fields, &["sparql", "gold_sparql"])?,
        pred: text(fields.get("predicted_sparql")).unwrap_or_default(),
        answers,
        ..Instance::default()
    })
}

fn geo(fields: &Map<String, Value>) -> Result<Instance, String> {
    Ok(Instance {
        nl: text(fields.get("Question")),
        gold: query(fields, &["Query", "GeoSPARQL"])?,
        complexity: text(fields.get("Category")),
        ..Instance::default()
    })
}

fn query(fields: &Map<String, Value>, names: &[&str]) -> Result<String, String> {
    names.iter().find_map(|name| text(fields.get(*name))).ok_or_else(|| {
        let there: Vec<String> = fields.keys().map(|name| format!("`{name}`")).collect();
        format!("there is no `{}`; it has {}", names.join("` or `"), there.join(", "))
    })
}

/// Returns a non-empty text.
fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty() && *text != "n/a").map(str::to_owned)
}

fn id(value: Option<&Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: QaBenchmark, text: &str) -> Result<QaInstances, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.json");
        std::fs::write(&path, text).unwrap();
        read_golds(set, &path, "en").map_err(|e| e.to_string())
    }

    const QALD: &str = r#"{"questions": [{"id": "7", "question": [{"language": "de", "string": "Wer?"},
        {"language": "en", "string": "Who?"}], "query": {"sparql": "SELECT * {}"},
        "answers": [{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"type": "uri", "value": "a"}}]}}]}]}"#;

    #[test]
    fn every_benchmark_is_read_as_it_is_published() {
        let one = |set, text: &str| read(set, text).unwrap().instances.remove(0);
        let qald = one(QaBenchmark::Qald, QALD);
        assert_eq!((qald.id.as_deref(), qald.nl.as_deref()), (Some("7"), Some("Who?")));
        let lcquad = one(
            QaBenchmark::LcQuad2,
            r#"[{"uid": 19719, "question": "n/a", "NNQT_question": "What {is}?", "sparql_wikidata": "ask {}"}]"#,
        );
        assert_eq!((lcquad.id.as_deref(), lcquad.nl.as_deref()), (Some("19719"), Some("What {is}?")));
        let spinach = one(QaBenchmark::Spinach, r#"[{"id": "dev_3", "question": "Which?", "sparql": "SELECT * {}"}]"#);
        assert_eq!((spinach.id.as_deref(), spinach.answers), (Some("dev_3"), None));
        let geo = read(
            QaBenchmark::GeoQuestions1089,
            r#"{"10": {"Query": "b"}, "2": {"Category": "A", "Query": "a", "Question": "Where?"}}"#,
        );
        let geo = geo.unwrap().instances;
        let of = |i: &Instance| (i.line, i.id.clone().unwrap(), i.gold.clone());
        assert_eq!(
            geo.iter().map(of).collect::<Vec<_>>(),
            [(1, "2".to_owned(), "a".to_owned()), (2, "10".to_owned(), "b".to_owned())]
        );
        assert!(
            read(QaBenchmark::LcQuad2, "{}").unwrap_err().contains("expected an array of questions, found an object")
        );
        assert!(
            read(QaBenchmark::Spinach, "[{}]").unwrap_err().contains("entry 1: there is no `sparql` or `gold_sparql`")
        );
    }

    #[test]
    fn predictions_are_found_by_their_ids() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pred.json");
        let mut golds = read(QaBenchmark::Qald, QALD).unwrap();
        std::fs::write(
            &path,
            r#"{"questions": [{"id": 7, "query": {"sparql": "ASK {}"}, "answers": [{"boolean": true}]}]}"#,
        )
        .unwrap();
        with_predictions(&mut golds, &path, &[]).unwrap();
        let instance = &golds.instances[0];
        assert_eq!(instance.pred, "ASK {}");
        assert_eq!(instance.answers.as_ref().unwrap().pred[0]["boolean"], true);
        std::fs::write(&path, r#"{"questions": [{"id": "8"}]}"#).unwrap();
        let other = with_predictions(&mut golds, &path, &[]).unwrap_err().to_string();
        assert!(other.contains("has the question \"8\", which the gold lacks"), "{other}");
        std::fs::write(&path, "SELECT * {}\n").unwrap();
        with_predictions(&mut golds, &path, &[]).unwrap();
        assert_eq!((golds.instances[0].pred.as_str(), &golds.instances[0].answers), ("SELECT * {}", &None));
    }
}
