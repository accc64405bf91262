//! The outermost layer: assigns each request an ID, identifies the client, and writes an access log line when the last
//! byte of the response was sent or the response broke off. A line never contains the query string or a token.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, Poll, ready};
use std::time::Instant;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Frame, SizeHint};

use crate::context::{HttpRequestContext, REQUEST_ID};
use crate::tokens::Bearer;
use crate::{App, metrics, proxies};

/// The logged status if the client disconnected before there was a response; the same code that nginx uses.
const CLIENT_LEFT: u16 = 499;
/// The logged route of a path without a handler.
const NO_ROUTE: &str = "none";

/// Wraps all other layers: counts and logs each request.
pub async fn access(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map_or([0; 4].into(), |peer| peer.0.ip());
    let address = proxies::address(peer, request.headers(), &app.settings.trusted_proxies);
    let bearer = app.tokens.as_ref().map_or(Bearer::Anyone, |tokens| tokens.bearer(request.headers()));
    let context = Arc::new(HttpRequestContext::new(request.headers(), address, bearer));
    let route = request.extensions().get::<MatchedPath>().cloned();
    let id = context.id.clone();
    request.extensions_mut().insert(context.client.clone());
    request.extensions_mut().insert(Arc::clone(&context));
    let mut entry = AccessLogEntry {
        context,
        method: method(request.method()),
        route,
        started,
        status: None,
        bytes: 0,
        ended: false,
    };
    metrics::request_began();
    let mut response = next.run(request).await;
    entry.status = Some(response.status());
    response.headers_mut().insert(REQUEST_ID, id);
    response.map(|body| Body::new(LoggedBody { body, entry }))
}

/// Returns the method's name for the log; unknown methods become "other", since clients can send arbitrary names.
fn method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// A request's line in the access log, written on drop.
struct AccessLogEntry {
    context: Arc<HttpRequestContext>,
    method: &'static str,
    route: Option<MatchedPath>,
    started: Instant,
    status: Option<StatusCode>,
    bytes: u64,
    ended: bool,
}

impl Drop for AccessLogEntry {
    fn drop(&mut self) {
        let took = self.started.elapsed();
        let route = self.route.as_ref().map_or(NO_ROUTE, MatchedPath::as_str);
        let status = self.status.map_or(CLIENT_LEFT, |status| status.as_u16());
        metrics::request_ended(route, status, self.ended, took);
        let context = &self.context;
        let (work, digest) = (context.work_done(), context.digest());
        // The work of a query is known only after the query ended.
        let work = Some(work).filter(|work| *work > 0 || (self.ended && digest.is_some()));
        tracing::info!(
            target: "access",
            request_id = context.id(),
            client = &*context.client.0,
            address = %context.address,
            method = self.method,
            route,
            status,
            bytes = self.bytes,
            ms = took.as_micros() as f64 / 1000.0,
            work,
            digest,
            ended = if self.ended { "whole" } else { "broken off" },
            "request"
        );
    }
}

/// A response body that counts the bytes sent.
struct LoggedBody {
    body: Body,
    entry: AccessLogEntry,
}

impl HttpBody for LoggedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Task<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => self.entry.bytes += frame.data_ref().map_or(0, |data| data.len() as u64),
            Some(Err(_)) => {}
            None => self.entry.ended = true,
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for LoggedBody {
    fn drop(&mut self) {
        // A body of known length is not polled again after its last byte.
        self.entry.ended |= self.body.is_end_stream();
    }
}
