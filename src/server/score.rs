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
use crate::eval::benchmarks::jsonl::JsonLines;
use crate::eval::benchmarks::overpassnl::{Bounds, OverpassNl};
use crate::eval::cache::{Cache, InMemory};
use crate::eval::language::Language;
use crate::eval::record::{ErrorClass, Execution, FailureClass, Instance, Record, Strict};
use crate::geocoder::{Areas, Chain, Places, Table, Until};
use crate::overpass::Limits;

/// Pairs that one request may have.
const MOST: usize = 200;
/// Bytes that the answer to one query may have.
const LARGEST: u64 = 256 << 20;

/// Bytes of results that a request keeps for pairs that share a query.
const KEPT: u64 = 64 << 20;

const OTHERS_TOOK_ALL: &str = "the request's time was used up by the pairs before";
const TEXTS_TOOK_ALL: &str = "reading the queries took all that they may take";

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
        let scoring = Scoring { app, places: &places, limits, each, cache: &cache };
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

/// What the pairs of a request are scored with.
struct Scoring<'a> {
    app: &'a App,
    places: &'a dyn Places,
    /// Of the whole request.
    limits: &'a Limits,
    /// The time that each pair has.
    each: Duration,
    cache: &'a dyn Cache,
}

impl Scoring<'_> {
    /// Scores one pair, which has the time that `each` says and what `limits` leave of it.
    fn pair(&self, instance: &Instance) -> Record {
        let now = Instant::now();
        if self.limits.deadline.is_some_and(|deadline| now >= deadline) {
            return unfinished(instance, OTHERS_TOOK_ALL);
        }
        let deadline = [self.limits.deadline, now.checked_add(self.each)].into_iter().flatten().min();
        let is_over = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let places = Until::new(self.places, &is_over);
        let bounds = Bounds { limits: Limits { deadline, ..self.limits.clone() }, largest: LARGEST };
        // What each query does is bounded where it runs; this bounds what is done with their texts.
        let budget = Arc::new(Budget::new(&bounds.limits));
        match budget::watched(&budget, || self.record(instance, &places, bounds)) {
            Ok(_) if places.was_cut() => unfinished(instance, TEXTS_TOOK_ALL),
            Ok(record) => record,
            Err(Stopped::Exceeded(_)) => unfinished(instance, TEXTS_TOOK_ALL),
            Err(Stopped::Panicked(panic)) => {
                tracing::error!(panic, "a pair could not be scored: a fault of the program");
                let why = "not scored, by a fault of the program";
                failed(instance, ErrorClass::UnknownError, FailureClass::Internal, why)
            }
        }
    }

    /// The record of a pair as a run of its benchmark gives it.
    fn record(&self, instance: &Instance, places: &dyn Places, bounds: Bounds) -> Record {
        let (osm, snapshot, cache) = (Some(&*self.app.osm), self.app.about.digest.as_str(), self.cache);
        if instance.language() == Language::Sparql {
            let triples = self.app.sparql.as_ref().map(|endpoint| endpoint.environment());
            let now = self.app.about.manifest.data_timestamp;
            return JsonLines { osm, snapshot, triples, now, places, cache, bounds }.score(instance).record;
        }
        OverpassNl { osm, snapshot, places, similarity: true, cache, bounds }.score(instance).record
    }
}

/// The record of a pair whose queries could not be run in time.
fn unfinished(instance: &Instance, why: &str) -> Record {
    failed(instance, ErrorClass::RuntimeErrorTimeout, FailureClass::Timeout, &format!("not run: {why}"))
}

/// The record of a pair of which nothing else is known: the class of its failure in either language.
fn failed(instance: &Instance, class: ErrorClass, of_sparql: FailureClass, why: &str) -> Record {
    let text = || Some(why.to_owned());
    if instance.language() == Language::Sparql {
        let strict = Strict {
            error: Some(of_sparql),
            ref_error: Some(of_sparql),
            ref_error_text: text(),
            ..Strict::failed(why.to_owned())
        };
        return Record { strict: Some(strict), ..Record::of(instance) };
    }
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
