//! Runs the requests of a Wikibase on the triples and writes their answers.

use std::sync::Arc;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use terrapin_triples::Store;

use super::parameters::ActionParameters;
use crate::App;
use crate::context::HttpRequestContext;
use crate::job::{Job, Lane};
use crate::json::JSON;
use crate::outcome::Outcome;
use crate::reply::Reply;
use crate::service::{self, Wording};

/// The error message without triples.
const NO_TRIPLES: &str = "this snapshot has no triples: load some with --wikidata or --rdf";

/// An object and the number of entities in it, or an error or a redirect.
pub type EntityAnswer = Result<(Value, u64), Box<Response>>;

/// Reads the parameters and runs `give` on the triples.
pub async fn answer(
    app: &Arc<App>,
    context: &Arc<HttpRequestContext>,
    what: &'static str,
    words: &'static dyn Wording,
    parameters: impl FnOnce() -> Result<ActionParameters, String> + Send + 'static,
    give: impl FnOnce(&Store, &ActionParameters) -> EntityAnswer + Send + 'static,
) -> Reply {
    let work = move |job: Job| {
        if job.app().engine.triples().is_none() {
            return job.refuse(words.refusal(StatusCode::NOT_FOUND, NO_TRIPLES));
        }
        match parameters() {
            Ok(parameters) => work(job, what, words, |store| give(store, &parameters)),
            Err(wrong) => job.refuse(words.refusal(StatusCode::BAD_REQUEST, &wrong)),
        }
    };
    service::run(app, context, Lane::Search, words, work).await
}

fn work(job: Job, what: &'static str, words: &'static dyn Wording, give: impl FnOnce(&Store) -> EntityAnswer) {
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let (run, sink) = job.begin(time, memory, JSON);
    let Some(store) = run.app().engine.triples().map(|environment| Arc::clone(&environment.store)) else { return };
    let answer = match run.work(|_| give(&store).map(|(object, count)| (object.to_string(), count))) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(instead)) => return run.refused(sink, what, Outcome::Refused, *instead),
        Err(stop) => Err(service::stopped(words, stop)),
    };
    service::end(run, sink, words, what, answer);
}

/// Returns a redirect.
pub fn elsewhere(status: StatusCode, address: &str) -> Response {
    let mut response = status.into_response();
    if let Ok(address) = HeaderValue::from_str(address) {
        response.headers_mut().insert(header::LOCATION, address);
    }
    response
}
