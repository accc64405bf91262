//! `/sparql`: the SPARQL 1.1 Protocol's query operation over the snapshot's triples. Parses requests and writes
//! answers; `terrapin_sparql` evaluates the queries.

mod description;
mod negotiate;
mod request;
mod wording;

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{OriginalUri, RawQuery, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::on;
use serde_json::json;

use crate::App;
use crate::body::Received;
use crate::context::HttpRequestContext;
use crate::job::Job;
use crate::outcome::Outcome;
use crate::reply::Reply;
use crate::route::{Access, Media, Route, Schema, TIMEOUT, form_body, query, text_body};
use crate::service::{self, Wording};
use crate::site_url::site_url;
use request::{BadRequest, QueryOperation};
use terrapin_engine::SparqlRejection;
use terrapin_sparql::results::{AnswerWriter, Formats, QLEVER_JSON, QleverJsonWriter, ResultWriter};
use terrapin_sparql::{
    self as sparql, Environment, QueryResultForm, RunnableQuery, SparqlBounds, SparqlCode, SparqlError,
    SparqlErrorClass, SparqlSettings, SparqlSummary,
};
pub(super) use wording::ProtocolWording;
use wording::plain;

/// The route of SPARQL.
pub const ROUTES: &[Route] = &[Route::get_and_post(
    "/sparql",
    "Run a SPARQL query: `query`, or the body of a POST",
    |_, methods| on(methods, sparql),
)
.aliases(&["/sparql/", BIGDATA])
.details("The SPARQL 1.1 Protocol, as the Wikidata Query Service answers it. Without a query, GET returns the service description.")
.takes(&[&[
    query("query", Schema::Text, "The query"),
    query("format", Schema::Text, "The format of the answer: a media type or a short name such as json, csv, ttl. Default: by `Accept`"),
    query("timeout", TIMEOUT, "Timeout in seconds, at most that of the server"),
    query("dialect", Schema::OneOf(&["auto", "wdqs", "qlever", "standard"]), "wdqs: the language of the Wikidata Query Service; qlever: that of QLever; standard: SPARQL 1.1; auto (default): qlever for a query with one of QLever's constructs, else wdqs"),
    query("entailment", Schema::Text, "Entailment regimes, with commas: simple (default), rdfs, geosparql"),
    query("send", Schema::Integer(0, i64::MAX, None), "With the format application/qlever-results+json: maximum number of rows to send"),
    query("default-graph-uri", Schema::Iri, "IRI of a default graph; may be repeated"),
    query("named-graph-uri", Schema::Iri, "IRI of a named graph; may be repeated"),
]])
.reads(BODIES)
.answers(&[
    "application/sparql-results+json",
    "application/sparql-results+xml",
    "application/qlever-results+json",
    "text/csv",
    "text/tab-separated-values",
    "text/turtle",
    "application/n-triples",
    "application/rdf+xml",
    "application/n-quads",
    "application/trig",
    "application/ld+json",
    "text/n3",
])
.access(Access::Query)
.of_triples()
.statuses_too(&[403, 404, 406])
.worded(&ProtocolWording)];

const BODIES: &[Media] = &[
    text_body("application/sparql-query"),
    form_body(|| json!({ "type": "object", "properties": { "query": { "type": "string" } } })),
];

/// The path of the same endpoint in Blazegraph, for clients of the Wikidata Query Service.
pub(super) const BIGDATA: &str = "/bigdata/namespace/wdq/sparql";

/// The request header of Blazegraph's clients with a query's timeout in milliseconds.
const MAX_TIME: HeaderName = HeaderName::from_static("x-bigdata-max-query-millis");

/// Runs a query and answers it.
pub async fn sparql(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    method: Method,
    OriginalUri(uri): OriginalUri,
    RawQuery(in_address): RawQuery,
    headers: HeaderMap,
    body: Received,
) -> Reply {
    let body = Arc::new(body);
    let header = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let asked = SparqlRequest {
        method,
        endpoint: site_url(&headers, &uri).map(|site| format!("{site}{}", uri.path())),
        in_address,
        content_type: header(header::CONTENT_TYPE),
        accept: header(header::ACCEPT),
        max_time: header(MAX_TIME).and_then(|value| value.trim().parse().ok()).map(Duration::from_millis),
        body,
    };
    let mut reply = service::run_query(&app, &context, &ProtocolWording, move |job| work(job, asked)).await;
    if let Some(headers) = reply.answer_headers() {
        headers.insert(header::VARY, HeaderValue::from_static("accept"));
    }
    reply
}

/// The parts of a request.
#[derive(Clone)]
struct SparqlRequest {
    method: Method,
    /// The URL of the endpoint, for its description.
    endpoint: Option<String>,
    in_address: Option<String>,
    content_type: Option<String>,
    accept: Option<String>,
    /// The timeout from [`MAX_TIME`].
    max_time: Option<Duration>,
    body: Arc<Received>,
}

impl SparqlRequest {
    fn operation(&self) -> Result<QueryOperation, BadRequest> {
        let body = self
            .body
            .decoded()
            .map_err(|why| BadRequest { status: why.status(), message: ProtocolWording.rejected(&why) })?;
        let in_address = self.in_address.as_deref().unwrap_or_default();
        QueryOperation::read(&self.method, in_address, self.content_type.as_deref(), &body)
    }
}

fn work(job: Job, asked: SparqlRequest) {
    let operation = match asked.operation() {
        Ok(operation) => operation,
        Err(BadRequest { status, message }) => return job.refuse(plain(status, &message)),
    };
    let SparqlRequest { accept, body, max_time, endpoint, .. } = asked;
    drop(body);
    let (format, accept) = (operation.format.as_deref(), accept.as_deref());
    let no_triples =
        || plain(StatusCode::NOT_FOUND, &format!("this snapshot has no triples: {}", sparql::WITHOUT_TRIPLES));
    let Some(query) = &operation.query else {
        let Some(triples) = job.app().engine.triples() else { return job.refuse(no_triples()) };
        let described = description::description(&triples.store, endpoint.as_deref(), format, accept);
        return job.tell(described);
    };
    job.context().set_query(query);
    let graphs = (operation.default_graphs.clone(), operation.named_graphs.clone());
    let defaults = SparqlSettings::default();
    let dialect = operation.dialect.unwrap_or(defaults.dialect);
    let settings = SparqlSettings { graphs, dialect, entailment: operation.entailment, ..defaults };
    let prepared = match job.within(|| job.app().engine.prepare_sparql(query, &settings).map(|(query, _)| query)) {
        Ok(Ok(prepared)) => prepared,
        Ok(Err(SparqlRejection::NoTriples)) => return job.refuse(no_triples()),
        Ok(Err(SparqlRejection::Syntax(error))) => return job.refuse(refused(&error)),
        Err(stop) => return service::halt(job, &ProtocolWording, &stop),
    };
    let is_qlever = negotiate::is_qlever(format, accept);
    let chosen = match is_qlever {
        true => Some((Formats::default(), QLEVER_JSON)),
        false => formats(&prepared, format, accept),
    };
    let Some((formats, content_type)) = chosen else {
        let message = match prepared.form() {
            QueryResultForm::Graph => format!("this answer is a graph; accept one of {}", negotiate::graph_types()),
            _ => format!("this answer is a table; accept one of {}", negotiate::result_types()),
        };
        return job.refuse(plain(StatusCode::NOT_ACCEPTABLE, &message));
    };
    let settings = &job.app().settings;
    let time = [operation.timeout, max_time].into_iter().flatten().fold(settings.max_time, Duration::min);
    let memory = job.memory();
    let (run, mut sink) = job.begin(time, memory, content_type);
    let bounds = SparqlBounds { limits: run.limits().clone(), rows: None };
    let data = run.app().engine.graph();
    let result = match is_qlever {
        true => answer(&prepared, data, &bounds, QleverJsonWriter::new(&mut sink, query, operation.send)),
        false => answer(&prepared, data, &bounds, ResultWriter::new(&mut sink, formats)),
    };
    match result {
        Ok(summary) => run.answered(sink, "SPARQL query", summary.rows),
        Err(error) => {
            let outcome = Outcome::from(&error);
            if outcome.is_fault() {
                tracing::error!(request_id = run.context().id(), %error, "a SPARQL query failed");
            }
            run.refused(sink, "SPARQL query", outcome, refused(&error));
        }
    }
}

/// Runs a query and writes its answer.
fn answer(
    prepared: &RunnableQuery,
    data: &Environment,
    bounds: &SparqlBounds,
    mut writer: impl AnswerWriter,
) -> Result<SparqlSummary, SparqlError> {
    let summary = prepared.run(data, bounds, &mut writer)?;
    match writer.finish() {
        Ok(()) => Ok(summary),
        Err(e) => Err(SparqlError::new(
            SparqlErrorClass::Internal,
            SparqlCode::Output,
            format!("the answer cannot be written: {e}"),
        )),
    }
}

/// Returns the formats for a query's answer, and its content type.
fn formats(prepared: &RunnableQuery, format: Option<&str>, accept: Option<&str>) -> Option<(Formats, &'static str)> {
    let mut formats = Formats::default();
    let content_type = match prepared.form() {
        QueryResultForm::Graph => {
            let choice = negotiate::graph(format, accept)?;
            formats.triples = choice.format;
            choice.content_type
        }
        QueryResultForm::Select | QueryResultForm::Ask => {
            let choice = negotiate::results(format, accept)?;
            formats.solutions = choice.format;
            choice.content_type
        }
    };
    Some((formats, content_type))
}

/// Returns the error response. The statuses are those of the protocol and of the Wikidata Query Service, by which
/// harnesses distinguish errors: 400 for an invalid query, 500 for a query without an answer, because it reached a
/// limit or needs an unsupported feature.
fn refused(error: &SparqlError) -> Response {
    let status = match (error.class, error.code) {
        (SparqlErrorClass::Syntax, _) => StatusCode::BAD_REQUEST,
        (SparqlErrorClass::Limit, SparqlCode::Cancelled) => StatusCode::SERVICE_UNAVAILABLE,
        (_, SparqlCode::Format) => StatusCode::NOT_ACCEPTABLE,
        (SparqlErrorClass::Unsupported | SparqlErrorClass::Limit | SparqlErrorClass::Internal, _) => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
    };
    plain(status, &error.to_string())
}
