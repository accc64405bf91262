//! Reads predictions in the forms that systems write: one query per line, rows with a field for it, replies of a
//! model. A form that was not given is detected and rejected, because its lines would score 0.

use std::collections::BTreeMap;
use std::path::Path;

use super::rows::{InputRow, read_rows};
use super::{InputError, read_lines};
use crate::language::QueryLanguage;
use crate::reply;

/// A form of predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredictionFormat {
    /// One query per line, unchanged.
    Lines,
    /// JSON lines, or a JSON array, of objects.
    Json,
    /// A table with a header line.
    Csv,
    /// Queries between fences of three backticks.
    Fenced,
    /// Queries in quotes.
    Quoted,
    /// Replies of language models, in any form of `docs/reference/replies.md`. [`PredictionFormat::Fenced`] and
    /// [`PredictionFormat::Quoted`] are special cases that are detected in files and read the same way.
    Reply,
}

/// The fence of code in Markdown.
const FENCE: &str = "```";
/// The forms of replies.
const REPLIES: [PredictionFormat; 3] = [PredictionFormat::Fenced, PredictionFormat::Quoted, PredictionFormat::Reply];
/// The names of the prediction field, in order of preference.
const FIELDS: &[&str] = &[
    "prediction",
    "predictions",
    "pred",
    "predicted",
    "generated_query",
    "query",
    "output",
    "completion",
    "response",
    "text",
];

impl PredictionFormat {
    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            PredictionFormat::Lines => "lines",
            PredictionFormat::Json => "json",
            PredictionFormat::Csv => "csv",
            PredictionFormat::Fenced => "fenced",
            PredictionFormat::Quoted => "quoted",
            PredictionFormat::Reply => "reply",
        }
    }

    /// Returns its description for people.
    fn description(self) -> &'static str {
        match self {
            PredictionFormat::Lines => "queries",
            PredictionFormat::Json => "JSON",
            PredictionFormat::Csv => "a table (CSV)",
            PredictionFormat::Fenced => "code between fences (```)",
            PredictionFormat::Quoted => "queries in quotes",
            PredictionFormat::Reply => "replies of a model",
        }
    }
}

/// Reads the predictions of a file in these forms; without any, one query per line. `language` is that of the
/// queries, if they have one.
///
/// # Errors
/// Returns an error if the file cannot be read, lacks a required part, or is in another form.
pub fn read_predictions(
    path: &Path,
    forms: &[PredictionFormat],
    language: Option<QueryLanguage>,
) -> Result<Vec<String>, InputError> {
    let has = |form: PredictionFormat| forms.contains(&form);
    let texts = if has(PredictionFormat::Json) || has(PredictionFormat::Csv) {
        let rows = read_rows(path)?;
        rows.into_iter().map(|row| prediction(path, row)).collect::<Result<Vec<String>, _>>()?
    } else {
        let lines = read_lines(path)?;
        if !has(PredictionFormat::Lines) {
            refuse_other(path, forms, form_of_file(&lines))?;
        }
        if has(PredictionFormat::Fenced) || has(PredictionFormat::Reply) { blocks(&lines) } else { lines }
    };
    let texts: Vec<String> = texts.into_iter().map(|text| extract(&text, forms, language)).collect();
    if !has(PredictionFormat::Lines) {
        refuse_other(path, forms, form_of_texts(&texts))?;
    }
    Ok(texts)
}

/// Rejects texts in a form that was not given.
///
/// # Errors
/// Returns an error if the texts are in another form.
pub fn refuse_other(
    path: &Path,
    forms: &[PredictionFormat],
    found: Option<PredictionFormat>,
) -> Result<(), InputError> {
    let is_named = |found: &PredictionFormat| forms.contains(found) || REPLIES.contains(found) && names_reply(forms);
    let Some(found) = found.filter(|found| !is_named(found)) else { return Ok(()) };
    let names: Vec<&str> = forms.iter().chain([&found]).map(|form| form.name()).collect();
    Err(InputError::OtherForm { path: path.to_owned(), found: found.description(), option: names.join(",") })
}

fn names_reply(forms: &[PredictionFormat]) -> bool {
    REPLIES.iter().any(|form| forms.contains(form))
}

/// Returns the query of a prediction: that of the reply if one of its forms is named, else the text unchanged.
pub fn extract(text: &str, forms: &[PredictionFormat], language: Option<QueryLanguage>) -> String {
    if names_reply(forms) { reply::query(text, language) } else { text.to_owned() }
}

/// Reads predictions by the ids of their rows: `id`, or `qname` as in the answers of TEXT2SPARQL's client. Returns
/// `None` if the file has no rows, or not all rows have an id.
///
/// # Errors
/// Returns an error if the file cannot be read, an id occurs twice, or a row lacks a prediction.
pub fn read_predictions_by_id(
    path: &Path,
    forms: &[PredictionFormat],
    language: Option<QueryLanguage>,
) -> Result<Option<BTreeMap<String, String>>, InputError> {
    let lines = read_lines(path)?;
    let first = lines.iter().map(|line| line.trim_start_matches('\u{feff}').trim()).find(|line| !line.is_empty());
    if !first.is_some_and(|line| line.starts_with(['[', '{']) && !line.starts_with("{{")) {
        return Ok(None);
    }
    // A query may begin with a bracket as well.
    let Ok(rows) = read_rows(path) else { return Ok(None) };
    let mut predictions = BTreeMap::new();
    for mut row in rows {
        let id = row.fields.remove("qname").or_else(|| row.fields.remove("id"));
        let id = match id {
            Some(serde_json::Value::String(id)) => id,
            Some(serde_json::Value::Number(id)) => id.to_string(),
            _ => return Ok(None),
        };
        let place = row.place.clone();
        let text = extract(&prediction(path, row)?, forms, language);
        if predictions.insert(id.clone(), text).is_some() {
            return Err(InputError::unfit(path, &place, format!("the id {id:?} occurs twice")));
        }
    }
    Ok(Some(predictions))
}

fn prediction(path: &Path, mut row: InputRow) -> Result<String, InputError> {
    let Some(name) = FIELDS.iter().find(|name| row.fields.contains_key(**name)) else {
        let message = format!("no field has the prediction: expected `prediction`, found {}", row.names());
        return Err(InputError::unfit(path, &row.place, message));
    };
    // Null means that the system gave no query.
    row.take_text(&[name])
        .map(Option::unwrap_or_default)
        .map_err(|message| InputError::unfit(path, &row.place, message))
}

/// Detects the form of a file from most of its lines, or the first.
fn form_of_file(lines: &[String]) -> Option<PredictionFormat> {
    let filled: Vec<&str> = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    let first = filled.first()?.trim_start_matches('\u{feff}');
    let is_object = |line: &&&str| line.starts_with('{') && serde_json::from_str::<serde_json::Value>(line).is_ok();
    let is_array = || first.starts_with('[') && serde_json::from_str::<serde_json::Value>(&filled.join("\n")).is_ok();
    if most(filled.iter().filter(is_object).count(), filled.len()) || is_array() {
        return Some(PredictionFormat::Json);
    }
    let is_name = |cell: &str| FIELDS.contains(&cell.trim().trim_matches('"').to_ascii_lowercase().as_str());
    if first.split([',', '\t', ';']).any(is_name) {
        return Some(PredictionFormat::Csv);
    }
    let mut fenced = 0;
    let mut inside = false;
    for line in &filled {
        fenced += usize::from(inside || line.contains(FENCE));
        inside ^= line.matches(FENCE).count() % 2 == 1;
    }
    most(fenced, filled.len()).then_some(PredictionFormat::Fenced)
}

/// Detects the form of most of the texts.
pub fn form_of_texts(texts: &[String]) -> Option<PredictionFormat> {
    let filled = || texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    let all = filled().count();
    if most(filled().filter(|text| text.contains(FENCE)).count(), all) {
        return Some(PredictionFormat::Fenced);
    }
    most(filled().filter(|text| reply::is_quoted(text)).count(), all).then_some(PredictionFormat::Quoted)
}

/// Reports whether `some` are at least half of `all`.
fn most(some: usize, all: usize) -> bool {
    some > 0 && 2 * some >= all
}

/// Returns the predictions of a file with fences: its lines or, if fences have lines of their own, the text between
/// each pair.
fn blocks(lines: &[String]) -> Vec<String> {
    let opens = |line: &String| line.matches(FENCE).count() % 2 == 1;
    if !lines.iter().any(opens) {
        return lines.to_vec();
    }
    let mut blocks = Vec::new();
    let mut block: Option<String> = None;
    for line in lines {
        let block_so_far = match block.take() {
            Some(before) => before + "\n" + line,
            None if opens(line) => line.clone(),
            None if line.contains(FENCE) => {
                blocks.push(line.clone());
                continue;
            }
            // The system's text around its queries.
            None => continue,
        };
        if block_so_far.matches(FENCE).count() % 2 == 0 {
            blocks.push(block_so_far)
        } else {
            block = Some(block_so_far)
        }
    }
    blocks.extend(block);
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &str = "node[\"a\"=\"b\"];out;";

    fn read(text: &str, forms: &[PredictionFormat]) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("preds");
        std::fs::write(&path, text).unwrap();
        read_predictions(&path, forms, None).map_err(|e| e.to_string())
    }

    /// Checks that a file is rejected, and reads it with the suggested form.
    fn by_name(text: &str) -> (String, Vec<String>) {
        let refused = read(text, &[]).unwrap_err();
        let (_, option) = refused.split_once("--extract ").unwrap_or_else(|| panic!("{refused}"));
        let option = option.split([' ', ':']).next().unwrap();
        let all = [
            PredictionFormat::Lines,
            PredictionFormat::Json,
            PredictionFormat::Csv,
            PredictionFormat::Fenced,
            PredictionFormat::Quoted,
            PredictionFormat::Reply,
        ];
        let forms: Vec<PredictionFormat> =
            option.split(',').map(|name| *all.iter().find(|form| form.name() == name).unwrap()).collect();
        assert_eq!(
            read(text, &[PredictionFormat::Lines]).map(|texts| texts.len()),
            Ok(text.lines().count()),
            "as it is"
        );
        (option.to_owned(), read(text, &forms).unwrap())
    }

    #[test]
    fn every_form_is_refused_and_then_read() {
        let json = serde_json::json!({"id": 1, "prediction": QUERY}).to_string();
        let quoted = serde_json::json!(QUERY).to_string();
        for (name, file) in [
            ("json", format!("{json}\n{json}\n")),
            ("json", format!("[{json},\n{json}]\n")),
            (
                "csv",
                "id,prediction\n1,\"node[\"\"a\"\"=\"\"b\"\"];out;\"\n2,\"node[\"\"a\"\"=\"\"b\"\"];out;\"\n"
                    .to_owned(),
            ),
            ("csv", "query\n\"node[\"\"a\"\"=\"\"b\"\"];out;\"\n\"node[\"\"a\"\"=\"\"b\"\"];out;\"\n".to_owned()),
            ("fenced", format!("```overpassql {QUERY} ```\nIt is: ```{QUERY}```.\n")),
            ("fenced", format!("Sure!\n```\n{QUERY}\n```\n\n```overpassql\n{QUERY}\n```\n")),
            ("quoted", format!("{quoted}\n{quoted}\n")),
            ("quoted", format!("'{QUERY}'\n`{QUERY}`\n")),
            ("quoted", "\"node[\"\"a\"\"=\"\"b\"\"];out;\"\n\"node[\"\"a\"\"=\"\"b\"\"];out;\"\n".to_owned()),
        ] {
            assert_eq!(by_name(&file), (name.to_owned(), vec![QUERY.to_owned(); 2]), "{file}");
        }
    }

    #[test]
    fn forms_come_within_forms() {
        let said = format!("The query:\n```overpassql\n{QUERY}\n```");
        let line = serde_json::json!({"response": said}).to_string();
        let refused = read(&line, &[PredictionFormat::Json]).unwrap_err();
        assert!(refused.contains("--extract json,fenced"), "{refused}");
        assert_eq!(read(&line, &[PredictionFormat::Json, PredictionFormat::Fenced]).unwrap(), [QUERY]);
        assert_eq!(
            read("{\"prediction\": null}\n{\"prediction\": \"a\"}", &[PredictionFormat::Json]).unwrap(),
            ["", "a"]
        );
        let lacks = read("{\"answer\": \"x\"}", &[PredictionFormat::Json]).unwrap_err();
        assert!(lacks.contains("line 1") && lacks.contains("found `answer`"), "{lacks}");
    }

    #[test]
    fn queries_are_no_other_form() {
        let file =
            format!("{QUERY}\n\n{{{{geocodeArea:\"A, B\"}}}}->.a;node(area.a);out;\n[out:json];out;\n```{QUERY}```\n");
        assert_eq!(read(&file, &[]).unwrap().len(), 5, "one line of many may be as it likes");
        assert_eq!(read("", &[]).unwrap().len(), 0);
        for form in REPLIES {
            assert_eq!(extract(&format!("```x```\n```{QUERY}```"), &[form], None), QUERY);
        }
        assert_eq!(extract("```out;```", &[PredictionFormat::Lines], None), "```out;```");
        let both = "```sparql\nASK {}\n```\n```overpassql\nout;\n```";
        assert_eq!(extract(both, &[PredictionFormat::Reply], Some(QueryLanguage::Sparql)), "ASK {}");
    }
}
