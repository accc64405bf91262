//! `/sparql`: the SPARQL 1.1 Protocol's query operation over the snapshot's triples. Reads requests and writes answers;
//! what a query means is `crate::sparql`'s.

mod description;
mod negotiate;
mod request;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};

use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::gate::Refusal;
use super::metrics::Outcome;
use super::pipe::{AnswerBody, Head, Sink, StopWhenDropped};
use super::running::Running;
use super::status::iso;
use super::{About, App, SNAPSHOT_HEADER};
use crate::budget::Limits;
use crate::rdf::Store;
use crate::sparql::results::{Formats, Writer};
use crate::sparql::{self, Bounds, Class, Environment, Error, Form, Prepared, Settings};
use request::{BadRequest, Operation};

/// What queries are asked of.
pub struct Endpoint {
    environment: Environment,
    settings: Settings,
}

impl Endpoint {
    /// The endpoint of a snapshot's triples.
    pub fn new(store: Arc<Store>, about: &About) -> Self {
        let environment =
            Environment { store, now: iso(about.manifest.data_timestamp), seed: about.digest.clone().into_bytes() };
        Endpoint { environment, settings: Settings::default() }
    }

    /// Whether damage to the triples was met.
    pub fn is_damaged(&self) -> bool {
        self.environment.store.check().is_err()
    }
}

/// Answers a query.
pub async fn sparql(
    State(app): State<Arc<App>>,
    method: Method,
    RawQuery(in_address): RawQuery,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let Some(endpoint) = &app.sparql else {
        return plain(StatusCode::NOT_FOUND, "this snapshot has no triples: load some with --wikidata or --rdf");
    };
    let header = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let in_address = in_address.as_deref().unwrap_or_default();
    let operation = match body {
        Ok(body) => Operation::read(&method, in_address, header(header::CONTENT_TYPE), &body),
        Err(rejection) => Err(unreadable(&app, &rejection)),
    };
    let accept = header(header::ACCEPT);
    let operation = match operation {
        Ok(operation) => operation,
        Err(BadRequest { status, message }) => {
            app.metrics.refused(Outcome::Refused);
            return plain(status, &message);
        }
    };
    let Some(query) = &operation.query else {
        return description::description(&endpoint.environment.store, operation.format.as_deref(), accept);
    };
    let graphs = (operation.default_graphs.clone(), operation.named_graphs.clone());
    let settings = Settings { graphs, ..endpoint.settings.clone() };
    let prepared = match sparql::prepare(query, &settings) {
        Ok(prepared) => prepared,
        Err(error) => {
            app.metrics.refused(Outcome::Refused);
            return refused(&error);
        }
    };
    let Some((formats, content_type)) = formats(&prepared, operation.format.as_deref(), accept) else {
        app.metrics.refused(Outcome::Refused);
        let message = match prepared.form() {
            Form::Graph => "this answer is a graph: accept text/turtle, application/n-triples or application/rdf+xml",
            _ => "these answers come as application/sparql-results+json or +xml, text/csv, text/tab-separated-values",
        };
        return plain(StatusCode::NOT_ACCEPTABLE, message);
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
        prepared,
        timeout: operation.timeout,
        formats,
        content_type,
        cancelled: Arc::clone(&guard.0),
        head: head_sender,
        runtime: Handle::current(),
    };
    tokio::task::spawn_blocking(move || {
        let _slot = slot;
        job.run();
    });
    let Ok(head) = head.await else {
        return plain(StatusCode::INTERNAL_SERVER_ERROR, "the query could not be run: see the server's log");
    };
    let (content_type, body) = match head {
        Head::Whole(content_type, bytes) => (content_type, Body::from(bytes)),
        Head::Streaming(content_type, parts) => (content_type, Body::from_stream(AnswerBody::new(parts, guard))),
        Head::Failed(error) => return refused(&error),
    };
    let mut answer = ([(header::CONTENT_TYPE, content_type), (header::VARY, "accept")], body).into_response();
    if let Ok(digest) = HeaderValue::from_str(&app.about.digest) {
        answer.headers_mut().insert(SNAPSHOT_HEADER, digest);
    }
    answer
}

/// A query on its way through the engine.
struct Job {
    app: Arc<App>,
    prepared: Arc<Prepared>,
    timeout: Option<Duration>,
    formats: Formats,
    content_type: &'static str,
    cancelled: Arc<AtomicBool>,
    head: oneshot::Sender<Head<Error>>,
    runtime: Handle,
}

impl Job {
    fn run(self) {
        let started = Instant::now();
        let Some(endpoint) = &self.app.sparql else { return };
        let settings = &self.app.settings;
        let allowed = settings.max_time.min(self.timeout.unwrap_or(Duration::MAX));
        let deadline = started + allowed;
        let _ticket = self.app.running.enter(Running {
            since: SystemTime::now(),
            deadline,
            allowed,
            memory: settings.max_memory,
            cancelled: Arc::clone(&self.cancelled),
        });
        let limits = Limits {
            deadline: Some(deadline),
            memory: Some(settings.max_memory),
            cancelled: self.cancelled,
            ..Limits::default()
        };
        let bounds = Bounds { limits, rows: None };
        let mut sink = Sink::new(self.content_type, self.head, self.runtime, deadline);
        let mut writer = Writer::new(&mut sink, self.formats);
        let result = self.prepared.run(&endpoint.environment, &bounds, &mut writer);
        let result = result.and_then(|summary| match writer.finish() {
            Ok(()) => Ok(summary),
            Err(e) => Err(Error::new(Class::Internal, "output", format!("the answer cannot be written: {e}"))),
        });
        let bytes = sink.written();
        let (outcome, rows) = match result {
            Ok(summary) => match sink.finish() {
                Ok(()) => (Outcome::Answered, summary.rows),
                Err(_) => (Outcome::Abandoned, 0),
            },
            Err(error) => {
                let outcome = Outcome::of_sparql(&error);
                if outcome == Outcome::Broken {
                    tracing::error!(%error, "a SPARQL query failed");
                }
                sink.fail(error);
                (outcome, 0)
            }
        };
        let took = started.elapsed();
        tracing::info!(outcome = outcome.name(), rows, bytes, ms = took.as_millis() as u64, "SPARQL query");
        self.app.metrics.finished(outcome, took, bytes, rows);
    }
}

/// The formats for a query's answer, and its content type.
fn formats(prepared: &Prepared, format: Option<&str>, accept: Option<&str>) -> Option<(Formats, &'static str)> {
    let mut formats = Formats::default();
    let content_type = match prepared.form() {
        Form::Graph => {
            let choice = negotiate::graph(format, accept)?;
            formats.triples = choice.format;
            choice.content_type
        }
        Form::Select | Form::Ask => {
            let choice = negotiate::results(format, accept)?;
            formats.solutions = choice.format;
            choice.content_type
        }
    };
    Some((formats, content_type))
}

/// The statuses of the protocol, which the Wikidata Query Service has, too, and harnesses tell errors apart by: 400 for
/// what is no query, 500 for one that is not answered, whether it needs what a snapshot cannot give or reached a limit.
fn refused(error: &Error) -> Response {
    let status = match (error.class, error.code) {
        (Class::Syntax, _) => StatusCode::BAD_REQUEST,
        (Class::Limit, "cancelled") => StatusCode::SERVICE_UNAVAILABLE,
        (Class::Unsupported | Class::Limit | Class::Internal, _) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    plain(status, &error.to_string())
}

fn plain(status: StatusCode, message: &str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{message}\n")).into_response()
}

fn unreadable(app: &App, rejection: &BytesRejection) -> BadRequest {
    let message = match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => format!("the query is longer than {} bytes", app.settings.max_body).into(),
        _ => "the request's body could not be read".into(),
    };
    BadRequest { status: rejection.status(), message }
}

fn busy(app: &App, refusal: Refusal) -> Response {
    app.metrics.refused(Outcome::Busy);
    let (status, message) = match refusal {
        Refusal::Full => (StatusCode::TOO_MANY_REQUESTS, "too many queries wait already: come back later"),
        Refusal::TooLong => (StatusCode::SERVICE_UNAVAILABLE, "no slot came free in time: come back later"),
        Refusal::Closed => (StatusCode::SERVICE_UNAVAILABLE, "the server is going down"),
    };
    let mut answer = plain(status, message);
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    answer
}
