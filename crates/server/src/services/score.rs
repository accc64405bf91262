//! `POST /score`: takes predictions and references, and returns a record for each pair. Request and response are one
//! JSON object, or lines of JSON (`lines.rs`).

mod lines;
mod text;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, header};
use axum::routing::on;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::body::Received;
use crate::context::HttpRequestContext;
use crate::outcome::Outcome;
use crate::reply::Reply;
use crate::route::{Access, Route, Schema, TIMEOUT, json_body, query, schema_of, text_body};
use crate::service;
use crate::{App, form, json, route};
use terrapin_budget::{self as budget, Budget, Limits, StopReason};
use terrapin_eval::about::engine;
use terrapin_eval::cache::{BatchCache, CacheCounts, CacheKey, InMemory, ResultCache};
use terrapin_eval::language::QueryLanguage;
use terrapin_eval::record::Instance;
use terrapin_eval::reply;
use terrapin_eval::scoring::{Scored, Scoring, unreadable};
use terrapin_geocoder::PlaceTable;
use terrapin_snapshot::Error as Damage;
use text::ReceivedText;

/// The route of scores.
pub const ROUTES: &[Route] = &[Route::post(
    "/score",
    "Score predicted queries against references",
    |_, methods| on(methods, score),
)
.details(
    "As one JSON object, or as lines of JSON ({\"gold\": \"...\", \"pred\": \"...\"}), each answered when its pair is scored. \
     The options are parameters, or members of the object, which have precedence.",
)
.takes(&[&[
    query("lang", Schema::OneOf(&["overpassql", "sparql"]), "The language of the queries. Default: overpassql"),
    query("timeout", TIMEOUT, "Timeout of each query in seconds"),
    query("similarity", FLAG, "false: do not compare queries as texts and trees"),
    query("summary", FLAG, "true: add a summary of each difference"),
    query("extract", FLAG, "true: predictions are replies of a language model, which contain the query"),
]])
.reads(&[json_body(schema_of::<ScoreQuestion>), text_body("application/x-ndjson")])
.answers(&["application/json", "application/x-ndjson"])
.access(Access::Query)];

const FLAG: Schema = Schema::OneOf(&["true", "false", "1", "0"]);

/// Maximum number of pairs in one JSON object.
const MOST: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScoreQuestion {
    #[schemars(with = "Vec<String>")]
    predictions: Vec<ReceivedText>,
    #[schemars(with = "Vec<String>")]
    references: Vec<ReceivedText>,
    /// The language of all queries; default: OverpassQL.
    #[schemars(extend("enum" = ["overpassql", "sparql", null]))]
    lang: Option<String>,
    bbox: Option<Vec<String>>,
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    places: Option<Box<RawValue>>,
    /// Timeout of each query in seconds; default: the request's time.
    #[schemars(range(min = 0.001, max = 1e9))]
    timeout: Option<f64>,
    /// Whether queries are also compared as texts and trees. Default: true.
    similarity: Option<bool>,
    /// Whether each pair gets a summary. Default: false.
    summary: Option<bool>,
    /// Whether predictions are replies of a language model, from which the query is extracted.
    extract: Option<bool>,
}

#[derive(Serialize)]
struct ScoreAnswer {
    snapshot: String,
    engine: String,
    /// Number of query results reused from an earlier pair of this or another request.
    reused: u64,
    /// The records, in the order of the predictions.
    results: Vec<Scored>,
}

/// The options of a request.
#[derive(Debug, Default)]
struct GivenOptions {
    language: Option<QueryLanguage>,
    timeout: Option<Duration>,
    similarity: Option<bool>,
    summary: Option<bool>,
    extract: Option<bool>,
}

fn language_of(name: &str) -> Result<QueryLanguage, String> {
    QueryLanguage::named(name).ok_or_else(|| format!("lang {name:?}: expected \"overpassql\" or \"sparql\""))
}

fn timeout_of(seconds: f64) -> Result<Duration, String> {
    route::timeout(seconds).ok_or_else(|| "timeout: expected a number of seconds from 0.001 to 1e9".to_owned())
}

impl GivenOptions {
    /// Reads the parameters of an address. If `is_strict`, an unknown one is an error.
    ///
    /// # Errors
    /// Returns what is wrong with a parameter.
    fn in_address(address: &str, is_strict: bool) -> Result<GivenOptions, String> {
        let mut given = GivenOptions::default();
        for (name, value) in form::pairs(address.as_bytes()) {
            let [name, value] = [name, value].map(|text| form::decoded(text).unwrap_or_default());
            let flag = || match value.as_str() {
                "true" | "1" => Ok(Some(true)),
                "false" | "0" => Ok(Some(false)),
                _ => Err(format!("{name}: expected true or false")),
            };
            match name.as_str() {
                "lang" | "timeout" | "similarity" | "summary" | "extract" if value.is_empty() => {}
                "lang" => given.language = Some(language_of(&value)?),
                "timeout" => given.timeout = Some(timeout_of(value.parse().unwrap_or(f64::NAN))?),
                "similarity" => given.similarity = flag()?,
                "summary" => given.summary = flag()?,
                "extract" => given.extract = flag()?,
                _ if !is_strict => {}
                _ => return Err(format!("{name}: expected lang, timeout, similarity, summary or extract")),
            }
        }
        Ok(given)
    }

    /// Returns the options of an object.
    ///
    /// # Errors
    /// Returns what is wrong with a member.
    fn in_object(question: &ScoreQuestion) -> Result<GivenOptions, String> {
        Ok(GivenOptions {
            language: question.lang.as_deref().map(language_of).transpose()?,
            timeout: question.timeout.map(timeout_of).transpose()?,
            similarity: question.similarity,
            summary: question.summary,
            extract: question.extract,
        })
    }

    /// Returns these options, and those of `other` that are missing here.
    fn or(self, other: GivenOptions) -> GivenOptions {
        GivenOptions {
            language: self.language.or(other.language),
            timeout: self.timeout.or(other.timeout),
            similarity: self.similarity.or(other.similarity),
            summary: self.summary.or(other.summary),
            extract: self.extract.or(other.extract),
        }
    }
}

/// The options for scoring pairs.
struct ScoreOptions {
    /// The language of pairs without their own.
    language: QueryLanguage,
    each: Duration,
    similarity: bool,
    summary: bool,
    extract: bool,
}

impl ScoreOptions {
    /// Returns the options with the server's defaults.
    fn new(app: &App, given: &GivenOptions) -> ScoreOptions {
        ScoreOptions {
            language: given.language.unwrap_or(QueryLanguage::OverpassQl),
            each: given.timeout.unwrap_or(app.settings.max_time),
            similarity: given.similarity.unwrap_or(true),
            summary: given.summary.unwrap_or(false),
            extract: given.extract.unwrap_or(false),
        }
    }

    /// Scores a pair. Place names are looked up in `table` first, then in the data.
    ///
    /// # Errors
    /// Damaged data were read.
    fn score(
        &self,
        app: &App,
        mut instance: Instance,
        table: Option<&PlaceTable>,
        limits: &Limits,
        cache: &dyn ResultCache,
    ) -> Result<Scored, Damage> {
        if self.extract {
            instance.pred = reply::query(&instance.pred, Some(instance.language()));
        }
        let places = app.engine.places(table);
        let scoring = Scoring {
            engine: &app.engine,
            places: &places,
            limits,
            each: Some(self.each),
            similarity: self.similarity,
            cache,
            fault: &|panic| tracing::error!(panic, "a pair could not be scored: a fault of the program"),
        };
        scoring.pair_with(&instance, self.summary)
    }
}

const NO_TRIPLES: &str = "this snapshot has no triples: load some with --wikidata or --rdf";

/// A cache of query results that all requests share, with the number of hits of one request. Within a request a query
/// runs only once, even if it times out.
struct ScoredResults<'a> {
    results: BatchCache<&'a InMemory>,
    hits: AtomicU64,
}

impl<'a> ScoredResults<'a> {
    fn new(results: &'a InMemory) -> ScoredResults<'a> {
        ScoredResults { results: BatchCache::new(results), hits: AtomicU64::new(0) }
    }
}

impl ResultCache for ScoredResults<'_> {
    fn get(&self, key: &CacheKey<'_>) -> Option<Vec<u8>> {
        let found = self.results.get(key);
        self.hits.fetch_add(u64::from(found.is_some()), Ordering::Relaxed);
        found
    }

    fn put(&self, key: &CacheKey<'_>, results: Vec<u8>) {
        self.results.put(key, results);
    }

    fn enter(&self, key: &CacheKey<'_>) -> Option<Vec<u8>> {
        let found = self.results.enter(key);
        self.hits.fetch_add(u64::from(found.is_some()), Ordering::Relaxed);
        found
    }

    fn leave(&self, key: &CacheKey<'_>, failed: Option<Vec<u8>>) {
        self.results.leave(key, failed);
    }

    fn counts(&self) -> Option<CacheCounts> {
        self.results.counts()
    }

    fn finish(&self) -> Vec<String> {
        self.results.finish()
    }
}

/// Answers `{"predictions": [...], "references": [...], "bbox": [...], "places": {...}, "timeout": 10, "similarity":
/// false, "summary": true, "extract": true}` like `terrapin eval overpassnl`; all fields but the first two are
/// optional. With `"lang": "sparql"` it answers like `terrapin eval jsonl`. A body of the type `application/x-ndjson`
/// is answered line by line.
///
/// Results of queries are cached for later requests, within a limit in bytes: a reference that many predictions share
/// runs once. The records are identical with and without the cache.
///
/// All pairs together have the time of one query. Pairs after this time get the error class of a timeout. A trainer
/// thus receives a record for each pair, in order, and each record is complete. With `timeout`, one slow pair cannot
/// use up the time of the others; within a request, a query that timed out is not run again. With `extract`,
/// predictions are replies of a language model, and the query is extracted by the rules of `docs/reference/replies.md`.
pub async fn score(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    RawQuery(in_address): RawQuery,
    headers: HeaderMap,
    body: Received,
) -> Reply {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if lines::are_named(media_type) {
        return lines::serve(app, context, in_address, body).await;
    }
    json::serve(app, context, "score", body, move |app, question: ScoreQuestion, limits| {
        let wrong = |message: String| Err((Outcome::Refused, message));
        let count = question.references.len();
        if question.predictions.len() != count || question.bbox.as_ref().is_some_and(|bbox| bbox.len() != count) {
            return wrong("predictions, references and bbox must have the same length".to_owned());
        }
        if count > MOST {
            return wrong(format!("{count} pairs: send at most {MOST} at once, or any number as application/x-ndjson"));
        }
        let options = GivenOptions::in_address(in_address.as_deref().unwrap_or_default(), false)
            .and_then(|in_address| Ok(GivenOptions::in_object(&question)?.or(in_address)));
        let options = match options {
            Ok(given) => ScoreOptions::new(app, &given),
            Err(message) => return wrong(message),
        };
        let table = || question.places.map(|places| PlaceTable::parse(places.get().as_bytes())).transpose();
        let table = match budget::watched(&Arc::new(Budget::new(limits)), table) {
            Ok(Ok(table)) => table,
            Ok(Err(e)) => return wrong(format!("places: {e}")),
            Err(StopReason::Exceeded(exceeded)) => return wrong(format!("places: {exceeded}")),
            Err(StopReason::Panicked(_)) => return wrong("places: they could not be read".to_owned()),
        };
        let is_sparql = options.language == QueryLanguage::Sparql;
        if is_sparql && app.engine.triples().is_none() {
            return wrong(NO_TRIPLES.to_owned());
        }
        if is_sparql && (table.is_some() || question.bbox.is_some()) {
            return wrong("bbox and places are of OverpassQL: leave them out for SPARQL".to_owned());
        }
        let cache = ScoredResults::new(&app.results);
        let mut results = Vec::with_capacity(count);
        for (index, (gold, pred)) in question.references.into_iter().zip(question.predictions).enumerate() {
            if limits.cancelled.load(Ordering::Relaxed) {
                return Err(service::disconnected());
            }
            let bbox = question.bbox.as_ref().and_then(|boxes| boxes.get(index)).cloned();
            let lang = is_sparql.then(|| "sparql".to_owned());
            let line = index + 1;
            let instance = Instance { line, gold: gold.text, pred: pred.text, lang, bbox, ..Instance::default() };
            if gold.wrong.is_some() || pred.wrong.is_some() {
                let scored = unreadable(&instance, gold.wrong, pred.wrong);
                results.push(Scored { summary: scored.summary.filter(|_| options.summary), ..scored });
                continue;
            }
            // The check of the whole work reports the damage.
            let scored = options.score(app, instance, table.as_ref(), limits, &cache);
            results.push(scored.map_err(|_| service::disconnected())?);
        }
        if limits.cancelled.load(Ordering::Relaxed) {
            return Err(service::disconnected());
        }
        let reused = cache.hits.into_inner();
        Ok(ScoreAnswer { snapshot: app.engine.digest().to_owned(), engine: engine(), reused, results })
    })
    .await
}
