//! The reply to a request: what a handler returns.

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};

/// What a handler returns. Answers name the snapshot that they come from in a header.
pub enum Reply {
    /// A complete answer: its headers and its body.
    Whole(HeaderMap, Bytes),
    /// An answer that is streamed. Dropping its body stops the work.
    Streaming(HeaderMap, Body),
    /// Another response, sent unchanged: an error or a redirect.
    Other(Box<Response>),
}

impl Reply {
    /// Returns the headers of an answer; `None` for another response.
    pub fn answer_headers(&mut self) -> Option<&mut HeaderMap> {
        match self {
            Reply::Whole(headers, _) | Reply::Streaming(headers, _) => Some(headers),
            Reply::Other(_) => None,
        }
    }
}

impl From<Response> for Reply {
    fn from(response: Response) -> Reply {
        Reply::Other(Box::new(response))
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        match self {
            Reply::Whole(headers, bytes) => (headers, Body::from(bytes)).into_response(),
            Reply::Streaming(headers, body) => (headers, body).into_response(),
            Reply::Other(response) => *response,
        }
    }
}
