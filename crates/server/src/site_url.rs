//! The URL of the server by the name that the client knows it by.

use axum::http::{HeaderMap, Uri, header};

/// Returns scheme and host, without a path; `None` if the request names no host.
pub fn site_url(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let is_secure = text("x-forwarded-proto").is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
    let host = uri.authority().map(|host| host.as_str()).or_else(|| text(header::HOST.as_str()))?;
    Some(format!("{}://{host}", if is_secure { "https" } else { "http" }))
}
