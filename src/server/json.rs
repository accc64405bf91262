//! Services that take a JSON object and give one: running them behind the gate, and how they refuse.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::App;
use super::body::{Received, Unreadable};
use super::context::Context;
use super::gate::Refusal;
use super::job::{self, Given, Job, Lane};
use super::metrics::Outcome;
use crate::budget::Limits;

const JSON: &str = "application/json";

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
) -> Response
where
    Q: DeserializeOwned,
    A: Serialize,
{
    let body = match body {
        Ok(body) => body,
        Err(why) => return why.explain(error(why.status(), &why.message("the request"))),
    };
    match job::run(&app, &context, Lane::Query, move |job| answer(job, what, body, work)).await {
        Given::Whole(content_type, bytes) => job::answer(&app, content_type, Body::from(bytes)),
        Given::Streaming(content_type, body) => job::answer(&app, content_type, body),
        Given::Refused(instead) => job::from_snapshot(&app, instead),
        Given::Away(refusal) => busy(&app, refusal),
        Given::Broken => error(StatusCode::INTERNAL_SERVER_ERROR, "it could not be done: see the server's log"),
    }
}

fn answer<Q: DeserializeOwned, A: Serialize>(
    job: Job,
    what: &'static str,
    body: Received,
    work: impl FnOnce(&App, Q, &Limits) -> Result<A, Wrong>,
) {
    let question: Q = {
        // The text is done with once it is read.
        let body = body;
        let text = match body.decoded() {
            Ok(text) => text,
            Err(why) => return job.refuse(error(why.status(), &why.message("the request"))),
        };
        match serde_json::from_slice(&text) {
            Ok(question) => question,
            Err(wrong) => {
                let message = format!("not the JSON object expected: {wrong}");
                return job.refuse(error(StatusCode::BAD_REQUEST, &message));
            }
        }
    };
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let (run, mut sink) = job.begin(time, memory, JSON);
    let answer = work(run.app(), question, run.limits());
    if let Err(damage) = run.app().osm.check() {
        tracing::error!(%damage, "no answer can be trusted");
        let instead = error(StatusCode::INTERNAL_SERVER_ERROR, &damage.to_string());
        return run.refused(sink, what, Outcome::Broken, instead);
    }
    match answer {
        Ok(answer) => match serde_json::to_writer(&mut sink, &answer) {
            Ok(()) => run.answered(sink, what, 0),
            // It cannot be written where nobody reads it.
            Err(_) => run.refused(sink, what, Outcome::Abandoned, StatusCode::SERVICE_UNAVAILABLE.into_response()),
        },
        Err(Wrong::Question(message)) => {
            run.refused(sink, what, Outcome::Refused, error(StatusCode::BAD_REQUEST, &message));
        }
        Err(Wrong::Abandoned) => {
            let instead = error(StatusCode::SERVICE_UNAVAILABLE, "it was stopped");
            run.refused(sink, what, Outcome::Abandoned, instead);
        }
    }
}

fn busy(app: &App, refusal: Refusal) -> Response {
    app.metrics.refused(Outcome::Busy);
    job::come_back(match refusal {
        Refusal::Full => error(StatusCode::TOO_MANY_REQUESTS, "too many wait already: come back later"),
        Refusal::TooLong => error(StatusCode::GATEWAY_TIMEOUT, "no slot came free in time: come back later"),
        Refusal::Closed => error(StatusCode::SERVICE_UNAVAILABLE, "the server is going down"),
    })
}

/// A refusal: `{"error": "..."}`.
fn error(status: StatusCode, message: &str) -> Response {
    let body = serde_json::json!({ "error": message }).to_string();
    (status, [(header::CONTENT_TYPE, JSON)], body).into_response()
}
