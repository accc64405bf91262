//! `/api/timestamp`: returns the time of the data on one line.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::on;

use super::status::iso;
use crate::App;
use crate::route::{Route, TEXT};

/// The route of the time.
pub const ROUTES: &[Route] =
    &[Route::get("/api/timestamp", "The time of the data", |_, methods| on(methods, timestamp)).answers(&[TEXT])];

/// Returns the time of the data.
pub async fn timestamp(State(app): State<Arc<App>>) -> String {
    format!("{}\n", iso(app.engine.manifest().data_timestamp))
}
