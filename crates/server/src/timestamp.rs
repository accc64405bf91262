//! `/api/timestamp`: returns the time of the data on one line.

use std::sync::Arc;

use axum::extract::State;

use super::{App, status::iso};

/// Returns the time of the data.
pub async fn timestamp(State(app): State<Arc<App>>) -> String {
    format!("{}\n", iso(app.engine.manifest().data_timestamp))
}
