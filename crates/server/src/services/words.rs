//! `/words`: the query that words stand for, with the meaning of each part.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::routing::on;
use serde::{Deserialize, Serialize};

use crate::context::HttpRequestContext;
use crate::job::{Job, Lane};
use crate::json::{JSON, JsonWording};
use crate::outcome::Outcome;
use crate::reply::Reply;
use crate::route::{Access, Parameter, Route, Schema, query, required};
use crate::service::{self, Wording};
use crate::{App, json};
use terrapin_assist::words::{UnderstoodWords, WordsCompletion, WordsOptions, complete, understand};
use terrapin_osm::BoundingBox;

const PARAMETERS: &[Parameter] = &[
    required(
        "q",
        Schema::Text,
        "The words: cafes in Valletta; bus stops within 200 m of a school; amenity=cafe in Valletta",
    ),
    query(
        "bbox",
        Schema::Pattern(super::interpreter::BOX),
        "The view: south,west,north,east in degrees. With it, words without a place mean the view",
    ),
    query("language", Schema::Text, "The language of labels, and the preferred language of the words. Default: en"),
    query("complete", Schema::OneOf(&["0", "1"]), "1: also return completions of the last word"),
];

/// The route of words.
pub const ROUTES: &[Route] = &[Route::get("/words", "Turn words into a query, without a model", |_, methods| on(methods, words))
    .details("The answer has the meaning of each part with alternatives and their counts in the snapshot, the words that were not understood, and the queries in both languages, best first. The same words have the same answer on the same snapshot.")
    .takes(&[PARAMETERS])
    .access(Access::Query)];

/// The maximum time: people wait for the answer during typing.
const TIME: Duration = Duration::from_secs(20);

/// The parameters of a request.
#[derive(Deserialize)]
pub struct WordsRequestParameters {
    q: String,
    #[serde(default)]
    bbox: String,
    #[serde(default)]
    language: String,
    #[serde(default)]
    complete: String,
}

#[derive(Serialize)]
struct WordsResponse {
    #[serde(flatten)]
    understood: UnderstoodWords,
    #[serde(skip_serializing_if = "Option::is_none")]
    completions: Option<Vec<WordsCompletion>>,
}

/// Answers with the meaning of words and their queries.
pub async fn words(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    asked: Result<Query<WordsRequestParameters>, QueryRejection>,
) -> Reply {
    let Ok(Query(asked)) = asked else {
        let message = "the parameter `q` is missing: the words, such as cafes in Valletta";
        return JsonWording.refusal(StatusCode::BAD_REQUEST, message).into();
    };
    context.set_query(&asked.q);
    let work = move |job: Job| {
        let (time, memory) = (job.app().settings.max_time.min(TIME), job.memory());
        let (run, sink) = job.begin(time, memory, JSON);
        let answer = run.checked(|app| answer(app, &asked));
        match answer.map_err(|stop| service::stopped(&JsonWording, stop)).flatten() {
            Ok(answer) => json::write(run, sink, "words", &answer, 0),
            Err(failed) => service::fail(run, sink, &JsonWording, "words", failed),
        }
    };
    service::run(&app, &context, Lane::Search, &JsonWording, work).await
}

fn answer(app: &App, asked: &WordsRequestParameters) -> Result<WordsResponse, (Outcome, String)> {
    let wrong = |message: String| (Outcome::Refused, message);
    let bbox = match asked.bbox.as_str() {
        "" => None,
        text => Some(
            text.parse::<BoundingBox>()
                .map_err(|_| wrong(format!("bbox {text:?}: expected \"south,west,north,east\" in degrees")))?,
        ),
    };
    let language = Some(asked.language.clone()).filter(|language| !language.is_empty());
    let options = WordsOptions { bbox, language: language.clone(), ..WordsOptions::default() };
    let understood = understand(&app.engine, &asked.q, &options).map_err(wrong)?;
    let completions = (asked.complete == "1")
        .then(|| complete(&app.engine, asked.q.trim_start(), language.as_deref().unwrap_or("en")));
    Ok(WordsResponse { understood, completions })
}
