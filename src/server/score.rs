//! `POST /score`: predictions and references in, a record for each pair out.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::body::{Received, Unreadable};
use super::context::Context;
use super::json::Wrong;
use super::service::Refused;
use super::{App, json};
use crate::budget::{self, Budget, Stopped};
use crate::eval::about::engine;
use crate::eval::benchmarks::Benchmark;
use crate::eval::benchmarks::overpassnl::{Bounds, OverpassNl};
use crate::eval::cache::NoCache;
use crate::eval::record::{ErrorClass, Execution, Instance, Record};
use crate::geocoder::{Areas, Chain, Places, Table, Until};
use crate::overpass::Limits;

/// Pairs that one request may have.
const MOST: usize = 200;
/// Bytes that the answer to one query may have.
const LARGEST: u64 = 256 << 20;

const OTHERS_TOOK_ALL: &str = "the request's time was used up by the pairs before";
const TEXTS_TOOK_ALL: &str = "reading the queries took all that they may take";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    predictions: Vec<String>,
    references: Vec<String>,
    bbox: Option<Vec<String>>,
    places: Option<serde_json::Value>,
    /// Seconds that each pair has; the request's time where nothing is said.
    timeout: Option<f64>,
}

#[derive(Serialize)]
struct Scored {
    snapshot: String,
    engine: String,
    /// In the order of the predictions.
    results: Vec<Record>,
}

/// Answers `{"predictions": [...], "references": [...], "bbox": [...], "places": {...}, "timeout": 10}` as
/// `terrapin eval overpassnl` does; all but the first two may be left out.
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
        let areas = Areas::new(&app.osm);
        let mut places = Chain::default();
        places.0.extend(table.as_ref().map(|table| table as &dyn Places));
        places.0.push(&areas);
        let mut results = Vec::with_capacity(count);
        for (index, (gold, pred)) in question.references.into_iter().zip(question.predictions).enumerate() {
            if limits.cancelled.load(Ordering::Relaxed) {
                return Err(Wrong::Abandoned);
            }
            let bbox = question.bbox.as_ref().and_then(|boxes| boxes.get(index)).cloned();
            let instance = Instance { line: index + 1, gold, pred, bbox, ..Instance::default() };
            results.push(pair(app, &instance, &places, limits, each));
        }
        if limits.cancelled.load(Ordering::Relaxed) {
            return Err(Wrong::Abandoned);
        }
        Ok(Scored { snapshot: app.about.digest.clone(), engine: engine(), results })
    })
    .await
}

/// Scores one pair, which has the time that `each` says and what `limits` leave of it.
fn pair(app: &App, instance: &Instance, places: &dyn Places, limits: &Limits, each: Duration) -> Record {
    let now = Instant::now();
    if limits.deadline.is_some_and(|deadline| now >= deadline) {
        return unfinished(instance, OTHERS_TOOK_ALL);
    }
    let deadline = [limits.deadline, now.checked_add(each)].into_iter().flatten().min();
    let is_over = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let places = Until::new(places, &is_over);
    let benchmark = OverpassNl {
        osm: Some(&app.osm),
        snapshot: &app.about.digest,
        places: &places,
        similarity: true,
        cache: &NoCache,
        bounds: Bounds { limits: Limits { deadline, ..limits.clone() }, largest: LARGEST },
    };
    // What each query does is bounded where it runs; this bounds what is done with their texts.
    let budget = Arc::new(Budget::new(&benchmark.bounds.limits));
    match budget::watched(&budget, || benchmark.score(instance).record) {
        Ok(_) if places.was_cut() => unfinished(instance, TEXTS_TOOK_ALL),
        Ok(record) => record,
        Err(Stopped::Exceeded(_)) => unfinished(instance, TEXTS_TOOK_ALL),
        Err(Stopped::Panicked(panic)) => {
            tracing::error!(panic, "a pair could not be scored: a fault of the program");
            failed(instance, ErrorClass::UnknownError, "not scored, by a fault of the program")
        }
    }
}

/// The record of a pair whose queries could not be run in time.
fn unfinished(instance: &Instance, why: &str) -> Record {
    failed(instance, ErrorClass::RuntimeErrorTimeout, &format!("not run: {why}"))
}

/// The record of a pair of which nothing else is known.
fn failed(instance: &Instance, class: ErrorClass, why: &str) -> Record {
    let text = || Some(why.to_owned());
    let execution = Execution {
        ref_n: Some(class.count()),
        pred_n: Some(class.count()),
        error: Some(class),
        error_text: text(),
        ref_error: Some(class),
        ref_error_text: text(),
        multiset: Some(0),
        f1: Some(0.0),
        ..Execution::default()
    };
    Record { execution: Some(execution), ..Record::of(instance) }
}
