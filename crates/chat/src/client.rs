//! The conversation itself. One request is one connection's business: its time, what is tried again, and where it is cut.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Response, StatusCode};

use crate::manner::Manner;
use crate::reply::said;
use crate::stream::{Stream, whole};
use crate::{Endpoint, Error, Kind, Message, Model, Patience, Reply};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// How often a request is sent again that the server was too busy for, or failed at.
const AGAIN: u32 = 2;
/// How long is waited then, where the server does not say; twice as long each time.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest time in seconds that a server is believed when it asks to be left alone: a day. Times from outside never enter
/// arithmetic unbounded.
const LONGEST_WAIT: u64 = 86_400;
/// Bytes of an error that are read.
const ERROR: usize = 8 << 10;
/// How often it is looked whether anybody still waits.
const LOOK: Duration = Duration::from_millis(50);

/// A model at an endpoint.
pub struct Client {
    endpoint: Endpoint,
    /// What the server takes, as far as it said what it does not.
    manner: Mutex<Manner>,
    http: reqwest::Client,
    /// Taken where the client ends, which may be on a thread that must not wait for it.
    runtime: Option<tokio::runtime::Runtime>,
}

impl Client {
    /// A client; nothing is sent yet.
    ///
    /// # Errors
    /// The system gives no thread, or there are no certificates to know the server by.
    pub fn new(endpoint: Endpoint) -> Result<Client, Error> {
        let failed = |why: String| Error::new(Kind::Unreachable, why);
        // The library leaves the choice of the implementation to the program; it is made once.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().thread_name("model").build();
        let runtime = runtime.map_err(|error| failed(format!("no thread to ask it from: {error}")))?;
        // An answer from elsewhere than where the question was sent to is none: the key stays with whom it is for.
        let builder = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("terrapin/", env!("CARGO_PKG_VERSION")));
        let builder = if endpoint.is_local() { builder.no_proxy() } else { builder };
        // A system without certificates can still ask a server that needs none.
        let builder = if endpoint.url.scheme() == "http" { builder.tls_certs_only([]) } else { builder };
        let http = builder.build().map_err(|error| failed(format!("no connection can be made: {}", told(&error))))?;
        let manner = Mutex::new(Manner::of(&endpoint));
        Ok(Client { endpoint, manner, http, runtime: Some(runtime) })
    }

    /// Where it asks.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn headers(&self) -> Result<HeaderMap, Error> {
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
                .map_err(|_| Error::new(Kind::Unauthorized, "its key fits no header"))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    /// Asks once.
    async fn once(&self, headers: HeaderMap, body: String) -> Result<Reply, Error> {
        let request = self.http.post(self.endpoint.completions()).headers(headers).body(body);
        let answer = request.send().await.map_err(|error| self.failed(&error))?;
        if !answer.status().is_success() {
            return Err(self.refused(answer).await);
        }
        let media_type = answer.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        // Some servers do not stream though they were asked to, and the other way round.
        if media_type.to_ascii_lowercase().contains("event-stream") {
            self.streamed(answer).await
        } else {
            self.whole(answer).await
        }
    }

    async fn whole(&self, mut answer: Response) -> Result<Reply, Error> {
        // What JSON makes of a letter may be six bytes.
        let most = self.endpoint.bytes.saturating_mul(6).saturating_add(64 << 10);
        let mut bytes = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(|error| self.failed(&error))? {
            if bytes.len() + piece.len() > most {
                return Err(Error::new(Kind::Broken, format!("its reply is longer than {} KiB", most >> 10)));
            }
            bytes.extend_from_slice(&piece);
        }
        whole(&bytes, self.endpoint.bytes)
    }

    async fn streamed(&self, mut answer: Response) -> Result<Reply, Error> {
        let mut stream = Stream::new(self.endpoint.bytes);
        while let Some(piece) = answer.chunk().await.map_err(|error| self.failed(&error))? {
            if stream.take(&piece)? {
                break;
            }
        }
        stream.finish()
    }

    /// Why a request brought nothing.
    fn failed(&self, error: &reqwest::Error) -> Error {
        let kind = if error.is_timeout() { Kind::Late } else { Kind::Unreachable };
        Error::new(kind, format!("{} cannot be reached: {}", self.endpoint.shown(), told(error)))
    }

    /// What a server says instead of a reply.
    async fn refused(&self, mut answer: Response) -> Error {
        let status = answer.status();
        let wait = answer.headers().get(RETRY_AFTER).and_then(|value| wait(value.to_str().ok()?));
        let kind = match status {
            StatusCode::TOO_MANY_REQUESTS => Kind::Busy,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Kind::Unauthorized,
            StatusCode::REQUEST_TIMEOUT => Kind::Late,
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => Kind::NotFound,
            StatusCode::PAYLOAD_TOO_LARGE => Kind::TooLong,
            status if status.is_server_error() => Kind::Fault,
            _ => Kind::Refused,
        };
        let mut bytes = Vec::new();
        while bytes.len() < ERROR
            && let Ok(Some(piece)) = answer.chunk().await
        {
            bytes.extend_from_slice(&piece);
        }
        bytes.truncate(ERROR);
        let text = match serde_json::from_slice::<serde_json::Value>(&bytes) {
            Ok(object) if object.get("error").is_some() => said(&object["error"]),
            Ok(object) => said(&object),
            Err(_) => String::new(),
        };
        let kind = match kind {
            Kind::Refused if is_of_length(&text) => Kind::TooLong,
            Kind::Refused if is_of_model(&text) => Kind::NotFound,
            kind => kind,
        };
        // Of a wrong key servers tell a part, which is a part too many.
        let text = if kind == Kind::Unauthorized { String::new() } else { text };
        let text =
            if status.is_redirection() { "that it is elsewhere, where nothing is sent".to_owned() } else { text };
        let text = if text.is_empty() { String::new() } else { format!(": {text}") };
        let message = format!("{} answered with status {}{text}", self.endpoint.shown(), status.as_u16());
        Error { kind, message, wait }
    }

    /// Asks until there is a reply, or no use in asking again.
    async fn ask(&self, messages: &[Message], patience: Patience<'_>) -> Result<Reply, Error> {
        let headers = self.headers()?;
        let mut manner = *self.manner.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut pause, mut tried) = (PAUSE, 0);
        // A time that no clock reaches is no bound.
        let ends = Instant::now().checked_add(patience.left(self.endpoint.time));
        loop {
            let error = match self.once(headers.clone(), manner.body(&self.endpoint, messages)).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            if let Some(other) = manner.without(&error) {
                manner = other;
                // It is not to be told for each question anew.
                *self.manner.lock().unwrap_or_else(PoisonError::into_inner) = manner;
                continue;
            }
            let again = matches!(error.kind, Kind::Busy | Kind::Fault | Kind::Unreachable) && tried < AGAIN;
            let wait = error.wait.unwrap_or(pause);
            // A server that asks for more time than there is left is not asked again.
            if !again || ends.is_some_and(|ends| wait >= ends.saturating_duration_since(Instant::now())) {
                return Err(error);
            }
            tokio::time::sleep(wait).await;
            pause *= 2;
            tried += 1;
        }
    }

    /// The same within the time that there is, for as long as anybody waits.
    async fn within(&self, messages: &[Message], patience: Patience<'_>) -> Result<Reply, Error> {
        let time = patience.left(self.endpoint.time);
        let mut asking = std::pin::pin!(tokio::time::timeout(time, self.ask(messages, patience)));
        loop {
            match tokio::time::timeout(LOOK, &mut asking).await {
                Ok(Ok(reply)) => return reply,
                Ok(Err(_)) => {
                    return Err(Error::new(
                        Kind::Late,
                        format!("{} did not reply within {} seconds", self.endpoint.shown(), time.as_secs()),
                    ));
                }
                Err(_) if patience.is_cancelled() => {
                    return Err(Error::new(Kind::Cancelled, "nobody waits for its reply any more"));
                }
                Err(_) => {}
            }
        }
    }
}

/// Returns how long a server asks to be left alone, of a `Retry-After` in seconds (RFC 9110, section 10.2.3), at most
/// [`LONGEST_WAIT`]: a number that is longer than any integer is a long time, too. `None` for a date.
fn wait(text: &str) -> Option<Duration> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Duration::from_secs(text.parse().unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT)))
}

impl Model for Client {
    fn name(&self) -> &str {
        &self.endpoint.model
    }

    /// Must be called outside of any runtime's own threads.
    fn reply(&self, messages: &[Message], patience: Patience<'_>) -> Result<Reply, Error> {
        let Some(runtime) = &self.runtime else { return Err(Error::new(Kind::Unreachable, "it was not asked")) };
        let reply = runtime.block_on(self.within(messages, patience));
        let keys = self.endpoint.keys();
        let hide = |text: String| keys.iter().fold(text, |text, key| key.hide(text));
        match reply {
            Ok(reply) => Ok(Reply {
                text: hide(reply.text),
                refusal: reply.refusal.map(hide),
                tool_calls: reply
                    .tool_calls
                    .into_iter()
                    .map(|call| crate::ToolCall { name: hide(call.name), arguments: hide(call.arguments) })
                    .collect(),
                ..reply
            }),
            Err(error) => Err(Error { message: hide(error.message), ..error }),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Whether a server says that something is too long, in one of the ways in which servers do.
fn is_of_length(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let is_of_context = text.contains("context") && ["length", "size", "window"].iter().any(|word| text.contains(word));
    is_of_context || ["too long", "too many tokens", "is too large"].iter().any(|words| text.contains(words))
}

/// Whether a server says that it has no such model.
fn is_of_model(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let is_none = ["not found", "does not exist", "invalid model", "unknown model", "not a valid model"];
    text.contains("model") && is_none.iter().any(|words| text.contains(words))
}

/// What the library says, without the address, and why.
fn told(error: &reqwest::Error) -> String {
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
    fn what_servers_say_of_lengths_and_models_is_understood() {
        for text in [
            "This model's maximum context length is 2048 tokens. However, you requested 6104 tokens",
            "litellm.ContextWindowExceededError: this is a mock context window exceeded error",
            "the request exceeds the available context size. try increasing the context size or enable context shift",
            "max_tokens is too large: 4096.",
        ] {
            assert!(is_of_length(text) && !is_of_model(text), "{text}");
        }
        for text in [
            "The model `x` does not exist or you do not have access to it.",
            "/chat/completions: Invalid model name passed in model=x",
            "model \"x\" not found, try pulling it first",
        ] {
            assert!(is_of_model(text) && !is_of_length(text), "{text}");
        }
    }
}
