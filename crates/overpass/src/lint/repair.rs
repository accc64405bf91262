//! Proposes edits of a query with an empty result. Each changes one place: a filter is replaced with the nearest tag of
//! the data or removed, a type is widened, a swapped box is turned, a missing `out` is added. Whether an edit helps is
//! for the caller to find out, by running the edited query.

use std::ops::Range;

use terrapin_budget::{Budget, ExceededLimit};
use terrapin_osm::Osm;

use super::nearest::TagSuggestion;
use super::without::is_narrow;
use super::{PROBED, each_query, missing_in, sets};
use crate::syntax::{Filter, FilterKind, QlBoundingBox, Query, QueryType, Script, Statement, Tag};

/// The maximum number of filters of a statement to edit.
const FILTERS: usize = 8;
/// The maximum number of edits.
const EDITS: usize = 24;

/// An edit that may give a query results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairEdit {
    /// What the edit does, as an imperative.
    pub title: String,
    /// The bytes of the query to replace.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
    /// Whether the edit adds an output. Of several such edits, one is enough.
    pub adds_output: bool,
}

/// Returns edits that may give a query results, the likeliest first. The XML form has none.
///
/// # Errors
/// Returns an error if a limit is reached.
pub fn repairs(osm: &Osm, text: &str, script: &Script, budget: &Budget) -> Result<Vec<RepairEdit>, ExceededLimit> {
    if text.trim_start().starts_with('<') {
        return Ok(Vec::new());
    }
    // Without an output, no other edit gives results.
    if sets::no_output(text, script).is_some() {
        let end = text.trim_end().len();
        let semicolon = if text[..end].ends_with([';', '}']) || end == 0 { "" } else { ";" };
        let edit = |out: &str| RepairEdit {
            title: format!("add {out}"),
            range: end..end,
            text: format!("{semicolon}\n{out}"),
            adds_output: true,
        };
        return Ok(vec![edit("out geom;"), edit("out;")]);
    }
    let mut queries = Vec::new();
    each_query(&script.statements, &mut |query, statement| queries.push((query, statement)));
    let (mut replaced, mut widened, mut removed) = (Vec::new(), Vec::new(), Vec::new());
    for (query, statement) in queries.into_iter().take(PROBED) {
        for (place, filter) in query.filters.iter().enumerate().take(FILTERS) {
            budget.check()?;
            let own = text.get(filter.span.start..filter.span.end).unwrap_or_default();
            if own.is_empty() {
                continue;
            }
            let range = filter.span.start..filter.span.end;
            let tags = missing_in(osm, filter, budget)?.map(|missing| missing.instead);
            for near in tags.into_iter().flatten() {
                let Some(with) = replacement(filter, &near) else { continue };
                let title = format!("replace {own} with {with}");
                replaced.push(RepairEdit { title, range: range.clone(), text: with, adds_output: false });
            }
            if let FilterKind::Bbox(bbox) = &filter.kind {
                replaced.extend(turned(&bbox.bounds).map(|text| RepairEdit {
                    title: format!("swap latitude and longitude: {text}"),
                    range: range.clone(),
                    text,
                    adds_output: false,
                }));
            }
            if stays_narrow(query, place) {
                removed.push(RepairEdit {
                    title: format!("remove {own}"),
                    range,
                    text: String::new(),
                    adds_output: false,
                });
            }
        }
        widened.extend(wider(text, query, statement));
    }
    let mut edits: Vec<RepairEdit> = Vec::new();
    for edit in [replaced, widened, removed].concat() {
        // A key and a tag that are near may give the same filter.
        let is_new = edits.iter().all(|known| (&known.range, &known.text) != (&edit.range, &edit.text));
        if is_new && edits.len() < EDITS {
            edits.push(edit);
        }
    }
    Ok(edits)
}

/// Returns whether a query without one of its filters still has one with an index: all elements of a box or an area are
/// no repair.
fn stays_narrow(query: &Query, place: usize) -> bool {
    let mut rest = query.filters.iter().enumerate().filter(|(other, _)| *other != place);
    rest.any(|(_, filter)| is_narrow(&filter.kind))
}

/// Returns the filter for a suggestion. A suggested key keeps the value of the filter.
fn replacement(filter: &Filter, near: &TagSuggestion) -> Option<String> {
    let FilterKind::Tag(tag) = &filter.kind else { return None };
    let value = match (&near.value, tag) {
        (Some(value), Tag::Equals { .. }) => Some(value),
        (None, Tag::Equals { value, .. }) => Some(value),
        (None, Tag::HasKey { .. }) => None,
        _ => return None,
    };
    let key = quoted(&near.key);
    Some(value.map_or_else(|| format!("[{key}]"), |value| format!("[{key}={}]", quoted(value))))
}

/// Returns a key or value, in quotes if its characters require them.
fn quoted(word: &str) -> String {
    let is_name = word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && word.chars().all(|other| other.is_ascii_alphanumeric() || other == '_');
    if is_name { word.to_owned() } else { format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")) }
}

/// Returns a box with latitudes and longitudes swapped, if both can be latitudes.
fn turned(bounds: &QlBoundingBox) -> Option<String> {
    let [south, west, north, east] = bounds.degrees;
    (west.abs() <= 90.0 && east.abs() <= 90.0 && west <= east).then(|| format!("({west},{south},{east},{north})"))
}

/// Widens a query of one type to all types.
fn wider(text: &str, query: &Query, statement: &Statement) -> Option<RepairEdit> {
    if !matches!(query.what, QueryType::Node | QueryType::Way | QueryType::Relation) {
        return None;
    }
    let own = text.get(statement.span.start..statement.span.end)?;
    let word = ["node", "way", "relation", "rel"].into_iter().find(|word| own.starts_with(word))?;
    let range = statement.span.start..statement.span.start + word.len();
    Some(RepairEdit { title: format!("replace {word} with nwr"), range, text: "nwr".to_owned(), adds_output: false })
}
