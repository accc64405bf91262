//! `/healthz` and `/readyz`: whether this process works, and whether it shall be sent queries.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::on;

use crate::App;
use crate::route::{Access, Route, TEXT};

/// The routes of probes.
pub const ROUTES: &[Route] = &[
    Route::get("/healthz", "200 while the snapshot is valid", |_, methods| on(methods, health))
        .answers(&[TEXT])
        .statuses_too(&[503])
        .access(Access::Probe),
    Route::get("/readyz", "200 while queries are accepted", |_, methods| on(methods, readiness))
        .answers(&[TEXT])
        .statuses_too(&[503])
        .access(Access::Probe),
];

const DAMAGED: (StatusCode, &str) = (StatusCode::SERVICE_UNAVAILABLE, "the snapshot is damaged\n");

fn is_damaged(app: &App) -> bool {
    app.engine.fail_if_damaged().is_err()
}

/// Tells whether no damage to the snapshot was met. Whoever asks this starts the process anew where the answer is no,
/// which a server that is about to end of itself must not be.
pub async fn health(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    if is_damaged(&app) { DAMAGED } else { (StatusCode::OK, "ok\n") }
}

/// Tells whether new queries are let in.
pub async fn readiness(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    if is_damaged(&app) {
        DAMAGED
    } else if app.gates.queries.is_open() {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "going down\n")
    }
}
