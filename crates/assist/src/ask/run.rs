//! Runs a query for its result, or for feedback that helps a model to write a better one. OverpassQL runs as in the
//! tools of agents; for SPARQL, the first solutions are kept.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use oxrdf::Term;
use serde_json::Value;

use super::features::FirstFeatures;
use super::sparql::FirstSolutions;
use super::{AskFailure, AskedQueryResult, Lang, ModelQuery, features, map};
use crate::agents::{
    ElementPage, ResultPage, Trouble, checked_text, no_triples, page_of, record, script, stopped as stopped_overpass,
};
use terrapin_budget::{self as budget, ExceededLimit, Limits};
use terrapin_engine::{Engine, SparqlRejection, Stop};
use terrapin_lint::containment_by_geometry;
use terrapin_overpass::lint;
use terrapin_overpass::output::{ElementSink, Recording, RecordingEntry};
use terrapin_sparql::{SparqlBounds, SparqlError, SparqlErrorClass, SparqlSettings};

/// Maximum time of one query, also if the question has more.
const TIME: Duration = Duration::from_secs(60);
/// Maximum rows of a result, and solutions that are searched for geometries.
const ROWS: usize = 200;
const SOLUTIONS: usize = 20_000;
/// The elements of a result.
const FIRST: ResultPage = ResultPage { skip: 0, take: ROWS };
/// Maximum number of columns for tags: usually, and for at most three elements.
const TAGS: usize = 8;
const ALL_TAGS: usize = 24;
const FEW: usize = 3;

/// The outcome of a query.
pub struct RunOutcome {
    /// Its result, if it ran.
    pub result: Option<AskedQueryResult>,
    /// Feedback on the query or its result.
    pub feedback: Option<String>,
}

impl RunOutcome {
    fn failed(feedback: String) -> RunOutcome {
        RunOutcome { result: None, feedback: Some(feedback) }
    }
}

/// Runs a query. With `for_map`, a result without positions gets feedback. `bbox` replaces `{{bbox}}`.
///
/// # Errors
/// Returns an error if the question was cancelled or the snapshot is damaged.
pub fn run(
    engine: &Engine,
    query: &ModelQuery,
    bbox: Option<&str>,
    for_map: bool,
    limits: &Limits,
) -> Result<RunOutcome, AskFailure> {
    let own = Instant::now() + TIME;
    let limits = Limits { deadline: Some(limits.deadline.map_or(own, |deadline| deadline.min(own))), ..limits.clone() };
    let done = engine.run(&limits, || match query.language {
        Lang::Overpassql => overpass(engine, query, bbox, for_map, &limits),
        Lang::Sparql => sparql(engine, query, for_map, &limits),
    });
    match done {
        Ok(came) => came,
        Err(Stop::Exceeded(exceeded)) => exceeded_by(exceeded),
        Err(Stop::Damaged(damage)) => Err(AskFailure::Damaged(damage)),
        Err(fault @ Stop::Panicked(_)) => Err(AskFailure::Fault(fault.to_string())),
    }
}

/// Turns an exceeded limit into feedback; cancellation ends the question.
fn exceeded_by(exceeded: ExceededLimit) -> Result<RunOutcome, AskFailure> {
    match exceeded {
        ExceededLimit::Cancelled => Err(exceeded.into()),
        _ => Ok(RunOutcome::failed(format!("{exceeded}: ask for less: a smaller area, fewer patterns, a limit"))),
    }
}

fn trouble(trouble: Trouble) -> Result<RunOutcome, AskFailure> {
    if trouble.is_fault {
        return Err(AskFailure::Fault(trouble.message));
    }
    match trouble.exceeded {
        Some(exceeded) => exceeded_by(exceeded),
        None => Ok(RunOutcome::failed(trouble.to_string())),
    }
}

/// Returns the text of the tool `check_query` about a query.
fn checked(engine: &Engine, query: &ModelQuery, bbox: Option<&str>, limits: &Limits) -> Option<String> {
    let bbox = bbox.and_then(|bbox| bbox.parse().ok());
    checked_text(engine, &query.query, query.language.into(), bbox, limits)
}

fn overpass(
    engine: &Engine,
    query: &ModelQuery,
    bbox: Option<&str>,
    for_map: bool,
    limits: &Limits,
) -> Result<RunOutcome, AskFailure> {
    let ran = script(engine, &query.query, bbox, limits).and_then(|script| {
        // Features need the whole answer; rows need its first elements.
        let (recording, found) = if for_map {
            let recording = record(engine, &script, limits)?;
            let found = first_elements(&recording);
            (Some(recording), found)
        } else {
            (None, page_of(engine, &script, FIRST, limits)?)
        };
        Ok((recording, found, lint::keys(&script)))
    });
    let (recording, found, keys) = match ran {
        Ok(ran) => ran,
        Err(why) => return trouble(why),
    };
    let total = found.total as u64;
    let is_count = !found.types.is_empty() && found.types.keys().all(|kind| kind == "count");
    let is_zero = |count: &BTreeMap<String, Value>| count.get("tags").is_some_and(|tags| tags["total"] == "0");
    let is_nothing = total == 0 || (is_count && found.elements.iter().all(is_zero));
    let (columns, rows) = table(&found.elements, &keys);
    let mut result = AskedQueryResult {
        query: query.clone(),
        total,
        columns,
        rows,
        features: 0,
        has_chain: false,
        containment: None,
        shapes: Vec::new(),
    };
    if is_nothing {
        let feedback = checked(engine, query, bbox, limits).unwrap_or_else(|| "0 results".to_owned());
        return Ok(RunOutcome { result: Some(result), feedback: Some(feedback) });
    }
    let Some(recording) = recording.filter(|_| !is_count) else {
        return Ok(RunOutcome { result: Some(result), feedback: None });
    };
    match FirstFeatures::of(&recording) {
        Ok(first) => (result.features, result.shapes) = (first.total, first.shapes),
        Err(failure) => return trouble(stopped_overpass(&failure)),
    }
    let feedback = (result.features == 0).then(|| nowhere(total, "end the query with `out center;` or `out geom;`"));
    Ok(RunOutcome { result: Some(result), feedback })
}

/// Returns the first elements of an answer.
fn first_elements(recording: &Recording) -> ElementPage {
    let mut found = ElementPage::new(FIRST);
    for piece in recording.pieces() {
        // Elements of an answer can always be represented as JSON.
        let _ = recording.each(piece, |entry| match entry {
            RecordingEntry::Element(item) => found.element(item),
            RecordingEntry::Count(counts) => found.count(&counts),
            RecordingEntry::Action(_) => Ok(()),
        });
    }
    found
}

/// Returns the feedback for a result without positions, if a map is requested.
fn nowhere(total: u64, instead: &str) -> String {
    format!("{total} results, none of them with a position: {instead}, or say `map: no` where the answer needs none")
}

/// Returns the tags of an element.
fn tags_of(element: &BTreeMap<String, Value>) -> Option<&serde_json::Map<String, Value>> {
    element.get("tags")?.as_object()
}

/// Returns elements as rows: type and id, then the name, the tags in the query, and the most frequent tags; keys with a
/// colon, such as names in other languages, come last.
fn table(elements: &[BTreeMap<String, Value>], asked: &[String]) -> (Vec<String>, Vec<Vec<Option<String>>>) {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for key in elements.iter().filter_map(tags_of).flat_map(|tags| tags.keys()) {
        budget::checkpoint();
        match counts.iter_mut().find(|(known, _)| known == key) {
            Some((_, count)) => *count += 1,
            None => counts.push((key, 1)),
        }
    }
    let rank = |key: &str| match key {
        "name" => 0,
        key => asked.iter().position(|asked| asked == key).map_or(usize::MAX, |place| place + 1),
    };
    counts.sort_by_key(|(key, count)| (rank(key), key.contains(':'), std::cmp::Reverse(*count)));
    let most = if elements.len() <= FEW { ALL_TAGS } else { TAGS };
    let keys: Vec<&str> = counts.into_iter().map(|(key, _)| key).take(most).collect();
    let columns = std::iter::once("element").chain(keys.iter().copied()).map(str::to_owned).collect();
    let row = |element: &BTreeMap<String, Value>| {
        let kind = element.get("type").and_then(Value::as_str).unwrap_or_default();
        let id = element.get("id").and_then(Value::as_i64);
        let name = id.map_or_else(|| kind.to_owned(), |id| format!("{kind}/{id}"));
        let values = keys.iter().map(|key| tags_of(element)?.get(*key)?.as_str().map(str::to_owned));
        std::iter::once(Some(name)).chain(values).collect()
    };
    (columns, elements.iter().map(row).collect())
}

fn sparql(engine: &Engine, query: &ModelQuery, for_map: bool, limits: &Limits) -> Result<RunOutcome, AskFailure> {
    let (prepared, environment) = match engine.prepare_sparql(&query.query, &SparqlSettings::default()) {
        Ok(prepared) => prepared,
        Err(SparqlRejection::NoTriples) => return trouble(no_triples()),
        Err(SparqlRejection::Syntax(error)) => {
            return Ok(RunOutcome::failed(checked(engine, query, None, limits).unwrap_or_else(|| error.to_string())));
        }
    };
    let mut kept = FirstSolutions { most: SOLUTIONS, ..FirstSolutions::default() };
    let done = prepared.run(environment, &SparqlBounds { limits: limits.clone(), rows: None }, &mut kept);
    if let Err(error) = done {
        return stopped(&error);
    }
    if let Some(answer) = kept.boolean {
        kept.columns = vec!["answer".to_owned()];
        kept.rows =
            vec![vec![Some(Term::Literal(oxrdf::Literal::new_simple_literal(if answer { "yes" } else { "no" })))]];
    }
    let (mut shapes, mut located, mut bytes) = (Vec::new(), 0, 0);
    if for_map {
        let places = match map::SolutionLocations::of(engine, &environment.store, &kept.rows, limits) {
            Ok(places) => places,
            Err(why) => return trouble(why),
        };
        for row in &kept.rows {
            let Some(feature) = places.feature(&kept.columns, row) else { continue };
            located += 1;
            bytes += feature.get().len();
            if bytes <= features::BYTES {
                shapes.push(feature);
            }
        }
    }
    let rows: Vec<Vec<Option<String>>> = kept
        .rows
        .iter()
        .take(ROWS)
        .map(|row| row.iter().map(|value| value.as_ref().map(map::shown)).collect())
        .collect();
    let is_nothing = kept.total == 0 || matches!(&rows[..], [row] if matches!(&row[..], [Some(value)] if value == "0"));
    let containment = containment_by_geometry(&query.query, environment, limits);
    let has_chain = containment.is_some();
    let containment = containment.flatten();
    let feedback = if is_nothing {
        let mut feedback = checked(engine, query, None, limits).unwrap_or_else(|| "0 results".to_owned());
        if let Some(offer) = &containment {
            let more = format!(
                "\nwdt:P131 leads to {} from {} items, but {} have their coordinates in its area: {}",
                offer.place, offer.by_chain, offer.by_geometry, offer.pattern
            );
            feedback.push_str(&more);
        }
        Some(feedback)
    } else if for_map && located == 0 {
        Some(nowhere(
            kept.total,
            "select an item's coordinates (`wdt:P625`) or an element's (`geo:hasCentroid/geo:asWKT`), too",
        ))
    } else {
        None
    };
    let result = AskedQueryResult {
        query: query.clone(),
        total: kept.total,
        columns: kept.columns,
        rows,
        features: located,
        has_chain,
        containment,
        shapes,
    };
    Ok(RunOutcome { result: Some(result), feedback })
}

fn stopped(error: &SparqlError) -> Result<RunOutcome, AskFailure> {
    match (error.class, error.code) {
        (_, terrapin_sparql::SparqlCode::Cancelled) => Err(ExceededLimit::Cancelled.into()),
        (SparqlErrorClass::Internal, _) => Err(AskFailure::Fault(error.to_string())),
        (SparqlErrorClass::Limit, _) => {
            Ok(RunOutcome::failed(format!("{error}: ask for less: fewer patterns, a LIMIT")))
        }
        _ => Ok(RunOutcome::failed(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_of_the_query_are_columns() {
        let mut tags = serde_json::Map::new();
        for letter in 'a'..='j' {
            tags.insert(format!("name:{letter}"), "Gozo".into());
            tags.insert(format!("a{letter}"), "1".into());
        }
        let element = |id: i64, more: &str| {
            let mut tags = tags.clone();
            tags.insert(more.to_owned(), "7".into());
            tags.insert("name".to_owned(), "Gozo".into());
            let fields = [("type", json!("node")), ("id", json!(id)), ("tags", json!(tags))];
            BTreeMap::from(fields.map(|(name, value)| (name.to_owned(), value)))
        };
        let mut elements: Vec<BTreeMap<String, Value>> = (1..=9).map(|id| element(id, "ele")).collect();
        elements.push(element(10, "stars"));
        let (columns, rows) = table(&elements, &["stars".to_owned()]);
        assert_eq!((columns.len(), &columns[..3]), (TAGS + 1, &["element", "name", "stars"].map(str::to_owned)[..]));
        assert_eq!((rows[9][2].as_deref(), rows[0][2].as_deref()), (Some("7"), None));
        assert!(columns.iter().all(|column| !column.contains(':')), "{columns:?}");
        // For one element, nearly all tags are shown.
        let (columns, _) = table(&elements[..1], &[]);
        assert!(columns.len() == 23 && columns.contains(&"ele".to_owned()), "{columns:?}");
    }
}
