//! `/api/kill_my_queries` and `/api/kill/{id}`: stop the client's own queries, as in the Overpass API, and for
//! operators any query. A stopped query ends with the same status as one that the server stopped.

use std::fmt::Write;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use axum::{Extension, Json};
use serde_json::json;

use crate::App;
use crate::context::HttpRequestContext;
use crate::json::JsonWording;
use crate::rejected::Rejected;
use crate::route::{Route, Schema, TEXT, path};
use crate::service::Wording;
use crate::tokens::Bearer;

/// The routes that stop queries.
pub const ROUTES: &[Route] = &[
    Route::get_and_post("/api/kill_my_queries", "Stop the client's running queries", |_, methods| on(methods, own))
        .answers(&[TEXT])
        .guarded(),
    Route::post("/api/kill/{id}", "Stop a query by its number, with an admin token", |_, methods| {
        on(methods, by_number)
    })
    .takes(&[&[path("id", Schema::Integer(0, i64::MAX, None), "First column of the running queries in /api/status")]])
    .guarded()
    .for_operators(|_, methods| on(methods, any)),
];

/// Stops all queries of the client. Lists them in the words of the public services; the body is empty if none was
/// running.
pub async fn own(State(app): State<Arc<App>>, Extension(context): Extension<Arc<HttpRequestContext>>) -> String {
    let mut out = String::new();
    for (number, _) in app.running.cancel(|_, query| query.request.client == context.client) {
        let _ = writeln!(out, "Killing query (pid {number}) from IP {} ...\nDone!", context.client.0);
    }
    out
}

/// Stops the query with a number from `/api/status`. Requires an admin token.
pub async fn by_number(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    number: Path<String>,
) -> Response {
    if context.is_admin() {
        return any(State(app), number).await;
    }
    let message = match context.bearer {
        Bearer::Anyone => "only at the address of --metrics-bind, or with a token marked `admin` (--tokens)",
        _ => "a token marked `admin` is needed",
    };
    let why = Rejected::Forbidden(message);
    app.metrics.rejected(&why);
    JsonWording.reject(&why)
}

/// Stops the query with this number, for every client that can reach the operators' address.
pub async fn any(State(app): State<Arc<App>>, Path(number): Path<String>) -> Response {
    let Ok(wanted) = number.parse::<u64>() else {
        let message = "expected the number of a query, the first column of the running queries in /api/status";
        return (StatusCode::BAD_REQUEST, Json(json!({ "error": message }))).into_response();
    };
    match app.running.cancel(|number, _| number == wanted).pop() {
        Some((number, query)) => {
            let (request, client) = (query.request.id(), &*query.request.client.0);
            tracing::info!(query = number, request_id = request, client, "stopped by an operator");
            Json(json!({ "killed": number, "request_id": request, "client": client })).into_response()
        }
        None => {
            let message = format!("query {wanted} is not running: /api/status lists the running queries");
            (StatusCode::NOT_FOUND, Json(json!({ "error": message }))).into_response()
        }
    }
}
