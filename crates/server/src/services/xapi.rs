//! `/api/map`, `/api/xapi` and `/api/xapi_meta`: the calls of the extended API (XAPI), which older programs use,
//! answered like the compatibility layer of the Overpass API.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::on;

use super::interpreter::{self, InterpreterOutput, PAGES};
use crate::context::HttpRequestContext;
use crate::reply::Reply;
use crate::route::{Access, Route, Schema, required};
use crate::{App, accept, form, page};
use terrapin_overpass::syntax::xapi;

/// The routes of the extended API.
pub const ROUTES: &[Route] = &[
    Route::get("/api/map", "All elements in a bounding box, with metadata", |_, methods| on(methods, map))
        .details("Nodes in the box, the ways with them, and the relations of both.")
        .takes(&[&[required("bbox", Schema::Pattern(BOUNDS), "left,bottom,right,top in degrees")]])
        .answers(ANSWERS)
        .access(Access::Query)
        .worded(&PAGES),
    Route::get("/api/xapi", "Run a query of the extended API (XAPI)", |_, methods| on(methods, xapi))
        .details(XAPI)
        .answers(ANSWERS)
        .access(Access::Query)
        .statuses_too(&[400])
        .worded(&PAGES),
    Route::get(
        "/api/xapi_meta",
        "Run a query of the extended API, with versions, times, changesets and users",
        |_, methods| on(methods, xapi_meta),
    )
    .details(XAPI)
    .answers(ANSWERS)
    .access(Access::Query)
    .statuses_too(&[400])
    .worded(&PAGES),
];

/// Longitude, latitude, longitude, latitude.
const BOUNDS: &str = r"^-?(180(\.0+)?|(1[0-7][0-9]|[0-9]{1,2})(\.[0-9]+)?),-?(90(\.0+)?|[0-8]?[0-9](\.[0-9]+)?),-?(180(\.0+)?|(1[0-7][0-9]|[0-9]{1,2})(\.[0-9]+)?),-?(90(\.0+)?|[0-8]?[0-9](\.[0-9]+)?)$";
/// The media types of answers: those of queries, without a function to call.
const ANSWERS: &[&str] = &[
    "application/osm3s+xml",
    "application/json",
    "application/geo+json",
    "application/geo+json-seq",
    "text/csv",
    "text/html",
];

const XAPI: &str = "The query is the whole query string: /api/xapi?node[amenity=cafe|bar][bbox=14.4,35.8,14.6,36.0]";

/// Returns all elements in a box: `/api/map?bbox=left,bottom,right,top`.
pub async fn map(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    RawQuery(in_address): RawQuery,
    headers: HeaderMap,
) -> Reply {
    let address = in_address.unwrap_or_default();
    let bbox = form::pairs(address.as_bytes()).find(|(name, _)| *name == b"bbox");
    let text = bbox.and_then(|(_, bbox)| form::decoded(bbox).ok()).and_then(|bbox| xapi::map(&bbox));
    let text = text.ok_or_else(|| "bbox=left,bottom,right,top is needed, four numbers in degrees.".to_owned());
    answer(&app, &context, &headers, text).await
}

/// Runs a query such as `/api/xapi?node[amenity=cafe][bbox=14.4,35.8,14.6,36.0]`.
pub async fn xapi(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    RawQuery(in_address): RawQuery,
    headers: HeaderMap,
) -> Reply {
    answer(&app, &context, &headers, translated(in_address, false)).await
}

/// Runs a query like `/api/xapi`; the answer also has versions, times, changesets and users.
pub async fn xapi_meta(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    RawQuery(in_address): RawQuery,
    headers: HeaderMap,
) -> Reply {
    answer(&app, &context, &headers, translated(in_address, true)).await
}

/// Returns the query in OverpassQL, or the error message.
fn translated(in_address: Option<String>, meta: bool) -> Result<String, String> {
    let address = in_address.unwrap_or_default();
    let query = form::decoded(address.as_bytes()).map_err(|_| "Invalid UTF-8 in the query.".to_owned())?;
    xapi::translate(&query, meta).map_err(|problem| problem.to_string())
}

async fn answer(
    app: &Arc<App>,
    context: &Arc<HttpRequestContext>,
    headers: &HeaderMap,
    text: Result<String, String>,
) -> Reply {
    let text = match text {
        Ok(text) => text,
        Err(message) => {
            return page::error(StatusCode::BAD_REQUEST, [format!("encoding error: {message}").as_str()]).into();
        }
    };
    let accepted = accept::text(headers);
    let work = move |job| {
        let wanted = InterpreterOutput { accepted: accepted.as_deref(), ..InterpreterOutput::default() };
        interpreter::answer(job, &text, wanted);
    };
    interpreter::respond(app, context, "", work).await
}
