//! `/api/convert`: converts a query to another form of the language, and shows it on a page like that of the public
//! converters.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::routing::on;

use super::interpreter::query_in;
use crate::App;
use crate::body::Received;
use crate::context::HttpRequestContext;
use crate::job::{Job, Lane};
use crate::page::{self, OverpassWording};
use crate::reply::Reply;
use crate::route::{Access, Route, Schema, query};
use crate::service;
use crate::services::interpreter::QUERY_BODIES;
use terrapin_overpass::OverpassFailure;
use terrapin_overpass::convert::{self, ConversionForm, Converted};

/// The route of conversions.
pub const ROUTES: &[Route] = &[Route::get_and_post(
    "/api/convert",
    "Convert a query to XML or to another layout of OverpassQL",
    |_, methods| on(methods, convert),
)
.details("The answer is a page with the converted query between <pre> and </pre>, as the public converters send it.")
.takes(&[&[
    query("data", Schema::Text, "The query"),
    query("target", Schema::OneOf(&["xml", "mapql", "pretty", "compact"]), "The form of the result. Default: xml"),
]])
.reads(QUERY_BODIES)
.answers(&["text/html"])
.access(Access::Query)
.worded(&PAGES)];

/// The longest query that is converted, in bytes. The page can be fifty times as long and is held in memory.
const LONGEST: usize = 1 << 20;

const HTML: &str = "text/html; charset=utf-8";

/// Its error format.
const PAGES: OverpassWording =
    OverpassWording { broken: "runtime error: The query could not be converted: see the server's log." };

/// Converts a query. Problems in the query are listed above it. If it could be converted, the status is 200 despite
/// problems, as clients expect.
pub async fn convert(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    RawQuery(in_address): RawQuery,
    body: Received,
) -> Reply {
    let work = move |job: Job| work(job, in_address.as_deref(), body);
    service::run(&app, &context, Lane::Conversion, &PAGES, work).await
}

fn work(job: Job, in_address: Option<&str>, body: Received) {
    let text = match query_in(in_address, &body) {
        Ok(text) => text,
        Err(instead) => return job.refuse(*instead),
    };
    job.context().set_query(&text);
    let in_body = || target(&body.decoded().unwrap_or_default());
    let form = match target(in_address.unwrap_or_default().as_bytes()).or_else(in_body).as_deref() {
        None | Some("" | "xml") => ConversionForm::Xml,
        Some("mapql" | "pretty") => ConversionForm::Pretty,
        Some("compact") => ConversionForm::Compact,
        Some(_) => {
            let message = "encoding error: The parameter \"target\" can be xml, mapql or compact.";
            return job.refuse(page::error(StatusCode::BAD_REQUEST, [message]));
        }
    };
    drop(body);
    if text.len() > LONGEST {
        let message = format!("encoding error: The query is longer than {LONGEST} bytes.");
        return job.refuse(page::error(StatusCode::PAYLOAD_TOO_LARGE, [message.as_str()]));
    }
    let converted = match job.within(|| convert::convert(&text, form).map(|converted| shown(&converted))) {
        Ok(converted) => converted,
        Err(stop) => return service::halt(job, &PAGES, &stop),
    };
    drop(text);
    match converted {
        Ok(page) => {
            let (time, memory) = (job.app().settings.max_time, job.memory());
            let (run, sink) = job.begin(time, memory, HTML);
            service::end(run, sink, &PAGES, "conversion", Ok((page, 0)));
        }
        Err(failure) => {
            let page = page::page_with(lines(Some(&failure)).iter().map(String::as_str), Some(""));
            job.refuse(page::with(StatusCode::BAD_REQUEST, page));
        }
    }
}

fn shown(converted: &Converted) -> String {
    let lines = lines(converted.problems.as_ref());
    page::page_with(lines.iter().map(String::as_str), Some(&converted.text))
}

fn lines(problems: Option<&OverpassFailure>) -> Vec<String> {
    problems.iter().flat_map(|failure| &failure.diagnostics).map(ToString::to_string).collect()
}

/// Returns the parameter `target`.
fn target(encoded: &[u8]) -> Option<String> {
    let (_, value) = form_urlencoded::parse(encoded).find(|(name, _)| name == "target")?;
    Some(value.into_owned())
}
