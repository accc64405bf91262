//! `/search`: where a name leads, as Nominatim answers it. What a client finds here is what `{{geocodeArea:...}}` finds
//! in a query: among the snapshot's own areas, the same every day.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::App;
use super::context::Context;
use super::gate::Refusal;
use super::job::{self, Given, Job, Lane};
use super::metrics::Outcome;
use crate::osm::Osm;
use crate::places::{Areas, Bounds, Element, Places, Position};

const JSON: &str = "application/json";

/// A place, with the fields of Nominatim's that a snapshot can give.
#[derive(Debug, Serialize)]
struct Found {
    licence: &'static str,
    osm_type: &'static str,
    osm_id: i64,
    lat: String,
    lon: String,
    name: String,
    display_name: String,
    /// South, north, west, east.
    boundingbox: [String; 4],
}

/// Looks a name up: the parameter `q`. A list of at most one place.
pub async fn search(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<Context>>,
    RawQuery(query): RawQuery,
) -> Response {
    let given = job::run(&app, &context, Lane::Search, move |job| work(job, &query.unwrap_or_default())).await;
    match given {
        Given::Whole(content_type, bytes) => job::answer(&app, content_type, Body::from(bytes)),
        Given::Streaming(content_type, body) => job::answer(&app, content_type, body),
        Given::Refused(instead) => job::from_snapshot(&app, instead),
        Given::Away(refusal) => busy(&app, refusal),
        Given::Broken => error(StatusCode::INTERNAL_SERVER_ERROR, "it could not be done: see the server's log"),
    }
}

fn work(job: Job, query: &str) {
    let parameter = |wanted: &str| {
        form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
    };
    if let Some(format) = parameter("format")
        && !matches!(format.as_str(), "json" | "jsonv2")
    {
        let message = "Parameter 'format' must be one of: json, jsonv2";
        return job.refuse(error(StatusCode::BAD_REQUEST, message));
    }
    let Some(name) = parameter("q") else {
        let message = "Nothing to search for: the parameter 'q' is missing";
        return job.refuse(error(StatusCode::BAD_REQUEST, message));
    };
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let (run, mut sink) = job.begin(time, memory, JSON);
    let found = find(&run.app().osm, name.trim());
    if let Err(damage) = run.app().osm.check() {
        tracing::error!(%damage, "no answer can be trusted");
        let instead = error(StatusCode::INTERNAL_SERVER_ERROR, &damage.to_string());
        return run.refused(sink, "search", Outcome::Broken, instead);
    }
    match serde_json::to_writer(&mut sink, &found) {
        Ok(()) => run.answered(sink, "search", found.len() as u64),
        Err(_) => run.refused(sink, "search", Outcome::Abandoned, StatusCode::SERVICE_UNAVAILABLE.into_response()),
    }
}

fn busy(app: &App, refusal: Refusal) -> Response {
    app.metrics.refused(Outcome::Busy);
    job::come_back(match refusal {
        Refusal::Full => error(StatusCode::TOO_MANY_REQUESTS, "Too many requests wait already"),
        Refusal::TooLong => error(StatusCode::SERVICE_UNAVAILABLE, "The server is too busy"),
        Refusal::Closed => error(StatusCode::SERVICE_UNAVAILABLE, "The server is going down"),
    })
}

fn find(osm: &Osm, name: &str) -> Vec<Found> {
    let found = || {
        let place = Areas::new(osm).find(name)?;
        let &Element { kind, id } = place.element.value()?;
        let Position { lat, lon } = place.center.value()?.clone();
        let Bounds { south, north, west, east } = place.bounds.value()?.clone();
        Some(Found {
            licence: "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright",
            osm_type: kind.name(),
            osm_id: id,
            lat,
            lon,
            name: name.to_owned(),
            display_name: name.to_owned(),
            boundingbox: [south, north, west, east],
        })
    };
    found().into_iter().collect()
}

/// A refusal in Nominatim's shape.
fn error(status: StatusCode, message: &str) -> Response {
    let body = serde_json::json!({ "error": { "code": status.as_u16(), "message": message } }).to_string();
    (status, [(header::CONTENT_TYPE, JSON)], body).into_response()
}
