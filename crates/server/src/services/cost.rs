//! `/api/cost`: reports the cost of a finished query to the client that sent it. The headers of a streamed answer are
//! sent before its cost is known.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use serde::Deserialize;
use serde_json::json;

use crate::context::HttpRequestContext;
use crate::json::{JSON, JsonWording};
use crate::route::{Route, Schema, required};
use crate::service::Wording;
use crate::{App, job};

/// The route of costs.
pub const ROUTES: &[Route] =
    &[Route::get("/api/cost", "Time, work and memory of one of the client's last queries", |_, methods| {
        on(methods, cost)
    })
    .takes(&[&[required("request", Schema::Text, "The `X-Request-Id` of its answer")]])
    .statuses_too(&[404])];

/// The parameters of a request for a cost.
#[derive(Deserialize)]
pub struct CostRequest {
    request: String,
}

/// Returns the cost of the client's own query, selected by request ID: the header `X-Request-Id` of its response.
pub async fn cost(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    asked: Result<Query<CostRequest>, QueryRejection>,
) -> Response {
    let Ok(Query(CostRequest { request })) = asked else {
        let message = "the parameter `request` is missing: the X-Request-Id of an answer";
        return JsonWording.refusal(StatusCode::BAD_REQUEST, message);
    };
    let Some(cost) = app.costs.of(&request, &context.client) else {
        let message = "no finished query of this client has this id, or it is too old";
        return JsonWording.refusal(StatusCode::NOT_FOUND, message);
    };
    let told = json!({
        "request": request,
        "results": cost.results,
        "bytes": cost.bytes,
        "milliseconds": cost.took.as_micros() as f64 / 1000.0,
        "work": cost.work,
        "memory": cost.memory,
    });
    job::from_snapshot(&app, ([(header::CONTENT_TYPE, JSON)], told.to_string()).into_response())
}
