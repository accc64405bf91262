//! Verifies the numbers of a published run by recomputing them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// The maximum difference between a recomputed and a stored number, which covers rounding in files.
const TOLERANCE: f64 = 1e-9;

/// A stored number or text that differs from the recomputed one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunMismatch {
    /// Its position, such as `summary.json: ex` or `results.jsonl: line 7: kvs`.
    pub place: String,
    /// The stored value.
    pub stored: String,
    /// The recomputed value.
    pub recomputed: String,
}

/// Compares a stored object with a recomputed one, field by field. Findings begin with `place`; `only` are the
/// compared fields, or all if empty.
pub fn verify_summary(place: &str, stored: &Value, recomputed: &Value, only: &[&str]) -> Vec<RunMismatch> {
    let keep = |fields: &mut BTreeMap<String, String>| {
        if !only.is_empty() {
            fields.retain(|path, _| {
                only.contains(&path.as_str()) || only.contains(&path.split('.').next().unwrap_or_default())
            });
        }
    };
    let (mut stored, mut recomputed) = (numbers(stored), numbers(recomputed));
    keep(&mut stored);
    keep(&mut recomputed);
    let paths: std::collections::BTreeSet<&String> = stored.keys().chain(recomputed.keys()).collect();
    let differing = paths.into_iter().filter(|path| !same(stored.get(*path), recomputed.get(*path)));
    let text = |side: &BTreeMap<String, String>, path: &String| side.get(path).map_or("nothing", |v| v).to_owned();
    differing
        .map(|path| RunMismatch {
            place: format!("{place}: {path}"),
            stored: text(&stored, path),
            recomputed: text(&recomputed, path),
        })
        .collect()
}

fn same(a: Option<&String>, b: Option<&String>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return a == b };
    a == b || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if (a - b).abs() <= TOLERANCE)
}

/// Returns all values of an object, by path.
pub fn numbers(value: &Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![(String::new(), value)];
    while let Some((path, value)) = open.pop() {
        let inner = |name: &dyn std::fmt::Display| {
            if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
        };
        match value {
            Value::Object(fields) => open.extend(fields.iter().map(|(name, value)| (inner(name), value))),
            Value::Array(items) => open.extend(items.iter().enumerate().map(|(i, value)| (inner(&i), value))),
            Value::String(text) => drop(found.insert(path, text.clone())),
            Value::Null => {}
            other => drop(found.insert(path, other.to_string())),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_does_not_stand_is_named() {
        let stored = serde_json::json!({"ex": 41.0, "errors": {"nominatim": 1}, "n": 3, "ci": [1.0, 2.0]});
        let recomputed = serde_json::json!({"ex": 41.0000000000001, "errors": {"nominatim": 2}, "n": 3, "ci": [1.0]});
        let findings = verify_summary("summary.json", &stored, &recomputed, &[]);
        let places: Vec<&str> = findings.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["summary.json: ci.1", "summary.json: errors.nominatim"]);
        assert_eq!((findings[1].stored.as_str(), findings[1].recomputed.as_str()), ("1", "2"));
        assert!(verify_summary("x", &stored, &recomputed, &["ex", "n"]).is_empty());
    }
}
