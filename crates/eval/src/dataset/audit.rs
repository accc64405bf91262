//! Flags gold queries by rules, for a review by people: empty, cut, volatile, dependent on a place that is not in the
//! query, or equal to another.

use std::collections::BTreeMap;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::answer::{GoldAnswer, GoldEngine, QueryFailure};
use super::check::of_answer;
use super::duplicates::duplicates;
use super::near::near_duplicates;
use super::pairs::GoldPair;
use super::volatile::volatile_text;
use super::{BenchmarkFinding, FindingKind};
use crate::benchmarks::overpassnl::{tree, without_shortcuts};
use crate::language::QueryLanguage;
use crate::metrics::is_python_space;
use crate::metrics::query_tree::TreeNode;
use terrapin_overpass::turbo;

/// Elements of the XML form that restrict a query to a place.
const PLACES: [&str; 7] = ["area-query", "around", "bbox-query", "coord-query", "id-query", "pivot", "polygon-query"];

/// Flags pairs, worst kinds first. With an engine, every query runs once, concurrently in the current pool; `done` is
/// called after each. `near` is the similarity of near duplicates between splits.
pub fn audit(
    pairs: &[GoldPair],
    engine: Option<&GoldEngine<'_>>,
    near: f64,
    done: &(dyn Fn() + Sync),
) -> Vec<BenchmarkFinding> {
    let mut findings: Vec<BenchmarkFinding> = pairs.par_iter().flat_map_iter(of_text).collect();
    if let Some(engine) = engine {
        let run = |pair: &GoldPair| {
            let answer = engine.ask(pair);
            done();
            answer
        };
        let answers: Vec<Result<GoldAnswer, QueryFailure>> = pairs.par_iter().map(run).collect();
        of_answers(pairs, &answers, &mut findings);
    }
    findings.extend(duplicates(pairs));
    findings.extend(near_duplicates(pairs, near));
    findings.sort_by_key(|finding| finding.kind);
    findings
}

/// Flags a pair by its text alone.
fn of_text(pair: &GoldPair) -> Vec<BenchmarkFinding> {
    let mut findings = Vec::new();
    let mut add = |kind: FindingKind, text: String| findings.push(BenchmarkFinding::of(pair, kind, text));
    if pair.question.trim().is_empty() {
        add(FindingKind::NoQuestion, "there is no question".to_owned());
    }
    volatile_text(pair).into_iter().for_each(|(kind, text)| add(kind, text));
    if pair.language() == QueryLanguage::OverpassQl && pair.is_run_here() {
        for (kind, text) in places(pair) {
            add(kind, text);
        }
    }
    findings
}

/// Returns the ways in which an OverpassQL query depends on a place that it does not have itself.
fn places(pair: &GoldPair) -> Vec<(FindingKind, String)> {
    let text = pair.query.trim_matches(is_python_space);
    let shortcuts = shortcuts(text);
    let mut found = Vec::new();
    let view = |inner: &&&str| matches!(inner.trim(), "bbox" | "center" | "wsen");
    if pair.bbox.is_none()
        && let Some(inner) = shortcuts.iter().find(view)
    {
        let message = format!("{{{{{}}}}} depends on the map's view, and the pair has no `bbox`", inner.trim());
        found.push((FindingKind::MapView, message));
    }
    let is_name = |inner: &&&str| inner.trim().starts_with("geocode") || inner.trim().starts_with("nominatim");
    if pair.places.is_none()
        && let Some(inner) = shortcuts.iter().find(is_name)
    {
        let message = format!("{{{{{}}}}} depends on the geocoder, and the pair has no `places`", inner.trim());
        found.push((FindingKind::GeocodedName, message));
    }
    let is_place = |node: &TreeNode| PLACES.contains(&node.name.as_str()) || node.get("bbox").is_some();
    let named = |inner: &&str| view(&inner) || is_name(&inner);
    if !shortcuts.iter().any(named)
        && terrapin_overpass::parse(&without_shortcuts(text)).is_ok()
        && !tree(text).nodes.iter().any(is_place)
    {
        let message = "no part of the query names a place: its answer grows with the extract";
        found.push((FindingKind::WholeExtract, message.to_owned()));
    }
    found
}

/// Returns the shortcuts of a text, and those in definitions.
fn shortcuts(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = turbo::shortcuts(text).collect();
    let mut next = 0;
    while let Some(inner) = found.get(next).copied() {
        found.extend(turbo::shortcuts(inner));
        next += 1;
    }
    found
}

/// Flags pairs by their answers.
fn of_answers(pairs: &[GoldPair], answers: &[Result<GoldAnswer, QueryFailure>], findings: &mut Vec<BenchmarkFinding>) {
    let mut known: BTreeMap<[u8; 32], &GoldPair> = BTreeMap::new();
    for (pair, answer) in pairs.iter().zip(answers) {
        let answer = match answer {
            Ok(answer) => answer,
            Err(failure) => {
                findings.push(BenchmarkFinding::of(pair, FindingKind::Fails, failure.text.clone()));
                continue;
            }
        };
        of_answer(pair, answer, answer, findings);
        // Counts and single results are often equal.
        if answer.elements.len() > 1 {
            match known.entry(answer.digest) {
                std::collections::btree_map::Entry::Occupied(first) => {
                    let (number, place) = (answer.number, first.get().place());
                    let message = format!("the answer ({number} results) is that of {place}");
                    findings.push(BenchmarkFinding::of(pair, FindingKind::SameAnswer, message));
                }
                std::collections::btree_map::Entry::Vacant(free) => {
                    free.insert(pair);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(query: &str, bbox: Option<&str>) -> Vec<FindingKind> {
        let (question, bbox) = ("Which?".to_owned(), bbox.map(str::to_owned));
        let pair = GoldPair { question, query: query.to_owned(), bbox, ..GoldPair::default() };
        audit(&[pair], None, 0.9, &|| {}).into_iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn places_that_are_not_in_the_query() {
        assert_eq!(kinds("node[a=b](1,2,3,4);out;", None), []);
        assert_eq!(kinds("node[a=b]({{bbox}});out;", None), [FindingKind::MapView]);
        assert_eq!(kinds("node[a=b]({{bbox}});out;", Some("1,2,3,4")), []);
        assert_eq!(kinds("{{b={{bbox}}}}node[a=b]({{b}});out;", None), [FindingKind::MapView]);
        assert_eq!(kinds("{{geocodeArea:Malta}}->.a;node(area.a);out;", None), [FindingKind::GeocodedName]);
        assert_eq!(kinds("node[wikidata=Q1];out;", None), [FindingKind::WholeExtract]);
        assert_eq!(kinds("[bbox:1,2,3,4];node[a];out;", None), []);
        assert_eq!(kinds("node[;out;", None), []);
    }

    #[test]
    fn days_and_chance() {
        assert_eq!(kinds("node(1)(newer:\"{{date:1 week}}\");out;", None), [FindingKind::Relative]);
        assert_eq!(kinds("{{d={{date:1 day}}}}node(1)(newer:\"{{d}}\");out;", None), [FindingKind::Relative]);
        assert_eq!(kinds("node(1)(newer:\"{{date:2020-01-01T00:00:00Z}}\");out;", None), []);
    }

    #[test]
    fn equal_answers_of_different_queries() {
        let answer = |digest: u8, number: usize| {
            let element = |id: usize| super::super::answer::GoldElement {
                kind: "node".into(),
                id: id as i64,
                tags: 0,
                shape: 0,
                metadata: 0,
            };
            let elements = (0..number).map(element).collect();
            Ok(GoldAnswer { digest: [digest; 32], number: number as u64, elements, rows: false, cut: None })
        };
        let pairs = [1, 2, 3].map(|line| GoldPair { line, split: "dev".to_owned(), ..GoldPair::default() });
        let mut findings = Vec::new();
        of_answers(&pairs, &[answer(1, 2), answer(1, 2), answer(2, 0)], &mut findings);
        let found: Vec<(FindingKind, usize)> = findings.iter().map(|finding| (finding.kind, finding.line)).collect();
        assert_eq!(found, [(FindingKind::SameAnswer, 2), (FindingKind::Empty, 3)]);
        assert_eq!(findings[0].message, "the answer (2 results) is that of dev line 1");
    }
}
