//! The common part of services that parse or run a client's input: each runs through a job, and formats its errors in
//! its own way.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;

use crate::App;
use crate::context::HttpRequestContext;
use crate::job::{self, Job, Lane, RequestJob};
use crate::outcome::Outcome;
use crate::pipe::PipeSink;
use crate::rejected::Rejected;
use crate::reply::Reply;
use terrapin_budget::{self as budget, ExceededLimit};
use terrapin_engine::Stop;

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

    /// Returns the status if no slot became free within the queue timeout.
    fn late(&self) -> StatusCode {
        StatusCode::GATEWAY_TIMEOUT
    }

    /// Returns the text for a request that was turned away before it ran.
    fn rejected(&self, why: &Rejected) -> Cow<'static, str> {
        why.message("the request")
    }

    /// Returns status and text for a request that was stopped while it was read.
    fn halted(&self, stop: &Stop) -> (StatusCode, String) {
        (Outcome::from(stop).status(), while_read(stop))
    }

    /// Returns the text for work that reached a limit.
    fn exceeded(&self, exceeded: ExceededLimit) -> String {
        exceeded.to_string()
    }

    /// Returns the text for work that panicked, which is in the log.
    fn panicked(&self) -> &'static str {
        "a fault of the program: see the server's log"
    }

    /// Returns the text for a request without a reply, because of a program fault that is in the log.
    fn broken(&self) -> &'static str {
        "the request failed: see the server's log"
    }

    /// Returns the text for a damaged snapshot.
    fn damaged(&self, damage: &dyn Display) -> String {
        damage.to_string()
    }
}

/// Returns the text for a request that was stopped while it was read.
pub fn while_read(stop: &Stop) -> String {
    match stop {
        Stop::Exceeded(ExceededLimit::Time(after)) => {
            format!("Query timed out after {}, while it was read", budget::seconds(*after))
        }
        Stop::Exceeded(exceeded) => format!("{exceeded}, while it was read"),
        Stop::Damaged(_) | Stop::Panicked(_) => "The query could not be read: see the server's log".to_owned(),
    }
}

/// Runs a query, as [`job::run_query`] does, and returns its reply.
pub async fn run_query(
    app: &Arc<App>,
    context: &Arc<HttpRequestContext>,
    words: &dyn Wording,
    work: impl FnOnce(Job) + Clone + Send + 'static,
) -> Reply {
    reply(app, words, job::run_query(app, context, work).await)
}

/// Runs `work`, as [`job::run`] does, and returns its reply.
pub async fn run(
    app: &Arc<App>,
    context: &Arc<HttpRequestContext>,
    lane: Lane,
    words: &dyn Wording,
    work: impl FnOnce(Job) + Send + 'static,
) -> Reply {
    reply(app, words, job::run(app, context, lane, work).await)
}

fn reply(app: &App, words: &dyn Wording, done: Result<Option<Reply>, Rejected>) -> Reply {
    match done {
        Ok(Some(Reply::Other(response))) if words.names_snapshot() => job::from_snapshot(app, *response).into(),
        Ok(Some(reply)) => reply,
        Ok(None) => words.refusal(StatusCode::INTERNAL_SERVER_ERROR, words.broken()).into(),
        Err(why) => {
            app.metrics.refused(Outcome::Busy);
            why.respond(words).into()
        }
    }
}

/// Ends a job that was stopped before its work began.
pub fn halt(job: Job, words: &dyn Wording, stop: &Stop) {
    let (status, message) = words.halted(stop);
    job.halt(stop, words.refusal(status, &message));
}

/// Ends a run with its answer and the number of results in it, or with the error of the service. `what` is the
/// service's name in the log.
pub fn end(
    run: RequestJob,
    mut sink: PipeSink,
    words: &dyn Wording,
    what: &'static str,
    answer: Result<(impl AsRef<[u8]>, u64), (Outcome, String)>,
) {
    let failed = match answer {
        Ok((bytes, results)) => match sink.write_all(bytes.as_ref()) {
            Ok(()) => return run.answered(sink, what, results),
            Err(_) => disconnected(),
        },
        Err(failed) => failed,
    };
    fail(run, sink, words, what, failed);
}

/// Ends a run with the error of the service. If a part of the answer was sent already, it breaks off.
pub fn fail(run: RequestJob, sink: PipeSink, words: &dyn Wording, what: &'static str, failed: (Outcome, String)) {
    let (outcome, message) = failed;
    run.refused(sink, what, outcome, words.refusal(outcome.status(), &message));
}

/// Returns how a run ends if its answer cannot be written. That fails only if the client has disconnected, so that the
/// text is not read.
pub fn disconnected() -> (Outcome, String) {
    (Outcome::Abandoned, "it was stopped".to_owned())
}

/// Returns how a run ends whose work was stopped, with the text for it. Logs damage and panics.
pub fn stopped(words: &dyn Wording, stop: Stop) -> (Outcome, String) {
    let outcome = Outcome::from(&stop);
    let message = match stop {
        Stop::Exceeded(exceeded) => words.exceeded(exceeded),
        Stop::Damaged(damage) => {
            tracing::error!(%damage, "the snapshot is damaged: answers are not reliable");
            words.damaged(&damage)
        }
        Stop::Panicked(panic) => {
            tracing::error!(panic, "a request ended by a fault of the program");
            words.panicked().to_owned()
        }
    };
    (outcome, message)
}
