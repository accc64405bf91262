//! `/healthz` and `/readyz`: report whether this process works and whether it accepts queries.

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
        .access(Access::Probe)
        .for_operators(|_, methods| on(methods, health)),
    Route::get("/readyz", "200 while queries are accepted", |_, methods| on(methods, readiness))
        .answers(&[TEXT])
        .statuses_too(&[503])
        .access(Access::Probe)
        .for_operators(|_, methods| on(methods, readiness)),
];

const DAMAGED: (StatusCode, &str) = (StatusCode::SERVICE_UNAVAILABLE, "the snapshot is damaged\n");

fn is_damaged(app: &App) -> bool {
    app.engine.fail_if_damaged().is_err()
}

/// Reports whether the snapshot is free of detected damage. A supervisor restarts the process if this check fails; a
/// server that is shutting down therefore still passes it.
pub async fn health(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    if is_damaged(&app) { DAMAGED } else { (StatusCode::OK, "ok\n") }
}

/// Reports whether new queries are admitted.
pub async fn readiness(State(app): State<Arc<App>>) -> (StatusCode, &'static str) {
    if is_damaged(&app) {
        DAMAGED
    } else if app.gates.queries.is_open() {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "going down\n")
    }
}
