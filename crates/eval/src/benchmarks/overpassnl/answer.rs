//! Converts a server's answer to results or an error class like OverpassNL's evaluation, which reads only its text.

use serde::Deserialize;
use std::borrow::Cow;

use super::class::class_of;
use crate::metrics::execution::{ExecutionResults, ResultElement};
use crate::record::{ErrorClass, FailedQuery};

/// The length in characters from which an answer is a `memory_error`.
pub const MAX_CHARACTERS: u64 = 2_000_000_000;

#[derive(Deserialize)]
struct OverpassJsonAnswer<'a> {
    #[serde(borrow)]
    elements: Vec<AnswerElement<'a>>,
}

#[derive(Deserialize)]
struct AnswerElement<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    id: Option<i64>,
}

#[derive(Deserialize)]
struct CountAnswer {
    elements: Vec<OverpassNlCount>,
}

/// The first element of an answer with a count.
#[derive(Deserialize)]
struct OverpassNlCount {
    tags: Option<CountTags>,
}

#[derive(Deserialize)]
struct CountTags {
    total: Option<String>,
    all: Option<String>,
}

/// Parses the body of an answer.
///
/// # Errors
/// Returns an error if the body is not JSON, or has values that the published code cannot compare.
pub fn read(body: &str) -> Result<ExecutionResults, FailedQuery<ErrorClass>> {
    if let Some(class) = class_of(body) {
        return Err(FailedQuery::new(class, excerpt(body)));
    }
    let unknown = |text: String| FailedQuery::new(ErrorClass::UnknownError, text);
    let answer: OverpassJsonAnswer =
        serde_json::from_str(body).map_err(|e| unknown(format!("not a JSON answer: {e}")))?;
    if matches!(answer.elements.len(), 1 | 2) && answer.elements.first().is_some_and(|e| e.kind == "count") {
        return count(body).map(ExecutionResults::Count).ok_or_else(|| unknown("a count without a number".to_owned()));
    }
    let keys = answer.elements.into_iter().map(|e| e.id.map(|id| ResultElement { kind: e.kind.into_owned(), id }));
    let keys: Option<Vec<ResultElement>> = keys.collect();
    keys.map(ExecutionResults::elements).ok_or_else(|| unknown("an element without an id".to_owned()))
}

fn count(body: &str) -> Option<i64> {
    let counts: CountAnswer = serde_json::from_str(body).ok()?;
    let tags = counts.elements.into_iter().next()?.tags?;
    tags.total.or(tags.all)?.trim().parse().ok()
}

/// Returns the beginning of a text for a report.
fn excerpt(text: &str) -> String {
    text.chars().take(500).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::FailureKind as _;

    fn class(body: &str) -> &'static str {
        read(body).unwrap_err().class.name()
    }

    #[test]
    fn elements_in_order_of_type_and_id() {
        let body = r#"{"version": 0.6, "elements": [
            {"type": "way", "id": 2, "nodes": [1]}, {"type": "node", "id": 10, "tags": {"a": "\u00e4"}},
            {"type": "node", "id": 9}], "remark": "x"}"#;
        let ExecutionResults::Elements(keys, _) = read(body).unwrap() else { panic!("elements expected") };
        assert_eq!(keys.iter().map(ResultElement::to_string).collect::<Vec<_>>(), ["node/9", "node/10", "way/2"]);
    }

    #[test]
    fn a_count_is_the_first_of_at_most_two() {
        let count = r#"{"type": "count", "id": 0, "tags": {"nodes": "3", "total": "4"}}"#;
        let node = r#"{"type": "node", "id": 1}"#;
        let read = |elements: &str| read(&format!("{{\"elements\": [{elements}]}}")).unwrap();
        assert_eq!(read(count), ExecutionResults::Count(4));
        assert_eq!(read(&format!("{count}, {node}")), ExecutionResults::Count(4));
        assert_eq!(read(&format!("{node}, {count}")).number(), 2);
        assert_eq!(read(&format!("{count}, {node}, {node}")).number(), 3);
        assert_eq!(read(""), ExecutionResults::elements(Vec::new()));
    }

    #[test]
    fn of_stopped_queries_only_those_out_of_time_are_errors() {
        let stopped = |remark: &str| {
            format!("{{\"elements\": [{{\"type\": \"node\", \"id\": 1}}], \"remark\": \"runtime error: {remark}\"}}")
        };
        let time = stopped("Query timed out in \\\"query\\\" at line 1 after 301 seconds.");
        assert_eq!(class(&time), "runtime_error_timeout");
        let memory = stopped("Query run out of memory in \\\"query\\\" at line 1 using about 2048 MB of RAM.");
        assert_eq!(read(&memory).unwrap().number(), 1);
    }

    #[test]
    fn what_cannot_be_read_is_unknown() {
        assert_eq!(class("<html>"), "unknown_error");
        assert_eq!(class("{}"), "unknown_error");
        assert_eq!(class(r#"{"elements": [{"type": "x"}]}"#), "unknown_error");
        assert_eq!(class(r#"{"elements": [{"type": "count", "id": 0, "tags": {}}]}"#), "unknown_error");
        assert_eq!(class("Error: line 1: parse error: ';' expected - 'o' found."), "parse_error");
    }
}
