//! How a query is solved: its steps as the evaluator takes them, each with the number of its solutions and its time.

use std::fmt::Write as _;

use serde_json::Value;

use terrapin_sparql_syntax::error::{Class, Code, Error};

/// One step a line, what it works on indented below it.
pub(super) fn render(json: &[u8]) -> Result<String, Error> {
    let failed = |why: String| Error::new(Class::Internal, Code::Explain, why);
    let explanation: Value = serde_json::from_slice(json).map_err(|e| failed(e.to_string()))?;
    let mut out = String::new();
    // A query's nesting is bounded, and so is this.
    let mut open = vec![(0, &explanation["plan"])];
    while let Some((depth, node)) = open.pop() {
        let name = node["name"].as_str().unwrap_or("?");
        let _ = write!(out, "{}{name}", "  ".repeat(depth));
        if let Some(rows) = node["number of results"].as_u64() {
            let _ = write!(out, "  [{rows} solutions");
            if let Some(seconds) = node["duration in seconds"].as_f64() {
                let _ = write!(out, ", {:.1} ms", seconds * 1000.0);
            }
            out.push(']');
        }
        out.push('\n');
        let children = node["children"].as_array().map(Vec::as_slice).unwrap_or_default();
        open.extend(children.iter().rev().map(|child| (depth + 1, child)));
    }
    Ok(out)
}
