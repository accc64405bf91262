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

    /// Returns the response to a request that was turned away before it ran.
    fn reject(&self, why: &Rejected) -> Response {
        let status = if *why == Rejected::QueueTimeout { self.late() } else { why.status() };
        let mut response = self.refusal(status, &self.rejected(why));
        for (name, value) in why.headers() {
            response.headers_mut().insert(name, value);
        }
        response
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
            words.reject(&why).into()
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::http::header;

    use super::*;
    use crate::json::JsonWording;

    /// The statuses and headers that the operators' documentation and RFC 9110 give.
    #[test]
    fn each_reason_has_its_status_and_headers() {
        let day = Duration::from_secs(86_400);
        for (why, status, retry, other) in [
            (Rejected::QueueFull, 429, Some("5"), None),
            (Rejected::QueueTimeout, 504, Some("5"), None),
            (Rejected::GoingDown, 503, Some("5"), None),
            (Rejected::ClientQueries, 429, Some("5"), None),
            (Rejected::ClientSeconds(Duration::from_millis(2500)), 429, Some("3"), None),
            (Rejected::ClientSeconds(day), 429, Some("3600"), None),
            (Rejected::NoToken, 401, None, Some(header::WWW_AUTHENTICATE)),
            (Rejected::UnknownToken, 401, None, Some(header::WWW_AUTHENTICATE)),
            (Rejected::Forbidden("no"), 403, None, None),
            (Rejected::Foreign("no"), 403, None, None),
            (Rejected::BodyTooLong(1), 413, None, None),
            (Rejected::BodyTooSlow(day), 408, None, None),
            (Rejected::BodiesBusy, 503, Some("5"), None),
            (Rejected::BodyEncoding("br".to_owned()), 415, None, Some(header::ACCEPT_ENCODING)),
            (Rejected::BodyBroken("it broke off".into()), 400, None, None),
        ] {
            let response = JsonWording.reject(&why);
            let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
            assert_eq!((response.status().as_u16(), header(header::RETRY_AFTER)), (status, retry), "{why:?}");
            assert!(other.is_none_or(|other| response.headers().contains_key(other)), "{why:?}");
        }
    }
}
