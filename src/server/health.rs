//! `/healthz`: whether this process can answer.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use super::App;

/// Tells whether new queries are let in, and whether no damage to the snapshot was met.
pub async fn health(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    if app.osm.check().is_err() || app.sparql.as_ref().is_some_and(|endpoint| endpoint.is_damaged()) {
        (StatusCode::SERVICE_UNAVAILABLE, "the snapshot is damaged\n")
    } else if app.gate.is_open() {
        (StatusCode::OK, "ok\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "going down\n")
    }
}
