//! The services of a Wikibase: `/w/api.php` (action.rs), `/w/rest.php/wikibase/...` (rest.rs, described by openapi.rs)
//! and `/wiki/Special:EntityData/...` (data.rs). Search and JSON come from `terrapin_entities`.

mod action;
mod data;
mod openapi;
mod parameters;
mod rest;

use std::sync::Arc;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use serde_json::{Value, json};

use crate::App;
use crate::context::HttpRequestContext;
use crate::job::{Job, Lane};
use crate::json::JSON;
use crate::outcome::Outcome;
use crate::reply::Reply;
use crate::route::{Access, Route, Schema, form_body, path, query};
use crate::service::{self, Wording};
use parameters::ActionParameters;
use terrapin_triples::Store;

use action::ActionWording;
pub(super) use data::moved;
pub(super) use openapi::paths as described_paths;
use rest::Rest;

const NO_TRIPLES: &str = "this snapshot has no triples: load some with --wikidata or --rdf";

/// The name of an entity, form or sense, and an ending.
const PAGE: &str =
    r"^([QPLqpl][1-9][0-9]{0,18}|[Ll][1-9][0-9]{0,18}-[FSfs][1-9][0-9]{0,18})(\.(json|ttl|nt|rdf|n3|html))?$";

/// The routes.
pub const ROUTES: &[Route] = &[
    Route::get_and_post("/w/api.php", "Find or return entities, as Wikidata's action API does", |_, methods| {
        on(methods, action::action)
    })
    .takes(&[action::PARAMETERS])
    .reads(&[form_body(|| json!({ "type": "object" }))])
    .access(Access::Query)
    .of_triples()
    .worded(&ActionWording),
    Route {
        documented_path: Some("/w/rest.php/wikibase/v1/{path}"),
        ..Route::get(
            "/w/rest.php/wikibase/{version}/{*path}",
            "Items and properties, as Wikibase's REST API returns them",
            |_, methods| on(methods, rest::rest),
        )
        .takes(&[&[path("path", Schema::Text, "Such as entities/items/Q42/labels or search/items")]])
        .access(Access::Query)
        .of_triples()
        .worded(&Rest)
        .described_at("/w/rest.php/wikibase/v1/openapi.json")
    },
    Route {
        documented_path: Some("/wiki/Special:EntityData/{id}"),
        ..Route::get("/wiki/Special:EntityData/{page}", "An entity with all its parts", |_, methods| {
            on(methods, data::data)
        })
        .details(
            "An ending (.json, .ttl, .nt, .rdf, .n3, .html) or `Accept` selects the format; all but JSON redirect.",
        )
        .takes(&[&[
            path("id", Schema::Pattern(PAGE), "The entity's id"),
            query(
                "format",
                Schema::OneOf(&["json", "ttl", "nt", "rdf", "n3", "html"]),
                "The format, without an ending",
            ),
        ]])
        .statuses_too(&[303, 415])
        .access(Access::Query)
        .of_triples()
    },
];

/// An object and the number of entities in it, or an error or a redirect.
type EntityAnswer = Result<(Value, u64), Box<Response>>;

/// Reads the parameters and runs `give` on the triples.
async fn answer(
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
fn elsewhere(status: StatusCode, address: &str) -> Response {
    let mut response = status.into_response();
    if let Ok(address) = HeaderValue::from_str(address) {
        response.headers_mut().insert(header::LOCATION, address);
    }
    response
}
