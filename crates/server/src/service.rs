//! The common part of services that parse or run a client's input: each runs through a job, and formats its errors in
//! its own way.

use std::fmt::Display;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::App;
use crate::body::{Received, Unreadable};
use crate::context::HttpRequestContext;
use crate::gate::AdmissionRefusal;
use crate::job::{self, Given, Halt, Job, JobAnswer, Lane, RequestJob};
use crate::outcome::QueryOutcome;
use crate::pipe::PipeSink;

/// The error format of a service: the form of its error responses, and the texts and statuses in which it differs from
/// the others.
pub trait Wording: Sync {
    /// Returns an error response: a page, a text or a JSON object.
    fn refusal(&self, status: StatusCode, message: &str) -> Response;

    /// The media types of refusals.
    fn media_types(&self) -> &'static [&'static str] {
        &["application/json"]
    }

    /// Returns whether errors from the work itself have the snapshot's header, as answers do.
    fn names_snapshot(&self) -> bool {
        false
    }

    /// Returns the text for a client over its quota. `message` is the default.
    fn over_quota(&self, message: &'static str) -> &'static str {
        message
    }

    /// Returns the text for a body that could not be read.
    fn unreadable(&self, why: &Unreadable) -> String {
        why.message("the request")
    }

    /// Returns the status if no slot became free within the queue timeout.
    fn late(&self) -> StatusCode {
        StatusCode::GATEWAY_TIMEOUT
    }

    /// Returns the text for a request that was not admitted.
    fn busy(&self, refusal: AdmissionRefusal) -> &'static str {
        match refusal {
            AdmissionRefusal::Full => "the queue is full: retry later",
            AdmissionRefusal::TooLong => "no slot became free in time: retry later",
            AdmissionRefusal::Closed => "the server is shutting down",
        }
    }

    /// Returns status and text for a request that was stopped before its work began.
    fn halted(&self, halt: Halt) -> (StatusCode, String) {
        (QueryOutcome::from(halt).status(), halt.to_string())
    }

    /// Returns the text for a program fault, which is in the log.
    fn broken(&self) -> &'static str {
        "the request failed: see the server's log"
    }

    /// Returns the text for a damaged snapshot.
    fn damaged(&self, damage: &dyn Display) -> String {
        damage.to_string()
    }
}

/// An error response.
pub struct RefusedRequest(Box<Response>);

impl From<Response> for RefusedRequest {
    fn from(response: Response) -> Self {
        RefusedRequest(Box::new(response))
    }
}

impl From<RefusedRequest> for Response {
    fn from(refused: RefusedRequest) -> Self {
        *refused.0
    }
}

impl IntoResponse for RefusedRequest {
    fn into_response(self) -> Response {
        self.into()
    }
}

/// Returns a request's body.
///
/// # Errors
/// Returns an error response if the body could not be read.
pub fn body(app: &App, words: &dyn Wording, body: Result<Received, Unreadable>) -> Result<Received, RefusedRequest> {
    body.map_err(|why| {
        app.metrics.refused(QueryOutcome::Refused);
        unreadable(words, &why).into()
    })
}

/// Returns the error response for a body that could not be read.
pub fn unreadable(words: &dyn Wording, why: &Unreadable) -> Response {
    why.explain(words.refusal(why.status(), &words.unreadable(why)))
}

/// Runs a query, as [`job::run_query`] does.
///
/// # Errors
/// Returns an error response if the query has no answer.
pub async fn run_query(
    app: &Arc<App>,
    context: &Arc<HttpRequestContext>,
    words: &dyn Wording,
    work: impl FnOnce(Job) + Clone + Send + 'static,
) -> Result<JobAnswer, RefusedRequest> {
    told(app, words, job::run_query(app, context, work).await)
}

/// Runs `work`, as [`job::run`] does.
///
/// # Errors
/// Returns an error response if the work has no answer.
pub async fn run(
    app: &Arc<App>,
    context: &Arc<HttpRequestContext>,
    lane: Lane,
    words: &dyn Wording,
    work: impl FnOnce(Job) + Send + 'static,
) -> Result<JobAnswer, RefusedRequest> {
    told(app, words, job::run(app, context, lane, work).await)
}

fn told(app: &App, words: &dyn Wording, given: Given) -> Result<JobAnswer, RefusedRequest> {
    let instead = match given {
        Given::Answer(answer) => return Ok(answer),
        Given::Refused(instead) if words.names_snapshot() => job::from_snapshot(app, instead),
        Given::Refused(instead) => instead,
        Given::Away(refusal) => {
            app.metrics.refused(QueryOutcome::Busy);
            let status = match refusal {
                AdmissionRefusal::Full => StatusCode::TOO_MANY_REQUESTS,
                AdmissionRefusal::TooLong => words.late(),
                AdmissionRefusal::Closed => StatusCode::SERVICE_UNAVAILABLE,
            };
            job::come_back(words.refusal(status, words.busy(refusal)))
        }
        Given::Broken => words.refusal(StatusCode::INTERNAL_SERVER_ERROR, words.broken()),
    };
    Err(instead.into())
}

/// Ends a job that was stopped before its work began.
pub fn halt(job: Job, words: &dyn Wording, halt: Halt) {
    let (status, message) = words.halted(halt);
    job.halt(halt, words.refusal(status, &message));
}

/// Checks that no damage to the elements was detected. Otherwise ends the answer with status 500, or by breaking it
/// off, and returns `None`. `what` is the service's name in the log.
pub fn sound(
    run: RequestJob,
    sink: PipeSink,
    words: &dyn Wording,
    what: &'static str,
) -> Option<(RequestJob, PipeSink)> {
    let Err(damage) = run.app().engine.osm().check() else { return Some((run, sink)) };
    tracing::error!(%damage, "the snapshot is damaged: answers are not reliable");
    let instead = words.refusal(StatusCode::INTERNAL_SERVER_ERROR, &words.damaged(&damage));
    run.refused(sink, what, QueryOutcome::Broken, instead);
    None
}
