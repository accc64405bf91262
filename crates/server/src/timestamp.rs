//! `/api/timestamp`: the time of the data, one line.

use std::sync::Arc;

use axum::extract::State;

use super::{App, status::iso};

/// Tells the time of the data.
pub async fn timestamp(State(app): State<Arc<App>>) -> String {
    format!("{}\n", iso(app.engine.manifest().data_timestamp))
}
