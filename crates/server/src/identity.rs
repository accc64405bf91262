//! The operator's identity on the page: name, logo, notice, attribution, default query and default language. It is part of
//! `/api/snapshot`, which the page fetches first; the logo is at `/page/logo`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sha2::{Digest, Sha256};
use terrapin_snapshot::hex;

use crate::{App, etag};

/// The operator's identity on the page.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PageIdentity {
    /// The name in place of "Terrapin".
    pub name: Option<String>,
    /// The address of the logo.
    pub logo: Option<Logo>,
    /// What users should know, in the bar, and in prints.
    pub notice: Vec<TextPart>,
    /// Further sources, after OpenStreetMap and Wikidata, on the map, in pictures, prints and files.
    pub attribution: Vec<TextPart>,
    /// The query that a new user sees.
    pub query: Option<DefaultQuery>,
    /// The language for users without a language of their own (a tag such as `de`).
    pub language: Option<String>,
}

/// A part of a text: plain, or a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextPart {
    /// The text. It is never read as HTML.
    pub text: String,
    /// The address of a link: `https:`, `http:` or `mailto:`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub href: Option<String>,
}

/// A query with its language.
#[derive(Debug, Clone, Serialize)]
pub struct DefaultQuery {
    /// `overpassql` or `sparql`.
    pub language: &'static str,
    /// The text of the query.
    pub text: String,
}

/// A picture. Its JSON is its address, which changes with its content.
#[derive(Debug, Clone)]
pub struct Logo {
    content_type: &'static str,
    bytes: Bytes,
    etag: String,
}

impl Logo {
    /// Returns a picture of the type `content_type`.
    pub fn new(content_type: &'static str, bytes: Vec<u8>) -> Logo {
        let digest = hex(&Sha256::digest(&bytes));
        Logo { content_type, etag: format!("\"{}\"", digest.get(..16).unwrap_or(&digest)), bytes: bytes.into() }
    }
}

impl Serialize for Logo {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("/page/logo?{}", self.etag.trim_matches('"')))
    }
}

/// The policy of the logo: an SVG that is opened as a page runs no scripts and loads nothing.
const POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");

/// Returns the logo: `/page/logo`.
pub async fn logo(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let Some(logo) = app.settings.page.as_ref().and_then(|page| page.logo.as_ref()) else {
        return (StatusCode::NOT_FOUND, "the page has no logo\n").into_response();
    };
    let mut answer = match etag::is_known(&headers, &logo.etag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(header::CONTENT_TYPE, logo.content_type)], logo.bytes.clone()).into_response(),
    };
    let headers = answer.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&logo.etag) {
        headers.insert(header::ETAG, tag);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}
