//! `/api/convert`: a query in another form of the language, on the page on which the public converters show it.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::interpreter::{query_text, unreadable};
use super::{App, page};
use crate::overpass::Failure;
use crate::overpass::convert::{self, Form};

/// The longest query that is converted, in bytes: the page can be fifty times as long and is held in memory.
const LONGEST: usize = 1 << 20;

/// Converts a query. What is wrong with it stands before it; the status is 200 all the same, as clients expect.
pub async fn convert(
    State(app): State<Arc<App>>,
    RawQuery(in_address): RawQuery,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let body = match body {
        Ok(body) => body,
        Err(rejection) => return unreadable(&app, &rejection),
    };
    let Some(text) = query_text(in_address.as_deref(), &body) else {
        let message = "encoding error: No query found. Send it as the parameter \"data\", by GET or POST, \
                       or as the body of a POST.";
        return page::error(StatusCode::BAD_REQUEST, [message]);
    };
    let target = target(in_address.as_deref().unwrap_or_default().as_bytes()).or_else(|| target(&body));
    let form = match target.as_deref() {
        None | Some("xml") => Form::Xml,
        Some("mapql" | "pretty") => Form::Pretty,
        Some("compact") => Form::Compact,
        Some(_) => {
            let message = "encoding error: The parameter \"target\" can be xml, mapql or compact.";
            return page::error(StatusCode::BAD_REQUEST, [message]);
        }
    };
    if text.len() > LONGEST {
        let message = format!("encoding error: The query is longer than {LONGEST} bytes.");
        return page::error(StatusCode::PAYLOAD_TOO_LARGE, [message.as_str()]);
    }
    let text = text.into_owned();
    // A long text takes its time, which the threads that serve connections do not have.
    let Ok(result) = tokio::task::spawn_blocking(move || convert::convert(&text, form)).await else {
        let message = "runtime error: The query could not be converted: see the server's log.";
        return page::error(StatusCode::INTERNAL_SERVER_ERROR, [message]);
    };
    match result {
        Ok(converted) => shown(StatusCode::OK, converted.problems.as_ref(), &converted.text),
        Err(failure) => shown(StatusCode::BAD_REQUEST, Some(&failure), ""),
    }
}

fn shown(status: StatusCode, problems: Option<&Failure>, text: &str) -> Response {
    let lines: Vec<String> =
        problems.iter().flat_map(|failure| &failure.diagnostics).map(ToString::to_string).collect();
    let page = page::page_with(lines.iter().map(String::as_str), Some(text));
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

/// The parameter `target`.
fn target(encoded: &[u8]) -> Option<String> {
    let (_, value) = form_urlencoded::parse(encoded).find(|(name, _)| name == "target")?;
    Some(value.into_owned())
}
