//! Finds the parts of a query that make its answer depend on the day or on chance.

use terrapin_geocoder::PlaceTable;
use terrapin_overpass::turbo::{self, ShortcutValues};
use terrapin_sparql::syntax::algebra::{Expression, Function};
use terrapin_sparql::syntax::walk::{AsNode, QueryNode};
use terrapin_sparql::{Dialect, syntax};

use super::FindingKind;
use super::answer::GoldEngine;
use super::pairs::GoldPair;
use crate::language::QueryLanguage;

/// Two times, 400 days and some seconds apart, in seconds since 1970.
const MOMENTS: [i64; 2] = [1_600_000_000, 1_634_560_777];

/// Returns the kinds of volatility with the text that causes them.
pub fn volatile(engine: &GoldEngine<'_>, pair: &GoldPair) -> Vec<(FindingKind, String)> {
    match pair.language() {
        QueryLanguage::OverpassQl => {
            dates(engine, pair).into_iter().map(|text| (FindingKind::Relative, text)).collect()
        }
        QueryLanguage::Sparql => functions(&pair.query),
    }
}

/// Returns the kinds of volatility like [`volatile`], by the text alone: places need not be known.
pub(super) fn volatile_text(pair: &GoldPair) -> Vec<(FindingKind, String)> {
    match pair.language() {
        _ if !pair.is_run_here() => Vec::new(),
        QueryLanguage::OverpassQl => {
            relative_date(&pair.query).into_iter().map(|text| (FindingKind::Relative, text)).collect()
        }
        QueryLanguage::Sparql => functions(&pair.query),
    }
}

/// Returns the first date of a text, or of a definition in it, that changes with the day.
fn relative_date(text: &str) -> Option<String> {
    let places = PlaceTable::default();
    let mut open: Vec<&str> = turbo::shortcuts(text).collect();
    while let Some(inner) = open.pop() {
        open.extend(turbo::shortcuts(inner));
        let shortcut = format!("{{{{{inner}}}}}");
        let on = |now: i64| turbo::expand(&shortcut, &ShortcutValues { bbox: None, now, places: &places });
        let [one, other] = MOMENTS.map(on);
        if let (Ok(one), Ok(other)) = (one, other)
            && one != other
        {
            return Some(format!("{shortcut} depends on the day"));
        }
    }
    None
}

/// Reports whether a query's text changes with the day.
fn dates(engine: &GoldEngine<'_>, pair: &GoldPair) -> Option<String> {
    if !pair.query.contains("{{") {
        return None;
    }
    // A query that cannot be expanded has no answer on any day.
    let [Ok(one), Ok(other)] = MOMENTS.map(|now| engine.expanded(pair, now)) else { return None };
    let is_date = |inner: &&str| inner.trim_start().starts_with("date");
    let mut shortcuts = pair.query.split("{{").skip(1).filter_map(|rest| Some(rest.split_once("}}")?.0));
    let which = shortcuts.find(is_date).map_or_else(|| "{{date:...}}".to_owned(), |inner| format!("{{{{{inner}}}}}"));
    (one != other).then(|| format!("{which} depends on the day"))
}

/// Returns the functions in a query with values that change over time or between runs.
fn functions(query: &str) -> Vec<(FindingKind, String)> {
    let Ok(parsed) = syntax::parse(query, Dialect::Auto) else { return Vec::new() };
    let mut found: Vec<(FindingKind, String)> = Vec::new();
    let patterns = std::iter::once(&parsed.query.pattern).chain(parsed.named.iter().map(|(_, pattern)| pattern));
    let mut open: Vec<QueryNode<'_>> = patterns.map(AsNode::as_node).collect();
    while let Some(node) = open.pop() {
        if let QueryNode::Expression(Expression::Call(function, _)) = node {
            let known = match function {
                Function::Now => Some((FindingKind::Relative, "NOW() depends on the day")),
                Function::Rand => Some((FindingKind::Random, "RAND() is drawn by lot")),
                Function::Uuid | Function::StrUuid => {
                    Some((FindingKind::Random, "UUID() and STRUUID() are drawn by lot"))
                }
                _ => None,
            };
            if let Some((kind, text)) = known
                && found.iter().all(|(known, _)| *known != kind)
            {
                found.push((kind, text.to_owned()));
            }
        }
        node.children(&mut |child| open.push(child));
    }
    found.sort_unstable_by_key(|(kind, _)| *kind);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_depend_on_the_day_or_on_chance() {
        let kinds = |query: &str| functions(query).into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
        assert_eq!(kinds("SELECT ?x { ?x ?p ?d FILTER(?d > NOW()) }"), [FindingKind::Relative]);
        assert_eq!(kinds("SELECT (UUID() AS ?u) { { SELECT (RAND() AS ?r) {} } }"), [FindingKind::Random]);
        assert_eq!(kinds("SELECT ?x { ?x ?p \"NOW()\" } ORDER BY ?x"), []);
        assert_eq!(kinds("not a query"), []);
    }
}
