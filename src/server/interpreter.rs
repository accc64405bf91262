//! `/api/interpreter`: an OverpassQL query in, its answer out, by GET and POST.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

use super::body::{Received, Unreadable};
use super::cgi::{self, WithoutHead};
use super::context::Context;
use super::form::{self, NotUtf8};
use super::gate::Refusal;
use super::job::{self, Given, Halt, Job};
use super::metrics::Outcome;
use super::{App, page};
use crate::overpass::{self, Failure, output};

/// Answers a query.
pub async fn interpreter(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<Context>>,
    RawQuery(in_address): RawQuery,
    body: Result<Received, Unreadable>,
) -> Response {
    let body = match body {
        Ok(body) => Arc::new(body),
        Err(why) => return unreadable(&app, &why),
    };
    let given = job::run_query(&app, &context, move |job| work(job, in_address.as_deref(), body)).await;
    let (content_type, mut answer) = match given {
        Given::Whole(content_type, bytes) => {
            let moved = if is_html(content_type) { cgi::redirection(&bytes) } else { None };
            let moved = moved.map(|moved| job::from_snapshot(&app, moved));
            (content_type, moved.unwrap_or_else(|| job::answer(&app, content_type, Body::from(bytes))))
        }
        Given::Streaming(content_type, body) => (content_type, job::answer(&app, content_type, body)),
        Given::Refused(instead) => return instead,
        Given::Away(refusal) => return busy(&app, refusal),
        Given::Broken => {
            let message = "runtime error: The query could not be run: see the server's log.";
            return page::error(StatusCode::INTERNAL_SERVER_ERROR, [message]);
        }
    };
    if is_html(content_type) {
        // tags are in it as they are, whatever mappers wrote there
        let nothing = HeaderValue::from_static("default-src 'none'; sandbox");
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, nothing);
    }
    answer
}

fn work(job: Job, in_address: Option<&str>, body: Arc<Received>) {
    let text = match query_in(in_address, &body) {
        Ok(text) => text,
        Err(refusal) => return job.refuse(*refusal),
    };
    drop(body);
    job.context().set_query(&text);
    let script = match job.within(|| overpass::parse(&text)) {
        Ok(Ok(script)) => script,
        Ok(Err(failure)) => return job.refuse(refused(&failure)),
        Err(halt) => return job.halt(halt, halted(halt)),
    };
    let settings = &job.app().settings;
    let time = settings.max_time.min(Duration::from_secs(script.settings.timeout));
    let memory = job.memory().min(script.settings.maxsize);
    let (run, mut sink) = job.begin(time, memory, output::content_type(&script.settings.output));
    let mut out = WithoutHead::new(&mut sink);
    let result = overpass::run(&run.app().osm, &script, run.limits(), &mut out);
    if let Err(damage) = run.app().osm.check() {
        tracing::error!(%damage, "no answer can be trusted");
        // Status 500, or the answer breaks off.
        let message = "runtime error: The query could not be run: see the server's log.";
        let instead = page::error(StatusCode::INTERNAL_SERVER_ERROR, [message]);
        return run.refused(sink, "query", Outcome::Broken, instead);
    }
    match result {
        Ok(summary) => run.answered(sink, "query", summary.elements),
        Err(failure) => {
            tracing::debug!(request_id = run.context().id(), error = %failure, "stopped");
            run.refused(sink, "query", Outcome::of(&failure), refused(&failure));
        }
    }
}

/// The query in a request, or the page that says why there is none.
pub(super) fn query_in(in_address: Option<&str>, body: &Received) -> Result<String, Box<Response>> {
    let refuse = |status, message: &str| Err(Box::new(page::error(status, [message])));
    let body = match body.decoded() {
        Ok(body) => body,
        Err(why) => return refuse(why.status(), &told(&why)),
    };
    match query_text(in_address, &body) {
        Some(Ok(text)) => Ok(text.into_owned()),
        Some(Err(NotUtf8(at))) => {
            let message = format!(
                "encoding error: Invalid UTF-8: byte {} of the query begins no character. Send it in UTF-8.",
                at + 1
            );
            refuse(StatusCode::BAD_REQUEST, &message)
        }
        None => refuse(
            StatusCode::BAD_REQUEST,
            "encoding error: No query found. Send it as the parameter \"data\", by GET or POST, \
             or as the body of a POST.",
        ),
    }
}

/// The query in a request: the parameter `data` of the body or of the address, or the body as it is.
fn query_text<'a>(in_address: Option<&'a str>, body: &'a [u8]) -> Option<Result<Cow<'a, str>, NotUtf8>> {
    // Told apart by what it looks like and not by the content type: clients send plain queries as forms, too. What
    // stands before a parameter is encoded, which no query is.
    let is_encoded = |b: &u8| b.is_ascii_alphanumeric() || b"*-._+%=&".contains(b);
    let plain_from = body.iter().position(|b| !is_encoded(b)).unwrap_or(body.len());
    let is_form = body.starts_with(b"data=") || body[..plain_from].windows(6).any(|w| w == b"&data=");
    if is_form && let Some(data) = parameter(body) {
        return Some(data);
    }
    if !body.is_empty() {
        return Some(std::str::from_utf8(body).map(Cow::Borrowed).map_err(|e| NotUtf8(e.valid_up_to())));
    }
    parameter(in_address?.as_bytes())
}

/// The parameter `data`.
fn parameter(encoded: &[u8]) -> Option<Result<Cow<'_, str>, NotUtf8>> {
    let (_, value) = form::pairs(encoded).find(|(name, _)| *name == b"data")?;
    Some(form::decoded(value).map(Cow::Owned))
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

pub(super) fn halted(halt: Halt) -> Response {
    page::error(halt.status(), [format!("runtime error: {halt}.").as_str()])
}

pub(super) fn unreadable(app: &App, why: &Unreadable) -> Response {
    app.metrics.refused(Outcome::Refused);
    why.explain(page::error(why.status(), [told(why).as_str()]))
}

fn told(why: &Unreadable) -> String {
    format!("encoding error: {}.", why.message("The query"))
}

/// The words are those by which clients of the public services know that they shall come back later.
pub(super) fn busy(app: &App, refusal: Refusal) -> Response {
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
    job::come_back(page::error(status, [message]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(address: Option<&str>, body: &str) -> Option<String> {
        query_text(address, body.as_bytes()).map(|text| text.unwrap().into_owned())
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
        assert_eq!(text(Some("database=1&data=out%3B&data=x"), "").as_deref(), Some("out;"));
    }

    #[test]
    fn another_encoding_is_refused_wherever_it_stands() {
        assert_eq!(query_text(None, b"node[name=\"caf\xe9\"];"), Some(Err(NotUtf8(14))));
        assert_eq!(query_text(None, b"data=caf%E9"), Some(Err(NotUtf8(3))));
        assert_eq!(query_text(Some("data=%ff"), b""), Some(Err(NotUtf8(0))));
    }
}
