//! `/api/convert`: a query in another form of the language, on the page on which the public converters show it.

use std::io::Write;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::body::{Received, Unreadable};
use super::context::Context;
use super::interpreter::{busy, halted, query_in, unreadable};
use super::job::{self, Given, Job, Lane};
use super::metrics::Outcome;
use super::{App, page};
use crate::overpass::Failure;
use crate::overpass::convert::{self, Converted, Form};

/// The longest query that is converted, in bytes: the page can be fifty times as long and is held in memory.
const LONGEST: usize = 1 << 20;

const HTML: &str = "text/html; charset=utf-8";

/// Converts a query. What is wrong with it stands before it; the status is 200 all the same, as clients expect.
pub async fn convert(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<Context>>,
    RawQuery(in_address): RawQuery,
    body: Result<Received, Unreadable>,
) -> Response {
    let body = match body {
        Ok(body) => body,
        Err(why) => return unreadable(&app, &why),
    };
    let given = job::run(&app, &context, Lane::Conversion, move |job| work(job, in_address.as_deref(), body)).await;
    match given {
        Given::Whole(content_type, bytes) => job::answer(&app, content_type, Body::from(bytes)),
        Given::Streaming(content_type, body) => job::answer(&app, content_type, body),
        Given::Refused(instead) => instead,
        Given::Away(refusal) => busy(&app, refusal),
        Given::Broken => {
            let message = "runtime error: The query could not be converted: see the server's log.";
            page::error(StatusCode::INTERNAL_SERVER_ERROR, [message])
        }
    }
}

fn work(job: Job, in_address: Option<&str>, body: Received) {
    let text = match query_in(in_address, &body) {
        Ok(text) => text,
        Err(refusal) => return job.refuse(*refusal),
    };
    job.context().set_query(&text);
    let in_body = || target(&body.decoded().unwrap_or_default());
    let form = match target(in_address.unwrap_or_default().as_bytes()).or_else(in_body).as_deref() {
        None | Some("xml") => Form::Xml,
        Some("mapql" | "pretty") => Form::Pretty,
        Some("compact") => Form::Compact,
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
        Err(halt) => return job.halt(halt, halted(halt)),
    };
    drop(text);
    match converted {
        Ok(page) => {
            let (time, memory) = (job.app().settings.max_time, job.memory());
            let (run, mut sink) = job.begin(time, memory, HTML);
            match sink.write_all(page.as_bytes()) {
                Ok(()) => run.answered(sink, "conversion", 0),
                Err(_) => {
                    let instead = page::error(StatusCode::SERVICE_UNAVAILABLE, []);
                    run.refused(sink, "conversion", Outcome::Abandoned, instead);
                }
            }
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

fn lines(problems: Option<&Failure>) -> Vec<String> {
    problems.iter().flat_map(|failure| &failure.diagnostics).map(ToString::to_string).collect()
}

/// The parameter `target`.
fn target(encoded: &[u8]) -> Option<String> {
    let (_, value) = form_urlencoded::parse(encoded).find(|(name, _)| name == "target")?;
    Some(value.into_owned())
}
