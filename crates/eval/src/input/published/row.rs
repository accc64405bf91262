//! Adapts one row of a published benchmark: detects its shape by its field names.

use serde_json::{Map, Value};

use super::super::rows::{InputRow, kind};

const SPARQL: &str = "sparql";
/// The namespace of Spider4SPARQL's knowledge graphs. Its queries use the empty prefix without declaring it.
const SPIDER4SPARQL: &str = "PREFIX : <http://valuenet/ontop/>\n";

/// A shape of rows: the fields that identify it, and its conversion.
struct Shape {
    fields: &'static [&'static str],
    adapt: fn(&mut Map<String, Value>) -> Result<(), String>,
}

/// The known shapes; the first that fits is used.
static SHAPES: [Shape; 10] = [
    Shape { fields: &["golden"], adapt: t2s_metrics },
    Shape { fields: &["sparql_wikidata"], adapt: lcquad2 },
    Shape { fields: &["instructions", "query"], adapt: instruct_to_sparql },
    Shape { fields: &["instructions", "sparql_query"], adapt: instruct_to_sparql },
    Shape { fields: &["query", "comments"], adapt: overpassnl_comments },
    Shape { fields: &["kg_name", "query"], adapt: spider4sparql },
    Shape { fields: &["input", "output", "output_type"], adapt: text2geoql },
    Shape { fields: &["question", "sql", "answer_type"], adapt: gs_qa },
    Shape { fields: &["question", "gold_sparql"], adapt: wdql },
    Shape { fields: &["question", "sparql"], adapt: wdql },
];

/// Converts a row of a known shape to the field names of `terrapin eval jsonl`. Rows with `gold` stay unchanged.
///
/// # Errors
/// Returns an error if a field of the shape has a value of another type.
pub(super) fn adapt(row: &mut InputRow) -> Result<(), String> {
    if row.fields.contains_key("gold") {
        return Ok(());
    }
    let fits = |shape: &&Shape| shape.fields.iter().all(|name| row.fields.contains_key(*name));
    match SHAPES.iter().find(fits) {
        Some(shape) => (shape.adapt)(&mut row.fields),
        None => Ok(()),
    }
}

/// Renames a field, unless it is missing or the new name is taken.
fn rename(fields: &mut Map<String, Value>, theirs: &str, ours: &str) {
    if !fields.contains_key(ours)
        && let Some(value) = fields.remove(theirs)
    {
        fields.insert(ours.to_owned(), value);
    }
}

fn set(fields: &mut Map<String, Value>, name: &str, value: impl Into<Value>) {
    fields.insert(name.to_owned(), value.into());
}

fn drop_fields(fields: &mut Map<String, Value>, names: &[&str]) {
    names.iter().for_each(|name| drop(fields.remove(*name)));
}

/// T2S-Metrics: `id`, `golden`, `generated`, `order_matters`.
fn t2s_metrics(fields: &mut Map<String, Value>) -> Result<(), String> {
    match fields.get("order_matters") {
        None | Some(Value::Bool(_) | Value::Null) => {}
        Some(other) => return Err(format!("`order_matters`: expected true or false, found {}", kind(other))),
    }
    rename(fields, "golden", "gold");
    rename(fields, "generated", "pred");
    set(fields, "lang", SPARQL);
    Ok(())
}

/// WDQL and the collections of GRASP: `id`, `question`, `sparql`, `paraphrases`, `info`. Also SPINACH, which has the
/// same names.
fn wdql(fields: &mut Map<String, Value>) -> Result<(), String> {
    rename(fields, "sparql", "gold");
    rename(fields, "gold_sparql", "gold");
    rename(fields, "predicted_sparql", "pred");
    rename(fields, "question", "nl");
    drop_fields(fields, &["info"]);
    set(fields, "lang", SPARQL);
    Ok(())
}

/// LC-QuAD 2.0: `uid`, `question`, `paraphrased_question`, `NNQT_question`, `sparql_wikidata`, `template`. Some
/// questions have only the text of their template.
fn lcquad2(fields: &mut Map<String, Value>) -> Result<(), String> {
    let mut texts: Vec<String> = Vec::new();
    for name in ["question", "paraphrased_question", "NNQT_question"] {
        let text = fields.remove(name);
        let text = text.as_ref().and_then(Value::as_str).map(str::trim).unwrap_or_default();
        if !text.is_empty() && text != "n/a" && (name != "NNQT_question" || texts.is_empty()) {
            texts.push(text.to_owned());
        }
    }
    let mut texts = texts.into_iter();
    if let Some(text) = texts.next() {
        set(fields, "nl", text);
    }
    set(fields, "paraphrases", texts.collect::<Vec<String>>());
    rename(fields, "uid", "id");
    rename(fields, "sparql_wikidata", "gold");
    drop_fields(fields, &["sparql_dbpedia18", "subgraph", "template_index", "answer", "template_id"]);
    // Some templates are lists.
    if !fields.get("template").is_none_or(Value::is_string) {
        fields.remove("template");
    }
    set(fields, "lang", SPARQL);
    Ok(())
}

/// Instruct-to-SPARQL: the first instruction is the question, the others are its paraphrases.
fn instruct_to_sparql(fields: &mut Map<String, Value>) -> Result<(), String> {
    let instructions = match fields.remove("instructions") {
        Some(Value::Array(list)) => list,
        None | Some(Value::Null) => Vec::new(),
        Some(other) => return Err(format!("`instructions`: expected an array, found {}", kind(&other))),
    };
    let mut instructions = instructions.into_iter();
    if let Some(first) = instructions.next() {
        set(fields, "nl", first);
    }
    set(fields, "paraphrases", instructions.collect::<Vec<Value>>());
    rename(fields, "query", "gold");
    rename(fields, "sparql_query", "gold");
    drop_fields(fields, &["annotated", "sparql_annotated", "sparql_raw", "context", "description", "results"]);
    set(fields, "lang", SPARQL);
    Ok(())
}

/// OverpassNL's comments: `idx`, `query`, `comments`. The first comment is the question, the others are its paraphrases.
fn overpassnl_comments(fields: &mut Map<String, Value>) -> Result<(), String> {
    let comments = match fields.remove("comments") {
        Some(Value::Array(list)) => list,
        None | Some(Value::Null) => Vec::new(),
        Some(other) => return Err(format!("`comments`: expected an array, found {}", kind(&other))),
    };
    let mut comments = comments.into_iter();
    if let Some(first) = comments.next() {
        set(fields, "nl", first);
    }
    set(fields, "paraphrases", comments.collect::<Vec<Value>>());
    rename(fields, "idx", "id");
    rename(fields, "query", "gold");
    drop_fields(fields, &["comment_content_ratio"]);
    set(fields, "lang", "overpassql");
    Ok(())
}

/// Spider4SPARQL: `kg_name`, `question`, `query`. Each knowledge graph is a database of its own.
fn spider4sparql(fields: &mut Map<String, Value>) -> Result<(), String> {
    let Some(Value::String(query)) = fields.remove("query") else {
        return Err("`query`: expected a text".to_owned());
    };
    set(fields, "gold", format!("{SPIDER4SPARQL}{query}"));
    rename(fields, "question", "nl");
    rename(fields, "kg_name", "database");
    set(fields, "lang", SPARQL);
    Ok(())
}

/// text2geoql: `input` in TRIDENT's intermediate language or English, `output` in OverpassQL.
fn text2geoql(fields: &mut Map<String, Value>) -> Result<(), String> {
    rename(fields, "input", "nl");
    rename(fields, "output", "gold");
    rename(fields, "output_type", "lang");
    drop_fields(fields, &["input_type"]);
    Ok(())
}

/// GS-QA: the queries are SQL over PostGIS, which is not run here. `type` is the template.
fn gs_qa(fields: &mut Map<String, Value>) -> Result<(), String> {
    rename(fields, "question", "nl");
    rename(fields, "sql", "gold");
    rename(fields, "type", "template");
    rename(fields, "answer_type", "complexity");
    drop_fields(fields, &["answers", "question_entities"]);
    set(fields, "lang", "sql");
    Ok(())
}
