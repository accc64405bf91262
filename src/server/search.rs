//! `/search`: where a name leads, as Nominatim answers it. What a client finds here is what `{{geocodeArea:...}}` finds
//! in a query: among the snapshot's own areas, the same every day.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::{App, SNAPSHOT_HEADER};
use crate::osm::Osm;
use crate::places::{Areas, Bounds, Element, Places, Position};

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
pub async fn search(State(app): State<Arc<App>>, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let parameter = |wanted: &str| {
        form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
    };
    if let Some(format) = parameter("format")
        && !matches!(format.as_str(), "json" | "jsonv2")
    {
        return error(StatusCode::BAD_REQUEST, "Parameter 'format' must be one of: json, jsonv2");
    }
    let Some(name) = parameter("q") else {
        return error(StatusCode::BAD_REQUEST, "Nothing to search for: the parameter 'q' is missing");
    };
    let shared = Arc::clone(&app);
    let found = tokio::task::spawn_blocking(move || {
        let found = find(&shared.osm, name.trim());
        shared.osm.check().map(|()| found)
    });
    let mut response = match found.await {
        Ok(Ok(found)) => axum::Json(found).into_response(),
        Ok(Err(damage)) => error(StatusCode::INTERNAL_SERVER_ERROR, &damage.to_string()),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "it could not be done: see the server's log"),
    };
    if let Ok(digest) = HeaderValue::from_str(&app.about.digest) {
        response.headers_mut().insert(SNAPSHOT_HEADER, digest);
    }
    response
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
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}
