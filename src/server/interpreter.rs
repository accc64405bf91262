//! `/api/interpreter`: an OverpassQL query in, its answer out, by GET and POST.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};

use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::cgi::{self, WithoutHead};
use super::gate::Refusal;
use super::metrics::Outcome;
use super::pipe::{AnswerBody, Head, Sink, StopWhenDropped};
use super::running::Running;
use super::{App, SNAPSHOT_HEADER, page};
use crate::overpass::run::Limits;
use crate::overpass::{self, Failure, output};

/// Answers a query.
pub async fn interpreter(
    State(app): State<Arc<App>>,
    RawQuery(in_address): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let body = match body {
        Ok(body) => body,
        Err(rejection) => return unreadable(&app, &rejection),
    };
    let Some(text) = query_text(in_address.as_deref(), &body) else {
        app.metrics.refused(Outcome::Refused);
        let message = "encoding error: No query found. Send it as the parameter \"data\", by GET or POST, \
                       or as the body of a POST.";
        return page::error(StatusCode::BAD_REQUEST, [message]);
    };
    // From here on: when the client goes away, this is dropped, wherever the query is then.
    let guard = StopWhenDropped(Arc::new(AtomicBool::new(false)));
    let slot = match app.gate.enter().await {
        Ok(slot) => slot,
        Err(refusal) => return busy(&app, refusal),
    };
    let (head_sender, head) = oneshot::channel();
    let job = Job {
        app: Arc::clone(&app),
        text: text.into_owned(),
        cancelled: Arc::clone(&guard.0),
        head: head_sender,
        runtime: Handle::current(),
    };
    tokio::task::spawn_blocking(move || {
        let _slot = slot;
        job.run();
    });
    let Ok(head) = head.await else {
        // The job says nothing only where the snapshot is damaged, or where it panicked.
        return page::error(
            StatusCode::INTERNAL_SERVER_ERROR,
            ["runtime error: The query could not be run: see the server's log."],
        );
    };
    let with_type = |content_type, body: Body| ([(header::CONTENT_TYPE, content_type)], body).into_response();
    let (content_type, mut answer) = match head {
        Head::Whole(content_type, bytes) => {
            let moved = if is_html(content_type) { cgi::redirection(&bytes) } else { None };
            (content_type, moved.unwrap_or_else(|| with_type(content_type, Body::from(bytes))))
        }
        Head::Streaming(content_type, parts) => {
            (content_type, with_type(content_type, Body::from_stream(AnswerBody::new(parts, guard))))
        }
        Head::Failed(failure) => return refused(&failure),
    };
    if is_html(content_type) {
        // tags are in it as they are, whatever mappers wrote there
        let nothing = HeaderValue::from_static("default-src 'none'; sandbox");
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, nothing);
    }
    if let Ok(digest) = HeaderValue::from_str(&app.about.digest) {
        answer.headers_mut().insert(SNAPSHOT_HEADER, digest);
    }
    answer
}

/// A query on its way through the engine.
struct Job {
    app: Arc<App>,
    text: String,
    cancelled: Arc<AtomicBool>,
    head: oneshot::Sender<Head<Failure>>,
    runtime: Handle,
}

impl Job {
    fn run(self) {
        let started = Instant::now();
        let script = match overpass::parse(&self.text) {
            Ok(script) => script,
            Err(failure) => {
                self.app.metrics.finished(Outcome::Refused, started.elapsed(), 0, 0);
                let _ = self.head.send(Head::Failed(failure));
                return;
            }
        };
        let settings = &self.app.settings;
        let allowed = settings.max_time.min(Duration::from_secs(script.settings.timeout));
        let memory = settings.max_memory.min(script.settings.maxsize);
        let deadline = started + allowed;
        let _ticket = self.app.running.enter(Running {
            since: SystemTime::now(),
            deadline,
            allowed,
            memory,
            cancelled: Arc::clone(&self.cancelled),
        });
        let limits =
            Limits { deadline: Some(deadline), memory: Some(memory), cancelled: self.cancelled, ..Limits::default() };
        let content_type = output::content_type(&script.settings.output);
        let mut sink = Sink::new(content_type, self.head, self.runtime, deadline);
        let mut out = WithoutHead::new(&mut sink);
        let result = overpass::run(&self.app.osm, &script, &limits, &mut out);
        let bytes = sink.written();
        if let Err(damage) = self.app.osm.check() {
            tracing::error!(%damage, "no answer can be trusted");
            self.app.metrics.finished(Outcome::Broken, started.elapsed(), bytes, 0);
            // Not finished and not failed: the client gets status 500, or sees the answer break off.
            return;
        }
        let (outcome, elements) = match result {
            Ok(summary) => match sink.finish() {
                Ok(()) => (Outcome::Answered, summary.elements),
                Err(_) => (Outcome::Abandoned, 0),
            },
            Err(failure) => {
                let outcome = Outcome::of(&failure);
                tracing::debug!(query = self.text, error = %failure, "stopped");
                sink.fail(failure);
                (outcome, 0)
            }
        };
        let took = started.elapsed();
        tracing::info!(outcome = outcome.name(), elements, bytes, ms = took.as_millis() as u64, "query");
        self.app.metrics.finished(outcome, took, bytes, elements);
    }
}

/// The query in a request: the parameter `data` of the body or of the address, or the body as it is.
pub(super) fn query_text<'a>(in_address: Option<&'a str>, body: &'a [u8]) -> Option<Cow<'a, str>> {
    fn parameter(encoded: &[u8]) -> Option<Cow<'_, str>> {
        form_urlencoded::parse(encoded).find(|(name, _)| name == "data").map(|(_, value)| value)
    }
    // Told apart by what it looks like and not by the content type: clients send plain queries as forms, too. What
    // stands before a parameter is encoded, which no query is.
    let is_encoded = |b: &u8| b.is_ascii_alphanumeric() || b"*-._+%=&".contains(b);
    let plain_from = body.iter().position(|b| !is_encoded(b)).unwrap_or(body.len());
    let is_form = body.starts_with(b"data=") || body[..plain_from].windows(6).any(|w| w == b"&data=");
    if is_form && let Some(data) = parameter(body) {
        return Some(data);
    }
    if !body.is_empty() {
        return Some(String::from_utf8_lossy(body));
    }
    parameter(in_address?.as_bytes())
}

fn is_html(content_type: &str) -> bool {
    content_type.starts_with("text/html")
}

fn refused(failure: &Failure) -> Response {
    let lines: Vec<String> = failure.diagnostics.iter().map(ToString::to_string).collect();
    let status = match Outcome::of(failure) {
        Outcome::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        Outcome::Abandoned => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    };
    page::error(status, lines.iter().map(String::as_str))
}

pub(super) fn unreadable(app: &App, rejection: &BytesRejection) -> Response {
    app.metrics.refused(Outcome::Refused);
    let message = match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            format!("encoding error: The query is longer than {} bytes.", app.settings.max_body)
        }
        _ => "encoding error: The request's body could not be read.".to_string(),
    };
    page::error(rejection.status(), [message.as_str()])
}

/// The words are those by which clients of the public services know that they shall come back later.
fn busy(app: &App, refusal: Refusal) -> Response {
    app.metrics.refused(Outcome::Busy);
    let (status, message) = match refusal {
        Refusal::Full => (
            StatusCode::TOO_MANY_REQUESTS,
            "runtime error: Dispatcher_Client::request_read_and_idx::rate_limited. \
             Please check /api/status for the free slots.",
        ),
        Refusal::TooLong => (
            StatusCode::GATEWAY_TIMEOUT,
            "runtime error: Dispatcher_Client::request_read_and_idx::timeout. \
             The server is probably too busy to handle your request.",
        ),
        Refusal::Closed => (StatusCode::SERVICE_UNAVAILABLE, "runtime error: The server is going down."),
    };
    let mut answer = page::error(status, [message]);
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(address: Option<&str>, body: &str) -> Option<String> {
        query_text(address, body.as_bytes()).map(Cow::into_owned)
    }

    #[test]
    fn the_query_is_found_wherever_clients_put_it() {
        assert_eq!(text(Some("data=node(1)%3Bout%3B"), "").as_deref(), Some("node(1);out;"));
        assert_eq!(text(None, "data=node%281%29%3b+out%3b").as_deref(), Some("node(1); out;"));
        assert_eq!(text(None, "target=x&data=out;").as_deref(), Some("out;"));
        let looks_like_a_form = "node[url=\"http://a?b=1&data=2\"];out;";
        assert_eq!(text(None, looks_like_a_form).as_deref(), Some(looks_like_a_form));
        assert_eq!(text(Some("data=a"), "node(1);out;").as_deref(), Some("node(1);out;"));
        assert_eq!(text(None, "node[\"a\"=\"b&c\"];out;").as_deref(), Some("node[\"a\"=\"b&c\"];out;"));
        assert_eq!(text(Some("query=1"), ""), None);
        assert_eq!(text(None, ""), None);
    }
}
