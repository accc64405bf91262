//! Queries in JSON: fields of objects, arguments of tool calls, texts in quotes.

use serde_json::Value;

/// Names of fields that contain a query, in order of precedence.
const FIELDS: &[&str] = &[
    "query",
    "sparql",
    "overpassql",
    "overpass",
    "overpass_query",
    "sparql_query",
    "generated_query",
    "ql",
    "prediction",
    "predictions",
    "pred",
    "predicted",
    "final_query",
    "final_answer",
    "answer",
    "code",
    "data",
    "output",
    "completion",
    "response",
    "result",
    "text",
    "content",
    "arguments",
    "parameters",
    "input",
    "function",
    "tool_calls",
];
/// Maximum depth to search in a value.
const DEPTH: usize = 6;
/// Maximum number of possible objects to try in a text.
const ATTEMPTS: usize = 64;
/// Quotes, opening and closing.
const QUOTES: &[(char, char)] = &[('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('«', '»'), ('‘', '’'), ('„', '“')];

/// Returns the value if the whole text is a JSON object, array or string.
pub fn whole(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with(['{', '[', '"']) {
        return None;
    }
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&escaped(text))).ok()
}

/// Returns the objects among other text, in order.
pub fn within(text: &str) -> Vec<Value> {
    let (mut values, mut at, mut attempts) = (Vec::new(), 0, 0);
    while let Some(next) = text[at..].find('{') {
        let begin = at + next;
        at = begin + 1;
        // A JSON object starts with a field name.
        if !text[at..].trim_start().starts_with('"') {
            continue;
        }
        attempts += 1;
        if attempts > ATTEMPTS {
            break;
        }
        let mut read = serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Value>();
        if let Some(Ok(value)) = read.next() {
            at = begin + read.byte_offset();
            values.push(value);
        } else if let Some(Ok(value)) =
            serde_json::Deserializer::from_str(&escaped(&text[begin..])).into_iter::<Value>().next()
        {
            values.push(value);
        }
    }
    values
}

/// Returns the strings that may be queries, in order of precedence: those in fields of known names.
pub fn texts(value: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    collect(value, DEPTH, &mut texts);
    texts
}

fn collect(value: &Value, depth: usize, texts: &mut Vec<String>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        // The arguments of a tool call are an object encoded as a string.
        Value::String(text) => match text.trim_start().starts_with('{').then(|| whole(text)).flatten() {
            Some(object) => collect(&object, depth, texts),
            None => texts.push(text.clone()),
        },
        Value::Array(items) => items.iter().for_each(|item| collect(item, depth, texts)),
        Value::Object(fields) => {
            let known = |name: &str| fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
            FIELDS.iter().filter_map(|name| known(name)).for_each(|(_, field)| collect(field, depth, texts));
        }
        _ => {}
    }
}

/// Returns the content of a text that is entirely in quotes; JSON escapes and doubled quotes are decoded.
pub fn unquoted(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches([',', ';', '.']).trim_end();
    let is_around = |(open, close): &&(char, char)| {
        text.strip_prefix(*open).is_some_and(|inside| !inside.is_empty() && inside.ends_with(*close))
    };
    let (open, close) = QUOTES.iter().find(is_around)?;
    if let Ok(inside) = serde_json::from_str::<String>(text) {
        return Some(inside);
    }
    let inside = text.strip_prefix(*open)?.strip_suffix(*close)?;
    Some(if open == close { inside.replace(&format!("{open}{open}"), &open.to_string()) } else { inside.to_owned() })
}

/// Returns whether the whole text is in quotes.
pub fn is_quoted(text: &str) -> bool {
    unquoted(text).is_some()
}

/// Escapes line breaks and tabs within strings, which models write unescaped.
fn escaped(text: &str) -> String {
    let (mut out, mut is_inside, mut is_escape) = (String::with_capacity(text.len()), false, false);
    for c in text.chars() {
        match c {
            '\n' if is_inside => out.push_str("\\n"),
            '\r' if is_inside => out.push_str("\\r"),
            '\t' if is_inside => out.push_str("\\t"),
            _ => out.push(c),
        }
        is_inside ^= c == '"' && !is_escape;
        is_escape = is_inside && c == '\\' && !is_escape;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_in_fields() {
        for (text, expected) in [
            (r#"{"query": "a"}"#, vec!["a"]),
            (r#"{"thoughts": "x", "Query": "a", "note": "y"}"#, vec!["a"]),
            (r#"{"name": "run", "arguments": "{\"query\": \"a\"}"}"#, vec!["a"]),
            (r#"[{"function": {"name": "f", "arguments": {"sparql": "a"}}}]"#, vec!["a"]),
            ("{\"query\": \"a\n\tb\"}", vec!["a\n\tb"]),
            (r#"["a", "b"]"#, vec!["a", "b"]),
            ("\"a\\nb\"", vec!["a\nb"]),
            (r#"{"query": null, "other": "a"}"#, vec![]),
        ] {
            assert_eq!(whole(text).map(|value| texts(&value)).unwrap_or_default(), expected, "{text}");
        }
        assert_eq!(whole("[out:json];node;out;"), None);
        assert_eq!(whole("{\"query\": \"a"), None);
        let deep = format!("{}\"a\"{}", "[".repeat(20), "]".repeat(20));
        assert_eq!(texts(&whole(&deep).unwrap()), Vec::<String>::new());
        let found: Vec<_> =
            within("It is {\"query\": \"a\"} or {{bbox}} {\"query\": \"b\"}.").iter().flat_map(texts).collect();
        assert_eq!(found, ["a", "b"]);
    }

    #[test]
    fn quotes_are_taken_off() {
        for (text, expected) in [
            ("\"a\\\"b\"", Some("a\"b")),
            ("'a',", Some("a")),
            ("“a”", Some("a")),
            ("\"a\"\"b\"", Some("a\"b")),
            ("`a`", Some("a")),
            ("a", None),
            ("\"", None),
        ] {
            assert_eq!(unquoted(text).as_deref(), expected, "{text}");
        }
    }
}
