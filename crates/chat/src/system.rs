//! A client for systems that translate questions to queries, with the interface of the TEXT2SPARQL challenge:
//! `GET URL?dataset=...&question=...` returns an object with the text `query`.

use std::time::Instant;

use reqwest::header::{ACCEPT, AUTHORIZATION, RETRY_AFTER};
use reqwest::{Response, StatusCode};

use crate::client::{PAUSE, RETRIES, TICK, cause, http_client, runtime, wait};
use crate::reply::message_of;
use crate::{ChatError, ChatErrorKind, ChatService, Endpoint, Patience};

/// Maximum bytes of an answer.
const LARGEST: usize = 1 << 20;

/// A system at an address.
pub struct SystemClient {
    endpoint: Endpoint,
    dataset: String,
    http: reqwest::Client,
    runtime: Option<tokio::runtime::Runtime>,
}

impl SystemClient {
    /// Creates a client for questions about a dataset. Nothing is sent yet. Of the endpoint, the address, the key and the
    /// time are used.
    ///
    /// # Errors
    /// Returns an error if no thread can be started, or the certificates of the system cannot be read.
    pub fn new(endpoint: Endpoint, dataset: &str) -> Result<SystemClient, ChatError> {
        let (runtime, http) = (runtime()?, http_client(&endpoint)?);
        Ok(SystemClient { endpoint, dataset: dataset.to_owned(), http, runtime: Some(runtime) })
    }

    /// Returns the query for a question. Must not be called on a thread of an asynchronous runtime.
    ///
    /// # Errors
    /// Returns an error if the system cannot be reached, fails, is late, or its answer has no query.
    pub fn query(&self, question: &str, patience: Patience<'_>) -> Result<String, ChatError> {
        let Some(runtime) = &self.runtime else {
            let ended = ChatError::new(ChatErrorKind::Unreachable, "the client has ended");
            return Err(ChatError { service: ChatService::System, ..ended });
        };
        let hide = |text: String| self.endpoint.keys().iter().fold(text, |text, key| key.hide(text));
        let sent = runtime.block_on(self.send_with_retries(question, patience));
        sent.map_err(|error| ChatError { message: hide(error.message), service: ChatService::System, ..error })
    }

    /// Returns the address for messages, without the query string, which may contain keys.
    pub fn shown(&self) -> String {
        let mut url = self.endpoint.url.clone();
        url.set_query(None);
        url.set_fragment(None);
        url.to_string()
    }

    async fn send(&self, question: &str) -> Result<String, ChatError> {
        let mut url = self.endpoint.url.clone();
        url.query_pairs_mut().append_pair("dataset", &self.dataset).append_pair("question", question);
        let request = self.http.get(url).header(ACCEPT, "application/json");
        let request = match &self.endpoint.key {
            Some(key) => request.header(AUTHORIZATION, format!("Bearer {}", key.bare())),
            None => request,
        };
        let shown = self.shown();
        let failed = |error: reqwest::Error| {
            ChatError::new(ChatErrorKind::Unreachable, format!("{shown} cannot be reached: {}", cause(&error)))
        };
        let mut answer = request.send().await.map_err(failed)?;
        let mut bytes = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(failed)? {
            if bytes.len() + piece.len() > LARGEST {
                let message = format!("{shown}: its answer is longer than {} KiB", LARGEST >> 10);
                return Err(ChatError::new(ChatErrorKind::Broken, message));
            }
            bytes.extend_from_slice(&piece);
        }
        if !answer.status().is_success() {
            return Err(refused(&shown, &answer, &bytes));
        }
        read(&bytes).map_err(|why| ChatError::new(ChatErrorKind::Broken, format!("{shown}: {why}")))
    }

    async fn send_with_retries(&self, question: &str, patience: Patience<'_>) -> Result<String, ChatError> {
        let (mut pause, mut retries) = (PAUSE, 0);
        let end = Instant::now().checked_add(patience.left(self.endpoint.time));
        let left = || end.map_or(self.endpoint.time, |end| end.saturating_duration_since(Instant::now()));
        loop {
            let mut sending = std::pin::pin!(tokio::time::timeout(left(), self.send(question)));
            let sent = loop {
                match tokio::time::timeout(TICK, &mut sending).await {
                    Ok(Ok(sent)) => break sent,
                    Ok(Err(_)) => {
                        let message = format!("{} did not answer in time", self.shown());
                        return Err(ChatError::new(ChatErrorKind::Late, message));
                    }
                    Err(_) if patience.is_cancelled() => {
                        return Err(ChatError::new(ChatErrorKind::Cancelled, "the request was cancelled"));
                    }
                    Err(_) => {}
                }
            };
            let error = match sent {
                Ok(query) => return Ok(query),
                Err(error) => error,
            };
            let is_temporary =
                matches!(error.kind, ChatErrorKind::Busy | ChatErrorKind::Fault | ChatErrorKind::Unreachable);
            let wait = error.wait.unwrap_or(pause);
            if !is_temporary || retries == RETRIES || wait >= left() {
                return Err(error);
            }
            tokio::time::sleep(wait).await;
            pause = pause.saturating_mul(2);
            retries += 1;
        }
    }
}

impl Drop for SystemClient {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Returns the error for an answer with another status than success.
fn refused(shown: &str, answer: &Response, body: &[u8]) -> ChatError {
    let status = answer.status();
    let kind = match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => ChatErrorKind::Busy,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ChatErrorKind::Unauthorized,
        StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => ChatErrorKind::Late,
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => ChatErrorKind::NotFound,
        status if status.is_server_error() => ChatErrorKind::Fault,
        _ => ChatErrorKind::Refused,
    };
    let object = serde_json::from_slice::<serde_json::Value>(body).unwrap_or_default();
    // The reference implementation of the challenge has `detail`.
    let text = message_of(object.get("error").or_else(|| object.get("detail")).unwrap_or(&object));
    // Servers may quote a part of a wrong key.
    let is_shown = kind != ChatErrorKind::Unauthorized && !text.is_empty();
    let text = if status.is_redirection() { "a redirect, which is not followed".to_owned() } else { text };
    let text = if is_shown || status.is_redirection() { format!(": {text}") } else { String::new() };
    let wait = answer.headers().get(RETRY_AFTER).and_then(|value| wait(value.to_str().ok()?));
    let message = format!("{shown} answered with status {}{text}", status.as_u16());
    ChatError { wait, ..ChatError::new(kind, message) }
}

/// Reads an answer: `{"dataset": "...", "question": "...", "query": "..."}`.
fn read(bytes: &[u8]) -> Result<String, String> {
    let answer: serde_json::Value =
        serde_json::from_slice(bytes).map_err(|error| format!("its answer is not JSON: {error}"))?;
    match answer.get("query") {
        Some(serde_json::Value::String(query)) if !query.trim().is_empty() => Ok(query.clone()),
        Some(serde_json::Value::String(_)) => Err("its answer has an empty query".to_owned()),
        Some(_) => Err("its answer has a query that is not a text".to_owned()),
        None => Err("its answer has no field `query`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_of_an_answer_is_read() {
        let answer =
            br#"{"dataset": "https://text2sparql.aksw.org/2025/corporate/", "question": "?", "query": "ASK {}"}"#;
        assert_eq!(read(answer).as_deref(), Ok("ASK {}"));
        for (answer, says) in [
            (&br#"{"query": " "}"#[..], "empty query"),
            (br#"{"query": null}"#, "not a text"),
            (br#"{"detail": "Unknown dataset"}"#, "no field `query`"),
            (b"<html>", "not JSON"),
        ] {
            assert!(read(answer).is_err_and(|why| why.contains(says)), "{says}");
        }
    }
}
