//! The HTTP client: timeouts, retries, cancellation.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Response, StatusCode};

use crate::error::is_about_length;
use crate::form::RequestForm;
use crate::reply::message_of;
use crate::stream::{EventStream, whole};
use crate::{
    ChatError, ChatErrorKind, Endpoint, LanguageModel, Patience, Reply, ReplyProgress, Request, ServerCapabilities,
};

/// Timeout for connecting.
const CONNECT: Duration = Duration::from_secs(10);
/// Retries after an answer of a busy or failing server.
pub(crate) const RETRIES: u32 = 2;
/// The first pause before a retry, if the server names none; doubled each time.
pub(crate) const PAUSE: Duration = Duration::from_millis(500);
/// Maximum pause in seconds that a server may ask for: a day. Times from outside never enter arithmetic unbounded.
const LONGEST_WAIT: u64 = 86_400;
/// Maximum number of bytes to read of an error body.
const ERROR: usize = 8 << 10;
/// Interval for checking cancellation and reporting progress.
pub(crate) const TICK: Duration = Duration::from_millis(50);
/// Timeout for the end of the stream once the reply is complete.
const END: Duration = Duration::from_secs(5);
/// Timeout and maximum size in bytes of a report of the server.
const PROPERTIES: Duration = Duration::from_secs(2);
const PROPERTIES_BYTES: usize = 1 << 20;

/// A model at an endpoint.
pub struct ChatClient {
    endpoint: Endpoint,
    /// The form of requests, without fields that the server rejected.
    form: Mutex<RequestForm>,
    http: reqwest::Client,
    /// What the server reports of itself; set when first needed.
    capabilities: OnceLock<ServerCapabilities>,
    /// Moved out when the client is dropped, because the dropping thread may not block.
    runtime: Option<tokio::runtime::Runtime>,
}

impl ChatClient {
    /// Creates a client. Nothing is sent yet.
    ///
    /// # Errors
    /// Returns an error if no thread can be started, or the certificates of the system cannot be read.
    pub fn new(endpoint: Endpoint) -> Result<ChatClient, ChatError> {
        let (runtime, http) = (runtime()?, http_client(&endpoint)?);
        let form = Mutex::new(RequestForm::new(&endpoint));
        Ok(ChatClient { endpoint, form, http, capabilities: OnceLock::new(), runtime: Some(runtime) })
    }

    /// Returns the endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn headers(&self) -> Result<HeaderMap, ChatError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static(if self.endpoint.stream {
                "text/event-stream, application/json"
            } else {
                "application/json"
            }),
        );
        if let Some(key) = &self.endpoint.key {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.bare()))
                .map_err(|_| ChatError::new(ChatErrorKind::Unauthorized, "its key fits no header"))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    /// Sends a request once.
    async fn send(&self, request: &Request<'_>, body: String, received: &AtomicU64) -> Result<Reply, ChatError> {
        received.store(0, Ordering::Relaxed);
        let sent = self.http.post(self.endpoint.completions()).headers(self.headers()?).body(body).send();
        let answer = sent.await.map_err(|error| self.failed(&error))?;
        if !answer.status().is_success() {
            return Err(self.refused(answer).await);
        }
        let media_type = answer.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        // Some servers do not stream on request, and others always do.
        if media_type.to_ascii_lowercase().contains("event-stream") {
            self.streamed(answer, request, received).await
        } else {
            // A character may take six bytes in JSON.
            let most = self.endpoint.bytes.saturating_mul(6).saturating_add(64 << 10);
            whole(&self.body(answer, most).await?, self.endpoint.bytes)
        }
    }

    async fn body(&self, mut answer: Response, most: usize) -> Result<Vec<u8>, ChatError> {
        let mut bytes = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(|error| self.failed(&error))? {
            if bytes.len() + piece.len() > most {
                return Err(ChatError::new(
                    ChatErrorKind::Broken,
                    format!("its reply is longer than {} KiB", most >> 10),
                ));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }

    async fn streamed(
        &self,
        mut answer: Response,
        request: &Request<'_>,
        received: &AtomicU64,
    ) -> Result<Reply, ChatError> {
        let mut stream = EventStream::new(request, self.endpoint.bytes, self.tokens(request));
        loop {
            let next = if stream.is_complete() {
                // The end only adds counts of tokens.
                match tokio::time::timeout(END, answer.chunk()).await {
                    Ok(next) => next,
                    Err(_) => {
                        stream.leave();
                        break;
                    }
                }
            } else {
                answer.chunk().await
            };
            let next = next.map_err(|error| self.failed(&error))?;
            let Some(bytes) = next else { break };
            let is_enough = stream.take(&bytes)?;
            received.store(stream.pieces(), Ordering::Relaxed);
            if is_enough {
                break;
            }
        }
        stream.finish()
    }

    fn tokens(&self, request: &Request<'_>) -> u32 {
        request.tokens.map_or(self.endpoint.tokens, |tokens| tokens.min(self.endpoint.tokens))
    }

    /// Returns what the server reports of itself. It is requested once; without an answer it stays unknown.
    async fn report(&self) -> ServerCapabilities {
        if let Some(known) = self.capabilities.get() {
            return *known;
        }
        let properties = self.get(self.endpoint.properties()).await;
        let models = self.get(self.endpoint.models()).await;
        let read = ServerCapabilities::read(&self.endpoint.model, properties.as_ref(), models.as_ref());
        *self.capabilities.get_or_init(|| read)
    }

    /// Returns a report of the server, if it has one.
    async fn get(&self, url: url::Url) -> Option<serde_json::Value> {
        let report = async {
            let sent = self.http.get(url).headers(self.headers()?).send();
            let answer = sent.await.map_err(|error| self.failed(&error))?;
            let is_success = answer.status().is_success();
            self.body(answer, PROPERTIES_BYTES).await.map(|bytes| is_success.then_some(bytes))
        };
        let bytes = tokio::time::timeout(PROPERTIES, report).await.ok()?.ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    /// Returns the error for a request without an answer.
    fn failed(&self, error: &reqwest::Error) -> ChatError {
        let kind = if error.is_timeout() { ChatErrorKind::Late } else { ChatErrorKind::Unreachable };
        ChatError::new(kind, format!("{} cannot be reached: {}", self.endpoint.shown(), cause(error)))
    }

    /// Returns the error for an answer without a reply.
    async fn refused(&self, mut answer: Response) -> ChatError {
        let status = answer.status();
        let wait = answer.headers().get(RETRY_AFTER).and_then(|value| wait(value.to_str().ok()?));
        let kind = match status {
            StatusCode::TOO_MANY_REQUESTS => ChatErrorKind::Busy,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ChatErrorKind::Unauthorized,
            StatusCode::REQUEST_TIMEOUT => ChatErrorKind::Late,
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => ChatErrorKind::NotFound,
            StatusCode::PAYLOAD_TOO_LARGE => ChatErrorKind::TooLong,
            status if status.is_server_error() => ChatErrorKind::Fault,
            _ => ChatErrorKind::Refused,
        };
        let mut bytes = Vec::new();
        while bytes.len() < ERROR
            && let Ok(Some(piece)) = answer.chunk().await
        {
            bytes.extend_from_slice(&piece);
        }
        bytes.truncate(ERROR);
        let text = match serde_json::from_slice::<serde_json::Value>(&bytes) {
            Ok(object) if object.get("error").is_some() => message_of(&object["error"]),
            Ok(object) => message_of(&object),
            Err(_) => String::new(),
        };
        let kind = match kind {
            ChatErrorKind::Refused if is_about_length(&text) => ChatErrorKind::TooLong,
            ChatErrorKind::Refused if is_about_model(&text) => ChatErrorKind::NotFound,
            kind => kind,
        };
        // Servers may quote a part of a wrong key.
        let text = if kind == ChatErrorKind::Unauthorized { String::new() } else { text };
        let text = if status.is_redirection() { "a redirect, which is not followed".to_owned() } else { text };
        let text = if text.is_empty() { String::new() } else { format!(": {text}") };
        let message = format!("{} answered with status {}{text}", self.endpoint.shown(), status.as_u16());
        ChatError { wait, ..ChatError::new(kind, message) }
    }

    /// Sends a request, with retries while they can help.
    async fn send_with_retries(
        &self,
        request: &Request<'_>,
        time: Duration,
        received: &AtomicU64,
    ) -> Result<Reply, ChatError> {
        let tokens = self.tokens(request);
        let mut form = *self.form.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut pause, mut retries) = (PAUSE, 0);
        let end = Instant::now().checked_add(time);
        let field = match request.grammar {
            Some(_) => self.report().await.grammar,
            None => None,
        };
        loop {
            let body = form.body(&self.endpoint, request, tokens, field);
            let error = match self.send(request, body, received).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            if let Some(other) = form.without(&error) {
                form = other;
                // Later requests start with this form.
                *self.form.lock().unwrap_or_else(PoisonError::into_inner) = form;
                continue;
            }
            let is_temporary =
                matches!(error.kind, ChatErrorKind::Busy | ChatErrorKind::Fault | ChatErrorKind::Unreachable);
            let wait = error.wait.unwrap_or(pause);
            let is_in_time = end.is_none_or(|end| wait < end.saturating_duration_since(Instant::now()));
            if !is_temporary || retries == RETRIES || !is_in_time {
                return Err(error);
            }
            tokio::time::sleep(wait).await;
            pause *= 2;
            retries += 1;
        }
    }

    /// Sends a request within the remaining time, unless it is cancelled.
    async fn send_in_time(&self, request: &Request<'_>, patience: Patience<'_>) -> Result<Reply, ChatError> {
        let (began, received) = (Instant::now(), AtomicU64::new(0));
        let time = patience.left(request.time.map_or(self.endpoint.time, |time| time.min(self.endpoint.time)));
        let sending = tokio::time::timeout(time, self.send_with_retries(request, time, &received));
        let mut sending = std::pin::pin!(sending);
        loop {
            match tokio::time::timeout(TICK, &mut sending).await {
                Ok(Ok(reply)) => return reply,
                Ok(Err(_)) => return Err(self.late(time, received.load(Ordering::Relaxed))),
                Err(_) if patience.is_cancelled() => {
                    return Err(ChatError::new(ChatErrorKind::Cancelled, "the request was cancelled"));
                }
                Err(_) => {}
            }
            if let Some(progress) = request.progress {
                progress(ReplyProgress { pieces: received.load(Ordering::Relaxed), elapsed: began.elapsed() });
            }
        }
    }

    fn late(&self, time: Duration, pieces: u64) -> ChatError {
        let (shown, seconds) = (self.endpoint.shown(), time.as_secs());
        ChatError::new(
            ChatErrorKind::Late,
            match pieces {
                0 => format!("{shown} did not reply within {seconds} seconds"),
                _ => format!("{shown} was still replying after {seconds} seconds and about {pieces} tokens"),
            },
        )
    }
}

/// Starts the threads for requests.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, ChatError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().thread_name("model").build();
    runtime.map_err(|error| {
        ChatError::new(ChatErrorKind::Unreachable, format!("cannot start a thread for requests: {error}"))
    })
}

/// Creates the HTTP client for an endpoint.
pub(crate) fn http_client(endpoint: &Endpoint) -> Result<reqwest::Client, ChatError> {
    // rustls requires the program to choose the implementation, once.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A redirect would send the key to another server.
    let builder = reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("terrapin/", env!("CARGO_PKG_VERSION")));
    let builder = if endpoint.is_local() { builder.no_proxy() } else { builder };
    // Without TLS no certificates are loaded, because some systems have none.
    let builder = if endpoint.url.scheme() == "http" { builder.tls_certs_only([]) } else { builder };
    builder.build().map_err(|error| {
        ChatError::new(ChatErrorKind::Unreachable, format!("cannot make connections: {}", cause(&error)))
    })
}

/// Returns the pause of a `Retry-After` in seconds (RFC 9110, section 10.2.3), at most [`LONGEST_WAIT`], also for a
/// number longer than any integer. `None` for a date.
pub(crate) fn wait(text: &str) -> Option<Duration> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Duration::from_secs(text.parse().unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT)))
}

impl LanguageModel for ChatClient {
    fn name(&self) -> &str {
        &self.endpoint.model
    }

    /// Must not be called on a thread of an asynchronous runtime.
    fn reply(&self, request: &Request<'_>, patience: Patience<'_>) -> Result<Reply, ChatError> {
        let Some(runtime) = &self.runtime else {
            return Err(ChatError::new(ChatErrorKind::Unreachable, "the client has ended"));
        };
        let began = Instant::now();
        let reply = runtime.block_on(self.send_in_time(request, patience));
        let keys = self.endpoint.keys();
        let hide = |text: String| keys.iter().fold(text, |text, key| key.hide(text));
        match reply {
            Ok(mut reply) => {
                reply.timing.set_time(began.elapsed());
                // Outside the time limit of the reply, so that a slow answer here cannot lose it.
                if reply.is_llama_cpp {
                    reply.server.context = runtime.block_on(self.report()).context;
                }
                reply.text = hide(reply.text);
                reply.refusal = reply.refusal.map(hide);
                for call in &mut reply.tool_calls {
                    call.name = hide(std::mem::take(&mut call.name));
                    call.arguments = hide(std::mem::take(&mut call.arguments));
                }
                reply.server.model = reply.server.model.map(hide);
                reply.server.fingerprint = reply.server.fingerprint.map(hide);
                Ok(reply)
            }
            Err(error) => Err(ChatError { message: hide(error.message), ..error }),
        }
    }

    /// Must not be called on a thread of an asynchronous runtime.
    fn capabilities(&self) -> ServerCapabilities {
        self.runtime.as_ref().map(|runtime| runtime.block_on(self.report())).unwrap_or_default()
    }
}

impl Drop for ChatClient {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Returns whether an error is about an unknown model.
fn is_about_model(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let is_none = ["not found", "does not exist", "invalid model", "unknown model", "not a valid model"];
    text.contains("model") && is_none.iter().any(|words| text.contains(words))
}

/// Returns the innermost cause of an error, without the address.
pub(crate) fn cause(error: &reqwest::Error) -> String {
    let mut source = std::error::Error::source(error);
    let mut last = None;
    while let Some(inner) = source {
        last = Some(inner.to_string());
        source = inner.source();
    }
    last.unwrap_or_else(|| if error.is_timeout() { "it took too long".to_owned() } else { "no connection".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_of_any_length_are_read_and_bounded() {
        for (text, seconds) in [
            ("0", Some(0)),
            (" 7 ", Some(7)),
            ("86401", Some(86_400)),
            ("18446744073709551615", Some(86_400)),
            ("99999999999999999999999999", Some(86_400)),
            ("-1", None),
            ("1.5", None),
            ("", None),
            ("Wed, 21 Oct 2015 07:28:00 GMT", None),
        ] {
            assert_eq!(wait(text), seconds.map(Duration::from_secs), "{text}");
        }
    }

    #[test]
    fn errors_about_lengths_and_models_are_recognized() {
        for text in [
            "This model's maximum context length is 2048 tokens. However, you requested 6104 tokens",
            "litellm.ContextWindowExceededError: this is a mock context window exceeded error",
            "the request exceeds the available context size. try increasing the context size or enable context shift",
            "max_tokens is too large: 4096.",
        ] {
            assert!(is_about_length(text) && !is_about_model(text), "{text}");
        }
        for text in [
            "The model `x` does not exist or you do not have access to it.",
            "/chat/completions: Invalid model name passed in model=x",
            "model \"x\" not found, try pulling it first",
        ] {
            assert!(is_about_model(text) && !is_about_length(text), "{text}");
        }
    }
}
