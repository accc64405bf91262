//! The page: the files that `make page` builds from `web/`, embedded in the program, and the addresses at which a
//! browser finds them. They are the same for every snapshot and need no token; the page fetches the data from the
//! services.

use std::io::Read;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Request};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::on;

use crate::accept::{self, AcceptHeader};
use crate::etag;
use crate::identity;
use crate::route::{Access, Route};

/// The addresses of the page.
pub const ROUTES: &[Route] = &[
    Route::get("/page/{name}", "A file of the page", |_, methods| on(methods, file)).access(Access::Page).hidden(),
    Route::get("/page/logo", "The operator's logo", |_, methods| on(methods, identity::logo))
        .access(Access::Page)
        .hidden(),
    Route::get("/node/{id}", "The page, at a node", |_, methods| on(methods, page)).access(Access::Page).hidden(),
    Route::get("/way/{id}", "The page, at a way", |_, methods| on(methods, page)).access(Access::Page).hidden(),
    Route::get("/relation/{id}", "The page, at a relation", |_, methods| on(methods, page))
        .access(Access::Page)
        .hidden(),
    Route::get("/entity/{id}", "The page at an entity, or its data by `Accept`", |_, methods| {
        on(methods, page).layer(from_fn(super::wikibase::moved))
    })
    .access(Access::Page)
    .hidden(),
    Route::get("/embed", "The page as an answer alone, for a frame", |_, methods| on(methods, frame))
        .access(Access::Page)
        .hidden(),
    Route::get("/embed.html", "The same, at the address of the Wikidata Query Service", |_, methods| {
        on(methods, frame)
    })
    .access(Access::Page)
    .hidden(),
    Route::get("/map.html", "The same, at the address of overpass-turbo", |_, methods| on(methods, frame))
        .access(Access::Page)
        .hidden(),
];

/// One of the page's files.
struct WebFile {
    name: &'static str,
    content_type: &'static str,
    /// Whether the bytes are packed with gzip.
    packed: bool,
    /// The entity tag of the bytes.
    etag: &'static str,
    bytes: &'static [u8],
}

/// All of them, by name. They are in the folder of the crate, so that a published crate contains them.
static FILES: &[WebFile] = include!("../../web/files.rs");

/// The page itself.
const PAGE: &str = "index.html";

/// The content security policy: no other hosts, no inline scripts or styles. Blobs are answers to show or save.
const POLICY: &str = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; font-src 'self'; \
                      img-src 'self' data: blob:; connect-src 'self' blob:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'self'";

/// The policy of the page for a frame: that of the page, except that other sites may show it.
const FRAME_POLICY: &str = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; \
                            font-src 'self'; img-src 'self' data: blob:; connect-src 'self' blob:; base-uri 'none'; \
                            form-action 'none'; frame-ancestors *";

/// Returns a file of the page: `/page/{name}`.
pub async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    match find(&name) {
        Some(file) => file.answer(&headers),
        None => (StatusCode::NOT_FOUND, "the page has no such file\n").into_response(),
    }
}

/// Returns the page at the address of an element or an entity. The page's script reads the address.
pub async fn page(headers: HeaderMap) -> Response {
    match find(PAGE) {
        Some(file) => file.answer(&headers),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Returns the page for a frame in a page of any site.
pub async fn frame(headers: HeaderMap) -> Response {
    let mut answer = page(headers).await;
    answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(FRAME_POLICY));
    answer
}

/// The layer of `/`: browsers get the page, other clients the list of services.
pub async fn for_browsers(request: Request, next: Next) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let mut answer = match find(PAGE).filter(|_| reads && wants_html(request.headers())) {
        Some(file) => file.answer(request.headers()),
        None => next.run(request).await,
    };
    answer.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    answer
}

fn find(name: &str) -> Option<&'static WebFile> {
    FILES.iter().find(|file| file.name == name)
}

/// Returns whether a client prefers HTML to text, as browsers do. Clients that accept anything do not.
fn wants_html(headers: &HeaderMap) -> bool {
    accept::text(headers).is_some_and(|text| {
        let accept = AcceptHeader::of(&text);
        accept.quality("text/html") > accept.quality("text/plain")
    })
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        gzip && !parts.any(|parameter| parameter.strip_prefix("q=").and_then(|q| q.parse().ok()) == Some(0.0))
    })
}

impl WebFile {
    fn answer(&self, headers: &HeaderMap) -> Response {
        let mut answer = match etag::is_known(headers, self.etag) {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => self.whole(takes_gzip(headers)),
        };
        let headers = answer.headers_mut();
        let mut set = |name, value| headers.insert(name, HeaderValue::from_static(value));
        set(header::ETAG, self.etag);
        // File names are constant while contents change: the cache revalidates on each request.
        set(header::CACHE_CONTROL, "no-cache");
        set(header::CONTENT_SECURITY_POLICY, POLICY);
        set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        set(header::REFERRER_POLICY, "no-referrer");
        set(header::VARY, "accept-encoding");
        answer
    }

    fn whole(&self, takes_gzip: bool) -> Response {
        let content_type = [(header::CONTENT_TYPE, self.content_type)];
        if !self.packed {
            return (content_type, Body::from(Bytes::from_static(self.bytes))).into_response();
        }
        if takes_gzip {
            let encoding = [(header::CONTENT_ENCODING, "gzip")];
            return (content_type, encoding, Body::from(Bytes::from_static(self.bytes))).into_response();
        }
        let mut plain = Vec::new();
        match flate2::read::GzDecoder::new(self.bytes).read_to_end(&mut plain) {
            Ok(_) => (content_type, plain).into_response(),
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepting(value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([
            (header::ACCEPT, HeaderValue::from_static(value)),
            (header::ACCEPT_ENCODING, HeaderValue::from_static(value)),
        ])
    }

    #[test]
    fn browsers_ask_for_html_and_programs_do_not() {
        assert!(wants_html(&accepting("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")));
        assert!(wants_html(&accepting("application/json, TEXT/HTML;q=0.5")));
        for other in ["*/*", "application/json, text/plain, */*", "text/html;q=0, */*", "text/html, text/plain", ""] {
            assert!(!wants_html(&accepting(other)), "{other}");
        }
        assert!(!wants_html(&HeaderMap::new()));
    }

    #[test]
    fn every_file_is_what_its_name_says() {
        assert!(find(PAGE).is_some_and(|file| file.content_type.starts_with("text/html")));
        for file in FILES {
            let mut plain = Vec::new();
            if file.packed {
                flate2::read::GzDecoder::new(file.bytes).read_to_end(&mut plain).unwrap();
            }
            assert!(!file.bytes.is_empty() && (!file.packed || plain.len() > file.bytes.len()), "{}", file.name);
        }
        let total: usize = FILES.iter().map(|file| file.bytes.len()).sum();
        assert!(total < 1_500_000, "{total} bytes");
    }

    #[test]
    fn nothing_in_the_page_runs_or_leads_to_another_host() {
        let page = find(PAGE).unwrap();
        let mut html = String::new();
        flate2::read::GzDecoder::new(page.bytes).read_to_string(&mut html).unwrap();
        for inline in ["<style", "style=", "onload=", "onclick=", "javascript:", "http://", "https://"] {
            assert!(!html.contains(inline), "{inline}");
        }
        assert_eq!(html.matches("</script>").count(), html.matches("\"></script>").count(), "{html}");
    }
}
