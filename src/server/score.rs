//! `POST /score`: predictions and references in, a record for each pair out.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::body::{Received, Unreadable};
use super::context::Context;
use super::json::Wrong;
use super::service::Refused;
use super::{App, json};
use crate::eval::about::engine;
use crate::eval::cache::{Cache, InMemory};
use crate::eval::language::Language;
use crate::eval::record::{Instance, Record};
use crate::eval::scoring::Scoring;
use crate::geocoder::{Areas, Chain, Places, Table};

/// Pairs that one request may have.
const MOST: usize = 200;
/// Bytes of results that a request keeps for pairs that share a query.
const KEPT: u64 = 64 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    predictions: Vec<String>,
    references: Vec<String>,
    /// The language of all of them: OverpassQL where nothing is said.
    lang: Option<String>,
    bbox: Option<Vec<String>>,
    places: Option<serde_json::Value>,
    /// Seconds that each pair has; the request's time where nothing is said.
    timeout: Option<f64>,
}

#[derive(Serialize)]
struct Scored {
    snapshot: String,
    engine: String,
    /// How often what a query gave was known from a pair before.
    reused: u64,
    /// In the order of the predictions.
    results: Vec<Record>,
}

/// Answers `{"predictions": [...], "references": [...], "bbox": [...], "places": {...}, "timeout": 10}` as
/// `terrapin eval overpassnl` does; all but the first two may be left out. With `"lang": "sparql"` it answers as
/// `terrapin eval jsonl` does.
///
/// What a query gave is kept while the request lasts: a reference that many predictions share runs once.
///
/// All pairs together have the time of one query. Those that it is used up before have the error class of a query that
/// ran out of its time, so that a trainer gets a record for each pair, in order, and every record that is complete. With
/// `timeout`, one pair that takes for ever leaves the others their time.
pub async fn score(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<Context>>,
    body: Result<Received, Unreadable>,
) -> Result<Response, Refused> {
    json::serve(app, context, "score", body, |app, question: Question, limits| {
        let wrong = |message: String| Err(Wrong::Question(message));
        let count = question.predictions.len();
        if question.references.len() != count || question.bbox.as_ref().is_some_and(|bbox| bbox.len() != count) {
            return wrong("predictions, references and bbox must have the same length".to_owned());
        }
        if count > MOST {
            return wrong(format!("{count} pairs: send at most {MOST} at once"));
        }
        let each = match question.timeout.map(Duration::try_from_secs_f64) {
            None => app.settings.max_time,
            Some(Ok(time)) if !time.is_zero() => time,
            Some(_) => return wrong("timeout: expected a number of seconds above 0".to_owned()),
        };
        let table = question.places.map(|places| Table::parse(places.to_string().as_bytes())).transpose();
        let table = match table {
            Ok(table) => table,
            Err(e) => return wrong(format!("places: {e}")),
        };
        let lang = question.lang.as_deref().unwrap_or("overpassql");
        let language = match Language::named(lang) {
            Some(language) => language,
            None => return wrong(format!("lang {lang:?}: expected \"overpassql\" or \"sparql\"")),
        };
        if language == Language::Sparql && app.sparql.is_none() {
            return wrong("this snapshot has no triples: load some with --wikidata or --rdf".to_owned());
        }
        if language == Language::Sparql && (table.is_some() || question.bbox.is_some()) {
            return wrong("bbox and places are of OverpassQL: leave them out for SPARQL".to_owned());
        }
        let areas = Areas::new(&app.osm);
        let mut places = Chain::default();
        places.0.extend(table.as_ref().map(|table| table as &dyn Places));
        places.0.push(&areas);
        let kept = limits.memory.map_or(KEPT, |memory| KEPT.min(memory / 4));
        let cache = InMemory::new(usize::try_from(kept).unwrap_or(usize::MAX));
        let scoring = Scoring {
            osm: &app.osm,
            snapshot: &app.about.digest,
            triples: app.sparql.as_ref().map(|endpoint| endpoint.environment()),
            now: app.about.manifest.data_timestamp,
            places: &places,
            limits,
            each: Some(each),
            similarity: true,
            cache: &cache,
            fault: &|panic| tracing::error!(panic, "a pair could not be scored: a fault of the program"),
        };
        let mut results = Vec::with_capacity(count);
        for (index, (gold, pred)) in question.references.into_iter().zip(question.predictions).enumerate() {
            if limits.cancelled.load(Ordering::Relaxed) {
                return Err(Wrong::Abandoned);
            }
            let bbox = question.bbox.as_ref().and_then(|boxes| boxes.get(index)).cloned();
            let lang = (language == Language::Sparql).then(|| "sparql".to_owned());
            let instance = Instance { line: index + 1, gold, pred, lang, bbox, ..Instance::default() };
            results.push(scoring.pair(&instance));
        }
        if limits.cancelled.load(Ordering::Relaxed) {
            return Err(Wrong::Abandoned);
        }
        let reused = cache.counts().map_or(0, |counts| counts.hits);
        Ok(Scored { snapshot: app.about.digest.clone(), engine: engine(), reused, results })
    })
    .await
}
