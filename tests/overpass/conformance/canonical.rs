//! Computes the canonical form of answers on which the vectors' digests are based: Python's `json.dumps` with sorted
//! keys and without spaces; an XML element as a list of name, attributes, text and children; text by lines.

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Returns the SHA-256 of lines.
pub fn digest(lines: &[String]) -> String {
    Sha256::digest(lines.join("\n").as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
}

/// Returns the sorted `type/id` of an answer, and its elements in canonical form.
pub fn read(body: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (mut ids, items) = match body.trim_start().chars().next() {
        Some('{') => from_json(body)?,
        Some('<') => from_xml(body)?,
        _ => (Vec::new(), lines(body)),
    };
    ids.sort();
    Some((ids, items))
}

fn from_json(body: &str) -> Option<(Vec<String>, Vec<String>)> {
    let answer: Value = serde_json::from_str(body).ok()?;
    let elements = answer["elements"].as_array()?;
    let ids = elements.iter().filter(|e| !e["id"].is_null());
    let ids = ids.map(|e| format!("{}/{}", e["type"].as_str().unwrap_or_default(), plain(&e["id"])));
    Some((ids.collect(), elements.iter().map(dump).collect()))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn dump(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(dump).collect::<Vec<_>>().join(",")),
        Value::Object(map) => {
            let mut fields: Vec<_> = map.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            let fields: Vec<String> =
                fields.iter().map(|(k, v)| format!("{}:{}", Value::from(k.as_str()), dump(v))).collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Number(n) if n.is_f64() => python_float(n.as_f64().unwrap_or_default()),
        other => other.to_string(),
    }
}

/// Formats a number in the same way as Python prints a float.
fn python_float(x: f64) -> String {
    if x != 0.0 && (x.abs() < 1e-4 || x.abs() >= 1e16) {
        let text = format!("{x:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or_default();
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    format!("{x:?}")
}

/// Splits lines like Python's `splitlines`.
fn lines(body: &str) -> Vec<String> {
    let breaks = |c: char| {
        matches!(c, '\n' | '\r' | '\x0b' | '\x0c' | '\x1c' | '\x1d' | '\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
    };
    let body = body.replace("\r\n", "\n");
    let mut out: Vec<String> = body.split(breaks).map(str::to_owned).collect();
    if out.last().is_some_and(String::is_empty) {
        out.pop();
    }
    out
}

struct JsonXmlNode {
    name: String,
    attributes: serde_json::Map<String, Value>,
    text: String,
    children: Vec<Value>,
}

fn open(start: &BytesStart) -> Option<JsonXmlNode> {
    let mut attributes = serde_json::Map::new();
    for attribute in start.attributes() {
        let attribute = attribute.ok()?;
        let key = attribute.key.as_ref().to_owned();
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
        attributes.insert(key, json!(value));
    }
    let name = start.name().as_ref().to_owned();
    Some(JsonXmlNode { name, attributes, text: String::new(), children: Vec::new() })
}

fn from_xml(body: &str) -> Option<(Vec<String>, Vec<String>)> {
    let mut reader = quick_xml::Reader::from_str(body);
    let mut stack: Vec<JsonXmlNode> = Vec::new();
    let (mut ids, mut items) = (Vec::new(), Vec::new());
    loop {
        let event = reader.read_event().ok()?;
        let closed = match event {
            Event::Start(start) => {
                stack.push(open(&start)?);
                None
            }
            Event::Empty(start) => Some(open(&start)?),
            Event::End(_) => stack.pop(),
            Event::Text(text) => {
                if let Some(top) = stack.last_mut().filter(|top| top.children.is_empty()) {
                    top.text.push_str(&text);
                }
                None
            }
            Event::GeneralRef(reference) => {
                if let Some(top) = stack.last_mut().filter(|top| top.children.is_empty()) {
                    match reference.resolve_char_ref().ok()? {
                        Some(c) => top.text.push(c),
                        None => top.text.push_str(quick_xml::escape::resolve_predefined_entity(&reference)?),
                    }
                }
                None
            }
            Event::Eof => return Some((ids, items)),
            _ => None,
        };
        let Some(node) = closed else { continue };
        if stack.is_empty() {
            continue;
        }
        if stack.len() == 1 {
            if node.name == "note" || node.name == "meta" {
                continue;
            }
            if let Some(id) = node.attributes.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()) {
                ids.push(format!("{}/{id}", node.name));
            }
        }
        let value = json!([node.name, node.attributes, node.text.trim(), node.children]);
        match stack.len() {
            1 => items.push(dump(&value)),
            _ => stack.last_mut()?.children.push(value),
        }
    }
}
