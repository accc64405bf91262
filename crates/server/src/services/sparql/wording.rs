//! The errors of the SPARQL 1.1 Protocol: plain text.

use std::borrow::Cow;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::rejected::Rejected;
use crate::service::{Wording, while_read};
use terrapin_engine::Stop;

/// Returns an answer of one line of plain text.
pub fn plain(status: StatusCode, message: &str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{message}\n")).into_response()
}

/// The error format of the protocol: plain text.
#[derive(Debug, Clone, Copy)]
pub struct ProtocolWording;

impl Wording for ProtocolWording {
    fn media_types(&self) -> &'static [&'static str] {
        &["text/plain"]
    }

    fn late(&self) -> StatusCode {
        StatusCode::SERVICE_UNAVAILABLE
    }

    fn refusal(&self, status: StatusCode, message: &str) -> Response {
        plain(status, message)
    }

    fn rejected(&self, why: &Rejected) -> Cow<'static, str> {
        why.message("the query")
    }

    /// Returns the status of every limit that a query reaches here.
    fn halted(&self, stop: &Stop) -> (StatusCode, String) {
        (StatusCode::INTERNAL_SERVER_ERROR, while_read(stop))
    }

    fn broken(&self) -> &'static str {
        "the query could not be run: see the server's log"
    }
}
