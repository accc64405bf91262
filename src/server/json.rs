//! Services that take a JSON object and give one: running them behind the gate, and how they refuse.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Instant, SystemTime};

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::gate::Refusal;
use super::pipe::StopWhenDropped;
use super::running::Running;
use super::{App, SNAPSHOT_HEADER};
use crate::overpass::run::Limits;

/// Reads the request, waits for a slot, and runs `work` on a thread of its own within the server's limits. When the
/// client goes away the work is told to stop.
pub(super) async fn serve<Q, A>(
    app: Arc<App>,
    body: Result<Bytes, BytesRejection>,
    work: impl FnOnce(&App, Q, Limits) -> Result<A, String> + Send + 'static,
) -> Response
where
    Q: DeserializeOwned + Send + 'static,
    A: Serialize + Send + 'static,
{
    let body = match body {
        Ok(body) => body,
        Err(rejection) => return error(rejection.status(), &rejection.body_text()),
    };
    let question: Q = match serde_json::from_slice(&body) {
        Ok(question) => question,
        Err(wrong) => return error(StatusCode::BAD_REQUEST, &format!("not the JSON object expected: {wrong}")),
    };
    let guard = StopWhenDropped(Arc::new(AtomicBool::new(false)));
    let slot = match app.gate.enter().await {
        Ok(slot) => slot,
        Err(Refusal::Full) => return error(StatusCode::TOO_MANY_REQUESTS, "too many wait already"),
        Err(Refusal::TooLong) => return error(StatusCode::GATEWAY_TIMEOUT, "no slot came free in time"),
        Err(Refusal::Closed) => return error(StatusCode::SERVICE_UNAVAILABLE, "the server is going down"),
    };
    let (allowed, memory) = (app.settings.max_time, app.settings.max_memory);
    let deadline = Instant::now() + allowed;
    let cancelled = Arc::clone(&guard.0);
    let limits = Limits {
        deadline: Some(deadline),
        memory: Some(memory),
        cancelled: Arc::clone(&cancelled),
        ..Limits::default()
    };
    let shared = Arc::clone(&app);
    let done = tokio::task::spawn_blocking(move || {
        let _slot = slot;
        let running = Running { since: SystemTime::now(), deadline, allowed, memory, cancelled };
        let _ticket = shared.running.enter(running);
        let answer = work(&shared, question, limits)?;
        shared.osm.check().map_err(|damage| damage.to_string())?;
        Ok::<A, String>(answer)
    });
    let mut response = match done.await {
        Ok(Ok(answer)) => axum::Json(answer).into_response(),
        Ok(Err(message)) => error(StatusCode::BAD_REQUEST, &message),
        Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "it could not be done: see the server's log"),
    };
    drop(guard);
    if let Ok(digest) = HeaderValue::from_str(&app.about.digest) {
        response.headers_mut().insert(SNAPSHOT_HEADER, digest);
    }
    response
}

/// A refusal: `{"error": "..."}`.
fn error(status: StatusCode, message: &str) -> Response {
    let body = serde_json::json!({ "error": message }).to_string();
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}
