//! Services that take a JSON object and give one: running them behind the gate, and how they refuse.

use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::App;
use super::body::{Received, Unreadable};
use super::context::Context;
use super::job::{Job, Lane, Run};
use super::outcome::Outcome;
use super::pipe::Sink;
use super::service::{self, Refused, Wording};
use crate::budget::Limits;

/// The content type.
pub(super) const JSON: &str = "application/json";

/// Why there is no answer to a question.
pub enum Wrong {
    /// The question: what is wrong with it.
    Question(String),
    /// Nobody waits for the answer any more.
    Abandoned,
}

/// Waits for a slot, reads the request on a thread of its own and runs `work` there within the server's limits. When the
/// client goes away the work is told to stop. `what` is the service's name in the log.
pub(super) async fn serve<Q, A>(
    app: Arc<App>,
    context: Arc<Context>,
    what: &'static str,
    body: Result<Received, Unreadable>,
    work: impl FnOnce(&App, Q, &Limits) -> Result<A, Wrong> + Send + 'static,
) -> Result<Response, Refused>
where
    Q: DeserializeOwned,
    A: Serialize,
{
    let body = service::body(&app, &Json, body)?;
    let work = move |job: Job| answer(job, what, body, work);
    let answer = service::run(&app, &context, Lane::Query, &Json, work).await?;
    Ok(answer.into_response(&app))
}

fn answer<Q: DeserializeOwned, A: Serialize>(
    job: Job,
    what: &'static str,
    body: Received,
    work: impl FnOnce(&App, Q, &Limits) -> Result<A, Wrong>,
) {
    let question: Q = match question(body) {
        Ok(question) => question,
        Err(refusal) => return job.refuse(*refusal),
    };
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let (run, sink) = job.begin(time, memory, JSON);
    let answer = work(run.app(), question, run.limits());
    let Some((run, sink)) = service::sound(run, sink, &Json, what) else { return };
    let (outcome, message) = match answer {
        Ok(answer) => return write(run, sink, what, &answer, 0),
        Err(Wrong::Question(message)) => (Outcome::Refused, message),
        Err(Wrong::Abandoned) => (Outcome::Abandoned, "it was stopped".to_owned()),
    };
    run.refused(sink, what, outcome, Json.refusal(outcome.status(), &message));
}

/// The object of a request; the text is done with once it is read.
pub(super) fn question<Q: DeserializeOwned>(body: Received) -> Result<Q, Box<Response>> {
    let text = body.decoded().map_err(|why| Box::new(service::unreadable(&Json, &why)))?;
    serde_json::from_slice(&text).map_err(|wrong| {
        let message = format!("not the JSON object expected: {wrong}");
        Box::new(Json.refusal(StatusCode::BAD_REQUEST, &message))
    })
}

/// Writes an answer that has so many results.
pub(super) fn write(run: Run, mut sink: Sink, what: &'static str, answer: &impl Serialize, results: u64) {
    match serde_json::to_writer(&mut sink, answer) {
        Ok(()) => run.answered(sink, what, results),
        // It cannot be written where nobody reads it.
        Err(_) => run.refused(sink, what, Outcome::Abandoned, StatusCode::SERVICE_UNAVAILABLE.into_response()),
    }
}

/// The wording of our own services: `{"error": "..."}`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Json;

impl Wording for Json {
    fn names_snapshot(&self) -> bool {
        true
    }

    fn refusal(&self, status: StatusCode, message: &str) -> Response {
        refusal(status, &serde_json::json!({ "error": message }))
    }
}

/// A refusal that is an object.
pub(super) fn refusal(status: StatusCode, object: &serde_json::Value) -> Response {
    (status, [(header::CONTENT_TYPE, JSON)], object.to_string()).into_response()
}
