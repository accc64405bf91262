//! Texts about the snapshot and about results: for the model, and as answers without one.

use std::borrow::Cow;
use std::fmt::Write;

use super::{AskedQueryResult, Lang};
use terrapin_base::untrusted;
use terrapin_engine::Engine;

/// Maximum number of rows of a result that a model sees, and of characters of all results.
const ROWS: usize = 20;
const LETTERS: usize = 6000;

/// Returns the content of the snapshot, a line for each kind of data.
pub fn snapshot(engine: &Engine) -> String {
    let manifest = engine.manifest();
    let mut out = String::new();
    let counts = &manifest.counts;
    if counts.nodes > 0 {
        let _ = write!(
            out,
            "- OpenStreetMap: {} nodes, {} ways, {} relations",
            counts.nodes, counts.ways, counts.relations
        );
        if let Ok(time) = jiff::Timestamp::from_second(manifest.data_timestamp) {
            let _ = write!(out, ", as of {time}");
        }
        if let Some(sides) = manifest.bounding_box {
            let [south, west, north, east] = sides.map(|side| f64::from(side) / 1e7);
            let _ = write!(out, ", between {south},{west} and {north},{east} (latitude,longitude)");
        }
        out.push('\n');
    }
    if let Some(triples) = &manifest.triples {
        let _ = writeln!(out, "- a part of Wikidata: {} triples", triples.triples);
    }
    out.trim_end().to_owned()
}

/// Returns results for a model: each query with its first rows.
pub fn results(results: &[AskedQueryResult]) -> String {
    let all: String = results.iter().map(|result| format!("{}\n\n{}\n", result.query.query, rows(result))).collect();
    cut(&all)
}

/// Returns a result for a model: its first rows.
pub fn sample(result: &AskedQueryResult) -> String {
    cut(&rows(result))
}

/// Returns the number of rows, the columns and the first rows.
fn rows(result: &AskedQueryResult) -> String {
    let mut out = String::new();
    let shown = result.rows.len().min(ROWS);
    let columns = result.columns.iter().map(|column| untrusted::line(column)).collect::<Vec<_>>().join(" | ");
    let first =
        if result.total > shown as u64 { format!(", of which the first {shown} follow") } else { String::new() };
    let _ = writeln!(out, "rows: {}{first}; columns: {columns}", result.total);
    for row in result.rows.iter().take(ROWS) {
        let cells: Vec<Cow<'_, str>> =
            row.iter().map(|cell| untrusted::line(cell.as_deref().unwrap_or_default())).collect();
        let _ = writeln!(out, "{}", cells.join(" | "));
    }
    out
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.trim_end().to_owned(),
    }
}

/// Returns an answer without a model: the value of a single result, or else the number of rows or elements.
pub fn plain(results: &[AskedQueryResult]) -> String {
    let one = |result: &AskedQueryResult| match (&result.rows[..], result.query.language) {
        ([row], Lang::Sparql) if row.len() == 1 => row[0].clone().unwrap_or_default(),
        ([row], Lang::Overpassql) if row.first().is_some_and(|kind| kind.as_deref() == Some("count")) => {
            let total = result.columns.iter().position(|column| column == "total");
            total.and_then(|at| row.get(at).cloned().flatten()).unwrap_or_default()
        }
        (_, language) => {
            let what = if language == Lang::Sparql { "row" } else { "element" };
            if result.total == 1 { format!("1 {what}") } else { format!("{} {what}s", result.total) }
        }
    };
    results.iter().map(|result| one(result) + ".").collect::<Vec<_>>().join(" ")
}

/// Returns the sentence about places that the snapshot does not contain, or an empty text if it contains all.
pub fn missing(places: &[String]) -> String {
    let places: Vec<Cow<'_, str>> = places.iter().map(|place| untrusted::line(place)).collect();
    match &places[..] {
        [] => String::new(),
        [place] => format!("{place} is not in this snapshot."),
        [first @ .., last] => format!("{} and {last} are not in this snapshot.", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_places_are_named() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (names, text) in [
            (&[][..], ""),
            (&["Paris"], "Paris is not in this snapshot."),
            (&["Paris", "Bonn"], "Paris and Bonn are not in this snapshot."),
            (&["Paris", "Bonn", "Rome\u{1b}[2J"], "Paris, Bonn and Rome [2J are not in this snapshot."),
        ] {
            assert_eq!(missing(&list(names)), text);
        }
    }
}
