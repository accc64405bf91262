//! Answers as rows of values, from a query or from a file.

use std::collections::BTreeSet;

use oxrdf::Term;
use serde_json::{Map, Value, json};

use crate::benchmarks::sparql::SparqlAnswer;
use crate::metrics::spinach::{self, Row};
use crate::metrics::text2sparql::Text2SparqlAnswer;
use terrapin_sparql::QueryResultForm;

/// Converts the answer of a query. An unbound column is missing, as in the SPARQL results format.
pub(super) fn of_answer(answer: &SparqlAnswer) -> spinach::SpinachAnswer {
    if answer.form == QueryResultForm::Ask {
        let value = answer.rows.first().and_then(|row| row.first()).and_then(Option::as_ref);
        let is_true = matches!(value, Some(Term::Literal(literal)) if literal.value() == "true");
        return spinach::SpinachAnswer::Boolean(is_true);
    }
    let row = |row: &Vec<Option<Term>>| -> Row {
        let cell = |(name, term): (&String, &Option<Term>)| Some((name.clone(), binding(term.as_ref()?)));
        answer.columns.iter().zip(row).filter_map(cell).collect()
    };
    spinach::SpinachAnswer::Rows(answer.rows.iter().map(row).collect())
}

/// Formats a term as in the SPARQL results format, with sorted members.
fn binding(term: &Term) -> String {
    value_of(term).to_string()
}

fn value_of(term: &Term) -> Value {
    match term {
        Term::NamedNode(node) => json!({"type": "uri", "value": node.as_str()}),
        Term::BlankNode(node) => json!({"type": "bnode", "value": node.as_str()}),
        Term::Literal(literal) => match literal.language() {
            Some(language) => match literal.direction() {
                Some(direction) => {
                    let direction = direction.to_string();
                    json!({"its:dir": direction, "type": "literal", "value": literal.value(), "xml:lang": language})
                }
                None => json!({"type": "literal", "value": literal.value(), "xml:lang": language}),
            },
            None if literal.datatype() == oxrdf::vocab::xsd::STRING => {
                json!({"type": "literal", "value": literal.value()})
            }
            None => json!({"datatype": literal.datatype().as_str(), "type": "literal", "value": literal.value()}),
        },
        Term::Triple(triple) => {
            let subject = value_of(&triple.subject.clone().into());
            let predicate = value_of(&triple.predicate.clone().into());
            let value = json!({"object": value_of(&triple.object), "predicate": predicate, "subject": subject});
            json!({"type": "triple", "value": value})
        }
    }
}

/// Parses an answer in a file: results, a list of bindings, or true or false; anything else is no answer.
pub(super) fn of_json(answer: &Value) -> spinach::SpinachAnswer {
    match answer {
        Value::Bool(yes) => spinach::SpinachAnswer::Boolean(*yes),
        Value::Array(bindings) => {
            // QALD wraps the answer in a list.
            if let [Value::Object(only)] = bindings.as_slice()
                && (only.contains_key("results") || only.contains_key("boolean"))
            {
                return of_object(only);
            }
            spinach::SpinachAnswer::Rows(bindings.iter().map(row).collect())
        }
        Value::Object(results) => of_object(results),
        _ => spinach::SpinachAnswer::None,
    }
}

fn of_object(results: &Map<String, Value>) -> spinach::SpinachAnswer {
    if let Some(yes) = results.get("boolean").and_then(Value::as_bool) {
        return spinach::SpinachAnswer::Boolean(yes);
    }
    match results.get("results").and_then(|results| results.get("bindings")) {
        Some(Value::Array(bindings)) => spinach::SpinachAnswer::Rows(bindings.iter().map(row).collect()),
        _ => spinach::SpinachAnswer::None,
    }
}

fn row(binding: &Value) -> Row {
    let cells = binding.as_object().into_iter().flatten();
    cells.map(|(name, value)| (name.clone(), sorted(value).to_string())).collect()
}

/// Returns a value with sorted object members.
fn sorted(value: &Value) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    let mut members: Vec<(&String, &Value)> = members.iter().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    members.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns the values of all rows and columns as a set of texts.
pub(super) fn values(answer: &spinach::SpinachAnswer) -> BTreeSet<String> {
    match answer {
        spinach::SpinachAnswer::None => BTreeSet::new(),
        spinach::SpinachAnswer::Boolean(yes) => BTreeSet::from([yes.to_string()]),
        spinach::SpinachAnswer::Rows(rows) => rows.iter().flatten().map(|(_, value)| text(value)).collect(),
    }
}

/// Converts an answer to the form of TEXT2SPARQL's client.
pub(super) fn as_text2sparql(answer: &spinach::SpinachAnswer) -> Text2SparqlAnswer {
    match answer {
        spinach::SpinachAnswer::Boolean(yes) => {
            Text2SparqlAnswer { values: BTreeSet::from(["true".to_owned()]), is_relevant: *yes }
        }
        other => Text2SparqlAnswer { values: values(other), is_relevant: true },
    }
}

/// Returns the rows as a set, each with its values in order; column names are ignored.
pub(super) fn texts(answer: &spinach::SpinachAnswer) -> BTreeSet<Vec<String>> {
    match answer {
        spinach::SpinachAnswer::Rows(rows) => {
            let row = |row: &Row| {
                let mut texts: Vec<String> = row.iter().map(|(_, value)| text(value)).collect();
                texts.sort_unstable();
                texts
            };
            rows.iter().map(row).collect()
        }
        other => values(other).into_iter().map(|value| vec![value]).collect(),
    }
}

/// Returns the text of a value: its `value`.
fn text(binding: &str) -> String {
    let value: Value = serde_json::from_str(binding).unwrap_or_default();
    match value.get("value") {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => value.as_str().map_or_else(|| binding.to_owned(), str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::{Literal, NamedNode};

    #[test]
    fn what_a_query_gave_is_what_a_file_says() {
        let row = vec![
            Some(NamedNode::new_unchecked("x:a").into()),
            Some(Literal::new_language_tagged_literal_unchecked("b", "en").into()),
            Some(Literal::from(7).into()),
            Some(Literal::from("s").into()),
            None,
        ];
        let columns = ["a", "bLabel", "n", "s", "none"].map(str::to_owned).into();
        let answer = SparqlAnswer { form: QueryResultForm::Select, columns, rows: vec![row] };
        let file = json!([{
            "a": {"value": "x:a", "type": "uri"},
            "bLabel": {"xml:lang": "en", "type": "literal", "value": "b"},
            "n": {"type": "literal", "value": "7", "datatype": "http://www.w3.org/2001/XMLSchema#integer"},
            "s": {"type": "literal", "value": "s"},
        }]);
        let sort = |answer: spinach::SpinachAnswer| match answer {
            spinach::SpinachAnswer::Rows(mut rows) => {
                rows.iter_mut().for_each(|row| row.sort_unstable());
                spinach::SpinachAnswer::Rows(rows)
            }
            other => other,
        };
        assert_eq!(sort(of_answer(&answer)), sort(of_json(&file)));
        assert_eq!(values(&of_json(&file)), ["7", "b", "s", "x:a"].map(str::to_owned).into());
    }

    #[test]
    fn what_is_no_answer_is_none() {
        assert_eq!(of_json(&Value::Null), spinach::SpinachAnswer::None);
        assert_eq!(of_json(&json!({"head": {}})), spinach::SpinachAnswer::None);
        assert_eq!(of_json(&json!([{"boolean": true}])), spinach::SpinachAnswer::Boolean(true));
        assert_eq!(of_json(&json!([])), spinach::SpinachAnswer::Rows(Vec::new()));
    }
}
