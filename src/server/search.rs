//! `/search`: where a name leads, as Nominatim answers it. What a client finds here is what `{{geocodeArea:...}}` finds
//! in a query: among the snapshot's own areas, the same every day.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;

use super::App;
use super::context::Context;
use super::gate::Refusal;
use super::job::{Job, Lane};
use super::json::{self, JSON};
use super::service::{self, Refused, Wording};
use crate::geocoder::{Areas, Bounds, Element, Places, Position};
use crate::osm::Osm;

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
) -> Result<Response, Refused> {
    let work = move |job: Job| work(job, &query.unwrap_or_default());
    let answer = service::run(&app, &context, Lane::Search, &Nominatim, work).await?;
    Ok(answer.into_response(&app))
}

fn work(job: Job, query: &str) {
    let parameter = |wanted: &str| {
        form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
    };
    if let Some(format) = parameter("format")
        && !matches!(format.as_str(), "json" | "jsonv2")
    {
        let message = "Parameter 'format' must be one of: json, jsonv2";
        return job.refuse(Nominatim.refusal(StatusCode::BAD_REQUEST, message));
    }
    let Some(name) = parameter("q") else {
        let message = "Nothing to search for: the parameter 'q' is missing";
        return job.refuse(Nominatim.refusal(StatusCode::BAD_REQUEST, message));
    };
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let (run, sink) = job.begin(time, memory, JSON);
    let found = find(&run.app().osm, name.trim());
    let Some((run, sink)) = service::sound(run, sink, &Nominatim, "search") else { return };
    json::write(run, sink, "search", &found, found.len() as u64);
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

/// Nominatim's wording.
#[derive(Debug, Clone, Copy)]
struct Nominatim;

impl Wording for Nominatim {
    fn names_snapshot(&self) -> bool {
        true
    }

    fn late(&self) -> StatusCode {
        StatusCode::SERVICE_UNAVAILABLE
    }

    fn refusal(&self, status: StatusCode, message: &str) -> Response {
        json::refusal(status, &json!({ "error": { "code": status.as_u16(), "message": message } }))
    }

    fn busy(&self, refusal: Refusal) -> &'static str {
        match refusal {
            Refusal::Full => "Too many requests wait already",
            Refusal::TooLong => "The server is too busy",
            Refusal::Closed => "The server is going down",
        }
    }
}
