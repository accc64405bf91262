//! Predictions in whatever form a system wrote them: a query a line, rows with a field for it, queries between fences or
//! in quotes. A form that was not named is found out and refused: taken as queries, its lines would score 0.

use std::path::Path;

use super::rows::{Row, read_rows};
use super::{InputError, read_lines};
use crate::language;

/// A form of predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A query a line, taken as it is.
    Lines,
    /// JSON lines, or one array, of objects.
    Json,
    /// A table whose first line names its columns.
    Csv,
    /// Queries between fences of three backticks.
    Fenced,
    /// Queries in quotes.
    Quoted,
}

/// What fences code in Markdown.
const FENCE: &str = "```";
/// Quotes, opening and closing.
const QUOTES: [(char, char); 5] = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('«', '»')];
/// Names of the field that a prediction is in, those before others first.
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

impl Form {
    /// As the command line names it.
    pub fn name(self) -> &'static str {
        match self {
            Form::Lines => "lines",
            Form::Json => "json",
            Form::Csv => "csv",
            Form::Fenced => "fenced",
            Form::Quoted => "quoted",
        }
    }

    /// What it is, for people.
    fn description(self) -> &'static str {
        match self {
            Form::Lines => "queries",
            Form::Json => "JSON",
            Form::Csv => "a table (CSV)",
            Form::Fenced => "code between fences (```)",
            Form::Quoted => "queries in quotes",
        }
    }
}

/// Reads the predictions of a file in these forms. Without any they are lines with a query each.
///
/// # Errors
/// The file cannot be read, lacks what the forms need, or is in another form.
pub fn read_predictions(path: &Path, forms: &[Form]) -> Result<Vec<String>, InputError> {
    let has = |form: Form| forms.contains(&form);
    let texts = if has(Form::Json) || has(Form::Csv) {
        let rows = read_rows(path)?;
        rows.into_iter().map(|row| prediction(path, row)).collect::<Result<Vec<String>, _>>()?
    } else {
        let lines = read_lines(path)?;
        if !has(Form::Lines) {
            refuse_other(path, forms, form_of_file(&lines))?;
        }
        if has(Form::Fenced) { blocks(&lines) } else { lines }
    };
    let texts: Vec<String> = texts.into_iter().map(|text| extract(&text, forms)).collect();
    if !has(Form::Lines) {
        refuse_other(path, forms, form_of_texts(&texts))?;
    }
    Ok(texts)
}

/// An error where the texts are in a form that was not named.
///
/// # Errors
/// They are.
pub fn refuse_other(path: &Path, forms: &[Form], found: Option<Form>) -> Result<(), InputError> {
    let Some(found) = found.filter(|found| !forms.contains(found)) else { return Ok(()) };
    let names: Vec<&str> = forms.iter().chain([&found]).map(|form| form.name()).collect();
    Err(InputError::OtherForm { path: path.to_owned(), found: found.description(), option: names.join(",") })
}

/// What a prediction has of a query: what is between its fences or quotes, where these forms are named and it has some.
pub fn extract(text: &str, forms: &[Form]) -> String {
    let text = if forms.contains(&Form::Fenced) { unfenced(text) } else { text };
    let unquoted = if forms.contains(&Form::Quoted) { unquoted(text) } else { None };
    unquoted.unwrap_or_else(|| text.to_owned())
}

fn prediction(path: &Path, mut row: Row) -> Result<String, InputError> {
    let Some(name) = FIELDS.iter().find(|name| row.fields.contains_key(**name)) else {
        let message = format!("no field has the prediction: expected `prediction`, found {}", row.names());
        return Err(InputError::unfit(path, &row.place, message));
    };
    // Whoever gave nothing gave no query.
    row.take_text(&[name])
        .map(Option::unwrap_or_default)
        .map_err(|message| InputError::unfit(path, &row.place, message))
}

/// The form of a whole file that most of its lines, or the first, show.
fn form_of_file(lines: &[String]) -> Option<Form> {
    let filled: Vec<&str> = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    let first = filled.first()?.trim_start_matches('\u{feff}');
    let is_object = |line: &&&str| line.starts_with('{') && serde_json::from_str::<serde_json::Value>(line).is_ok();
    let is_array = || first.starts_with('[') && serde_json::from_str::<serde_json::Value>(&filled.join("\n")).is_ok();
    if most(filled.iter().filter(is_object).count(), filled.len()) || is_array() {
        return Some(Form::Json);
    }
    let is_name = |cell: &str| FIELDS.contains(&cell.trim().trim_matches('"').to_ascii_lowercase().as_str());
    if first.split([',', '\t', ';']).any(is_name) {
        return Some(Form::Csv);
    }
    let mut fenced = 0;
    let mut inside = false;
    for line in &filled {
        fenced += usize::from(inside || line.contains(FENCE));
        inside ^= line.matches(FENCE).count() % 2 == 1;
    }
    most(fenced, filled.len()).then_some(Form::Fenced)
}

/// The form that most of some texts are in.
pub fn form_of_texts(texts: &[String]) -> Option<Form> {
    let filled = || texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    let all = filled().count();
    if most(filled().filter(|text| text.contains(FENCE)).count(), all) {
        return Some(Form::Fenced);
    }
    most(filled().filter(|text| quotes_of(text).is_some()).count(), all).then_some(Form::Quoted)
}

/// Whether so many are at least half of them.
fn most(some: usize, all: usize) -> bool {
    some > 0 && 2 * some >= all
}

/// The predictions of a file with fences: its lines, or, where fences stand on lines of their own, what is between each
/// two of them.
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
            // What a system says beside its queries.
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

/// What is between fences: of several the first that is a query, else the first; the text itself where it has none.
fn unfenced(text: &str) -> &str {
    let inside = || text.split(FENCE).skip(1).step_by(2).map(without_name);
    inside().find(|code| language::of(code).is_some()).or_else(|| inside().next()).unwrap_or(text)
}

/// A block of code without the name of its language.
fn without_name(code: &str) -> &str {
    if language::of(code).is_some() {
        return code.trim();
    }
    let end = code.find(|c: char| !c.is_ascii_alphanumeric() && !"+-_#.".contains(c)).unwrap_or(code.len());
    let (_, rest) = code.split_at(end);
    if rest.starts_with(char::is_whitespace) { rest.trim() } else { code.trim() }
}

fn quotes_of(text: &str) -> Option<(char, char)> {
    let text = text.trim().trim_end_matches(',');
    QUOTES.into_iter().find(|(open, close)| text.len() > 1 && text.starts_with(*open) && text.ends_with(*close))
}

/// What is in quotes; JSON's escapes and CSV's doubled quotes are what they stand for.
fn unquoted(text: &str) -> Option<String> {
    let (open, close) = quotes_of(text)?;
    let text = text.trim().trim_end_matches(',');
    if let Ok(inside) = serde_json::from_str::<String>(text) {
        return Some(inside);
    }
    let inside = text.strip_prefix(open)?.strip_suffix(close)?;
    Some(if open == close { inside.replace(&format!("{open}{open}"), &open.to_string()) } else { inside.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &str = "node[\"a\"=\"b\"];out;";

    fn read(text: &str, forms: &[Form]) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("preds");
        std::fs::write(&path, text).unwrap();
        read_predictions(&path, forms).map_err(|e| e.to_string())
    }

    /// Refuses a file, and reads it by the name that the refusal gives.
    fn by_name(text: &str) -> (String, Vec<String>) {
        let refused = read(text, &[]).unwrap_err();
        let (_, option) = refused.split_once("--extract ").unwrap_or_else(|| panic!("{refused}"));
        let option = option.split([' ', ':']).next().unwrap();
        let all = [Form::Lines, Form::Json, Form::Csv, Form::Fenced, Form::Quoted];
        let forms: Vec<Form> =
            option.split(',').map(|name| *all.iter().find(|form| form.name() == name).unwrap()).collect();
        assert_eq!(read(text, &[Form::Lines]).map(|texts| texts.len()), Ok(text.lines().count()), "as it is");
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
        let refused = read(&line, &[Form::Json]).unwrap_err();
        assert!(refused.contains("--extract json,fenced"), "{refused}");
        assert_eq!(read(&line, &[Form::Json, Form::Fenced]).unwrap(), [QUERY]);
        assert_eq!(read("{\"prediction\": null}\n{\"prediction\": \"a\"}", &[Form::Json]).unwrap(), ["", "a"]);
        let lacks = read("{\"answer\": \"x\"}", &[Form::Json]).unwrap_err();
        assert!(lacks.contains("line 1") && lacks.contains("found `answer`"), "{lacks}");
    }

    #[test]
    fn queries_are_no_other_form() {
        let file =
            format!("{QUERY}\n\n{{{{geocodeArea:\"A, B\"}}}}->.a;node(area.a);out;\n[out:json];out;\n```{QUERY}```\n");
        assert_eq!(read(&file, &[]).unwrap().len(), 5, "one line of many may be as it likes");
        assert_eq!(read("", &[]).unwrap().len(), 0);
        assert_eq!(extract(&format!("```x```\n```{QUERY}```"), &[Form::Fenced]), QUERY);
        assert_eq!(extract("'it'", &[Form::Fenced]), "'it'");
        assert_eq!(extract("```\nout;", &[Form::Fenced]), "out;", "a fence that is not closed");
    }
}
