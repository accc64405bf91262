//! `/api/interpreter`: runs an OverpassQL query, sent by GET or POST. The answer is in the format that the query
//! selects, or in GeoJSON if the client prefers it.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use serde_json::json;

use crate::App;
use crate::accept::{self, AcceptHeader};
use crate::body::Received;
use crate::cgi::{self, WithoutHead};
use crate::context::HttpRequestContext;
use crate::form::{self, NotUtf8};
use crate::job::{self, Job, RequestJob};
use crate::outcome::Outcome;
use crate::page::{self, OverpassWording};
use crate::pipe::PipeSink;
use crate::reply::Reply;
use crate::request::{Beside, WITH_WIKIDATA};
use crate::route::{Access, Media, Parameter, Route, Schema, form_body, query, text_body};
use crate::service::{self, Wording};
use terrapin_assist::items::ItemDescriptions;
use terrapin_entities::{Properties, chain_of};
use terrapin_overpass::output::{AnswerFormat, GeoJsonLayout};
use terrapin_overpass::syntax::{OutputFormat, Script};
use terrapin_overpass::{self as overpass, OverpassFailure, OverpassSummary, output};
use terrapin_triples::Store;

/// The route of OverpassQL.
pub const ROUTES: &[Route] = &[Route::get_and_post(
    "/api/interpreter",
    "Run an OverpassQL query: `data`, or the body of a POST",
    |_, methods| on(methods, interpreter),
)
.details(
    "As Overpass API answers it. Without a query in `data` or in the body the status is 400. `Accept` selects GeoJSON.",
)
.takes(&[BESIDE])
.reads(QUERY_BODIES)
.answers(ANSWERS)
.statuses_too(&[302])
.access(Access::Query)
.worded(&PAGES)];

/// The parameters of a query in OverpassQL.
const BESIDE: &[Parameter] = &[
    query("data", Schema::Text, "The query"),
    query(
        "bbox",
        Schema::Pattern(BOX),
        "west,south,east,north in degrees: the value of `(bbox)` and `[bbox]` in the query",
    ),
    query("jsonp", Schema::Pattern(FUNCTION), "A JavaScript function to call with the answer"),
    query(
        "with-wikidata",
        Schema::Pattern("^( *[Pp][1-9][0-9]{0,18} *(, *[Pp][1-9][0-9]{0,18} *){0,9})?$"),
        "With GeoJSON: properties of the linked Wikidata items to add to features, such as P1082,P571. Empty: labels only",
    ),
    query("accept-language", Schema::Text, "Languages of labels, such as de,en. Default: the header `Accept-Language`"),
];

/// Four numbers.
pub(super) const BOX: &str = r"^ *-?[0-9]{1,3}(\.[0-9]*)? *(, *-?[0-9]{1,3}(\.[0-9]*)? *){3}$";
/// The name of a function, or a path of names.
pub(super) const FUNCTION: &str = r"^(?=.{1,128}$)[A-Za-z_$][A-Za-z0-9_$]*(\.[A-Za-z_$][A-Za-z0-9_$]*)*$";

/// A query as text, or in a form.
pub(super) const QUERY_BODIES: &[Media] = &[
    text_body("text/plain"),
    form_body(|| json!({ "type": "object", "properties": { "data": { "type": "string" } } })),
];

/// The media types of answers.
const ANSWERS: &[&str] = &[
    "application/osm3s+xml",
    "application/json",
    "application/geo+json",
    "application/geo+json-seq",
    "text/csv",
    "text/html",
    "text/javascript",
];

/// The content type of an answer that calls a function (JSONP).
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// Its error format.
pub(super) const PAGES: OverpassWording =
    OverpassWording { broken: "runtime error: The query could not be run: see the server's log." };

/// Answers a query.
pub async fn interpreter(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    RawQuery(in_address): RawQuery,
    headers: HeaderMap,
    body: Received,
) -> Reply {
    let body = Arc::new(body);
    let in_languages = in_address.as_deref().is_some_and(|address| address.contains(WITH_WIKIDATA));
    let head = InterpreterHead { accepted: accept::text(&headers), languages: accept::language(&headers) };
    let work = move |job: Job| work(job, in_address.as_deref(), head, body);
    let also = if in_languages { "accept-language" } else { "" };
    respond(&app, &context, also, work).await
}

/// The values of the request headers that matter here.
#[derive(Clone)]
struct InterpreterHead {
    accepted: Option<String>,
    languages: Option<String>,
}

/// The options of the answer.
#[derive(Default)]
pub(super) struct InterpreterOutput<'a> {
    /// Accepted media types, as in the header `Accept`.
    pub accepted: Option<&'a str>,
    /// The function that is called with the answer (JSONP).
    pub function: Option<String>,
    /// The data of linked Wikidata items that features contain: properties, and the languages of labels.
    pub items: Option<(Properties, Vec<String>)>,
}

/// Runs `work`, which ends by calling [`answer`]. The answer varies with the header `Accept`, and with `also` if that
/// is not empty.
pub(super) async fn respond(
    app: &Arc<App>,
    context: &Arc<HttpRequestContext>,
    also: &'static str,
    work: impl FnOnce(Job) + Clone + Send + 'static,
) -> Reply {
    let mut reply = service::run_query(app, context, &PAGES, work).await;
    let Some(headers) = reply.answer_headers() else { return reply };
    let add = |headers: &mut HeaderMap| {
        for name in ["accept", also].into_iter().filter(|name| !name.is_empty()) {
            headers.append(header::VARY, HeaderValue::from_static(name));
        }
    };
    let is_page = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if !is_page {
        add(headers);
        return reply;
    }
    let moved = if let Reply::Whole(_, page) = &reply { cgi::redirection(page) } else { None };
    let mut response = match moved {
        Some(moved) => job::from_snapshot(app, moved),
        None => reply.into_response(),
    };
    let headers = response.headers_mut();
    // The page contains tags unescaped, with anything that mappers wrote.
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
    add(headers);
    response.into()
}

/// Returns GeoJSON if the client prefers it, or else the format that the query selects.
fn form<'a>(asked: &'a OutputFormat, accepted: Option<&str>) -> AnswerFormat<'a> {
    let asked = AnswerFormat::Asked(asked);
    let Some(accepted) = accepted.map(AcceptHeader::of) else { return asked };
    let quality = |form: &AnswerFormat<'_>| accepted.quality(form.content_type());
    let others = [AnswerFormat::GeoJson(GeoJsonLayout::Collection), AnswerFormat::GeoJson(GeoJsonLayout::Sequence)];
    // The first of equally preferred formats.
    others.into_iter().fold(asked, |best, other| if quality(&other) > quality(&best) { other } else { best })
}

fn work(job: Job, in_address: Option<&str>, head: InterpreterHead, body: Arc<Received>) {
    let text = match query_in(in_address, &body) {
        Ok(text) => text,
        Err(instead) => return job.refuse(*instead),
    };
    let beside = match beside(in_address, &body) {
        Ok(beside) => beside,
        Err(message) => {
            return job.refuse(page::error(StatusCode::BAD_REQUEST, [format!("encoding error: {message}.").as_str()]));
        }
    };
    drop(body);
    let text = beside.fill(&text);
    let languages = accept::languages(beside.languages.as_deref().or(head.languages.as_deref()).unwrap_or_default());
    let languages = chain_of(languages.iter().map(String::as_str));
    let items = beside.items.map(|properties| (properties, languages));
    answer(job, &text, InterpreterOutput { accepted: head.accepted.as_deref(), function: beside.jsonp, items });
}

/// Runs a query and answers in the format that the client prefers; wrapped in a function call if a function is named.
pub(super) fn answer(job: Job, text: &str, wanted: InterpreterOutput<'_>) {
    let InterpreterOutput { accepted, function, items } = wanted;
    job.context().set_query(text);
    let script = match job.within(|| overpass::parse(text)) {
        Ok(Ok(script)) => script,
        Ok(Err(failure)) => return job.refuse(refused(&failure)),
        Err(stop) => return service::halt(job, &PAGES, &stop),
    };
    let settings = &job.app().settings;
    let time = settings.max_time.min(Duration::from_secs(script.settings.timeout));
    let memory = job.memory().min(script.settings.maxsize);
    // JSONP is loaded by a script element, which cannot set the `Accept` header.
    let function = function.filter(|_| script.settings.output == OutputFormat::Json);
    let accepted = accepted.filter(|_| function.is_none());
    let form = form(&script.settings.output, accepted);
    let content_type = if function.is_some() { JAVASCRIPT } else { form.content_type() };
    // The data of items is read from the triples.
    let triples = items.as_ref().and_then(|_| job.app().engine.triples());
    let triples = triples.map(|environment| Arc::clone(&environment.store));
    let store: Option<&Store> = triples.as_deref();
    let items = match (items, store, form) {
        (None, ..) => None,
        (Some((properties, languages)), Some(store), AnswerFormat::GeoJson(_)) => {
            Some(ItemDescriptions::new(store, &properties, languages))
        }
        (Some(_), None, _) => return job.refuse(no_items(NO_TRIPLES)),
        (Some(_), Some(_), _) => return job.refuse(no_items(NO_FEATURES)),
    };
    let form = match (form, &items) {
        (AnswerFormat::GeoJson(layout), Some(items)) => AnswerFormat::WithItems(layout, items),
        (form, _) => form,
    };
    let (run, mut sink) = job.begin(time, memory, content_type);
    match run.checked(|_| write(&run, &script, form, function.as_deref(), &mut sink)) {
        Ok(Ok(summary)) => run.answered(sink, "query", summary.elements),
        Err(stop) => service::fail(run, sink, &PAGES, "query", service::stopped(&PAGES, stop)),
        Ok(Err(failure)) => {
            let request_id = run.context().id();
            match failure.is_fault() {
                true => tracing::error!(request_id, error = %failure, help = failure.help(), "no answer"),
                false => tracing::debug!(request_id, error = %failure, "stopped"),
            }
            run.refused(sink, "query", Outcome::from(&failure), refused(&failure));
        }
    }
}

const NO_TRIPLES: &str = "this snapshot has no triples of Wikidata";
const NO_FEATURES: &str = "it needs GeoJSON: send the header Accept: application/geo+json";

/// Returns the error that the data of items is not available.
fn no_items(why: &str) -> Response {
    page::error(StatusCode::BAD_REQUEST, [format!("runtime error: {WITH_WIKIDATA}: {why}.").as_str()])
}

/// Writes the answer, wrapped in a function call if a function is named.
fn write(
    run: &RequestJob,
    script: &Script,
    form: AnswerFormat<'_>,
    function: Option<&str>,
    sink: &mut PipeSink,
) -> Result<OverpassSummary, OverpassFailure> {
    let call = |around: &str, sink: &mut PipeSink| sink.write_all(around.as_bytes()).map_err(output::disconnected);
    if let Some(function) = function {
        call(&format!("{function}("), sink)?;
    }
    let summary =
        overpass::run_as(run.app().engine.osm(), script, form, run.limits(), &mut WithoutHead::new(&mut *sink))?;
    if function.is_some() {
        call(");\n", sink)?;
    }
    Ok(summary)
}

/// Returns the parameters that accompany the query.
fn beside(in_address: Option<&str>, body: &Received) -> Result<Beside, String> {
    let body = body.decoded().unwrap_or_default();
    let form: &[u8] = if is_form(&body) { &body } else { b"" };
    Beside::read(in_address.unwrap_or_default().as_bytes(), form)
}

/// Returns the query of a request, or an error page if it has none.
pub(super) fn query_in(in_address: Option<&str>, body: &Received) -> Result<String, Box<Response>> {
    let refuse = |message: &str| Err(Box::new(page::error(StatusCode::BAD_REQUEST, [message])));
    let body = body.decoded().map_err(|why| Box::new(PAGES.reject(&why)))?;
    match query_text(in_address, &body) {
        Some(Ok(text)) => Ok(text.into_owned()),
        Some(Err(NotUtf8(at))) => {
            let message = format!(
                "encoding error: Invalid UTF-8: byte {} of the query begins no character. Send it in UTF-8.",
                at + 1
            );
            refuse(&message)
        }
        None => refuse(
            "encoding error: No query found. Send it as the parameter \"data\", by GET or POST, \
             or as the body of a POST.",
        ),
    }
}

/// Returns the query of a request: the parameter `data` of the body or of the URL, or else the unchanged body.
fn query_text<'a>(in_address: Option<&'a str>, body: &'a [u8]) -> Option<Result<Cow<'a, str>, NotUtf8>> {
    if is_form(body)
        && let Some(data) = parameter(body)
    {
        return Some(data);
    }
    if !body.is_empty() {
        return Some(std::str::from_utf8(body).map(Cow::Borrowed).map_err(|e| NotUtf8(e.valid_up_to())));
    }
    parameter(in_address?.as_bytes())
}

/// Returns whether a body is a form. This is detected from the text and not from the content type, because clients also
/// send plain queries with the type of a form. Text before a parameter is URL-encoded, which no query is.
fn is_form(body: &[u8]) -> bool {
    let is_encoded = |b: &u8| b.is_ascii_alphanumeric() || b"*-._+%=&".contains(b);
    let plain_from = body.iter().position(|b| !is_encoded(b)).unwrap_or(body.len());
    body.starts_with(b"data=") || body[..plain_from].windows(6).any(|w| w == b"&data=")
}

/// Returns the parameter `data`.
fn parameter(encoded: &[u8]) -> Option<Result<Cow<'_, str>, NotUtf8>> {
    let (_, value) = form::pairs(encoded).find(|(name, _)| *name == b"data")?;
    Some(form::decoded(value).map(Cow::Owned))
}

fn refused(failure: &OverpassFailure) -> Response {
    let lines: Vec<String> = failure.diagnostics.iter().map(ToString::to_string).collect();
    page::error(Outcome::from(failure).status(), lines.iter().map(String::as_str))
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
    fn geojson_goes_to_those_who_would_rather_have_it() {
        let chosen = |accepted: Option<&str>| form(&OutputFormat::Json, accepted).content_type();
        for accepted in [None, Some("*/*"), Some(""), Some("application/json, application/geo+json;q=0.9")] {
            assert_eq!(chosen(accepted), "application/json", "{accepted:?}");
        }
        assert_eq!(chosen(Some("application/geo+json")), "application/geo+json");
        assert_eq!(chosen(Some("application/geo+json, */*;q=0.5")), "application/geo+json");
        assert_eq!(chosen(Some("application/geo+json-seq, application/json;q=0.1")), "application/geo+json-seq");
        assert_eq!(chosen(Some("text/html")), "application/json");
    }

    #[test]
    fn another_encoding_is_refused_wherever_it_stands() {
        assert_eq!(query_text(None, b"node[name=\"caf\xe9\"];"), Some(Err(NotUtf8(14))));
        assert_eq!(query_text(None, b"data=caf%E9"), Some(Err(NotUtf8(3))));
        assert_eq!(query_text(Some("data=%ff"), b""), Some(Err(NotUtf8(0))));
    }
}
