//! Requests embeddings of texts from an OpenAI-compatible server.

use std::time::{Duration, Instant};

use reqwest::header::AUTHORIZATION;
use serde::Deserialize;
use serde_json::json;

use crate::client::{PAUSE, RETRIES, TICK, cause, http_client, runtime};
use crate::reply::message_of;
use crate::{ChatError, ChatErrorKind, EmbeddingModel, Endpoint, Patience};

/// Maximum bytes of a reply: 64 vectors of 8,192 numbers.
const LARGEST: usize = 16 << 20;
/// Maximum numbers of an embedding.
const DIMENSIONS: usize = 1 << 16;

/// A model for embeddings at an endpoint.
pub struct EmbeddingClient {
    endpoint: Endpoint,
    http: reqwest::Client,
    runtime: Option<tokio::runtime::Runtime>,
}

/// The part of a reply that is read.
#[derive(Deserialize)]
struct EmbeddingReply {
    data: Vec<IndexedEmbedding>,
}

#[derive(Deserialize)]
struct IndexedEmbedding {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl EmbeddingClient {
    /// Creates a client. Nothing is sent yet. If the endpoint names no model, requests name none.
    ///
    /// # Errors
    /// Returns an error if no thread can be started, or the certificates of the system cannot be read.
    pub fn new(endpoint: Endpoint) -> Result<EmbeddingClient, ChatError> {
        let (runtime, http) = (runtime()?, http_client(&endpoint)?);
        Ok(EmbeddingClient { endpoint, http, runtime: Some(runtime) })
    }

    async fn send(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ChatError> {
        let mut body = json!({"input": texts, "encoding_format": "float"});
        if !self.endpoint.model.is_empty() {
            body["model"] = self.endpoint.model.as_str().into();
        }
        let mut url = self.endpoint.embeddings();
        let request = self.http.post(url.clone()).header("content-type", "application/json").body(body.to_string());
        let request = match &self.endpoint.key {
            Some(key) => request.header(AUTHORIZATION, format!("Bearer {}", key.bare())),
            None => request,
        };
        url.set_query(None);
        let failed = |error: reqwest::Error| {
            ChatError::new(ChatErrorKind::Unreachable, format!("{url} cannot be reached: {}", cause(&error)))
        };
        let mut answer = request.send().await.map_err(failed)?;
        let mut bytes = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(failed)? {
            if bytes.len() + piece.len() > LARGEST {
                let message = format!("{url}: its reply is longer than {} MiB", LARGEST >> 20);
                return Err(ChatError::new(ChatErrorKind::Broken, message));
            }
            bytes.extend_from_slice(&piece);
        }
        let status = answer.status();
        if !status.is_success() {
            let kind = match status.as_u16() {
                401 | 403 => ChatErrorKind::Unauthorized,
                404 | 405 => ChatErrorKind::NotFound,
                429 => ChatErrorKind::Busy,
                500.. => ChatErrorKind::Fault,
                _ => ChatErrorKind::Refused,
            };
            let object = serde_json::from_slice::<serde_json::Value>(&bytes).unwrap_or_default();
            let text = message_of(object.get("error").unwrap_or(&object));
            // Servers may quote a part of a wrong key.
            let is_shown = kind != ChatErrorKind::Unauthorized && !text.is_empty();
            let text = if is_shown { format!(": {text}") } else { String::new() };
            return Err(ChatError::new(kind, format!("{url} answered with status {}{text}", status.as_u16())));
        }
        read(&bytes, texts.len()).map_err(|why| ChatError::new(ChatErrorKind::Broken, format!("{url}: {why}")))
    }

    async fn send_with_retries(&self, texts: &[&str], patience: Patience<'_>) -> Result<Vec<Vec<f32>>, ChatError> {
        let (mut pause, mut retries) = (PAUSE, 0);
        loop {
            let time = patience.left(self.endpoint.time);
            let mut sending = std::pin::pin!(tokio::time::timeout(time, self.send(texts)));
            let sent = loop {
                match tokio::time::timeout(TICK, &mut sending).await {
                    Ok(Ok(sent)) => break sent,
                    Ok(Err(_)) => {
                        let message = format!("the embedding model did not reply within {} seconds", time.as_secs());
                        return Err(ChatError::new(ChatErrorKind::Late, message));
                    }
                    Err(_) if patience.is_cancelled() => {
                        return Err(ChatError::new(ChatErrorKind::Cancelled, "the request was cancelled"));
                    }
                    Err(_) => {}
                }
            };
            let error = match sent {
                Ok(vectors) => return Ok(vectors),
                Err(error) => error,
            };
            let is_temporary =
                matches!(error.kind, ChatErrorKind::Busy | ChatErrorKind::Fault | ChatErrorKind::Unreachable);
            let is_in_time = patience.deadline.is_none_or(|end| Instant::now() + pause < end);
            if !is_temporary || retries == RETRIES || !is_in_time {
                return Err(error);
            }
            tokio::time::sleep(pause).await;
            pause = pause.saturating_mul(2).min(Duration::from_secs(60));
            retries += 1;
        }
    }
}

impl EmbeddingModel for EmbeddingClient {
    /// Must not be called on a thread of an asynchronous runtime.
    fn embed(&self, texts: &[&str], patience: Patience<'_>) -> Result<Vec<Vec<f32>>, ChatError> {
        let Some(runtime) = &self.runtime else {
            return Err(ChatError::new(ChatErrorKind::Unreachable, "the client has ended"));
        };
        let hide = |text: String| self.endpoint.keys().iter().fold(text, |text, key| key.hide(text));
        let sent = runtime.block_on(self.send_with_retries(texts, patience));
        sent.map_err(|error| ChatError { message: hide(error.message), ..error })
    }
}

impl Drop for EmbeddingClient {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Reads a reply: one vector for each text, in the order of the texts, all of the same length.
fn read(bytes: &[u8], count: usize) -> Result<Vec<Vec<f32>>, String> {
    let reply: EmbeddingReply =
        serde_json::from_slice(bytes).map_err(|error| format!("its reply has no embeddings: {error}"))?;
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; count];
    for (place, entry) in reply.data.into_iter().enumerate() {
        let slot = vectors.get_mut(entry.index.unwrap_or(place)).ok_or("its reply has more embeddings than texts")?;
        if entry.embedding.is_empty() || entry.embedding.len() > DIMENSIONS {
            return Err(format!("its reply has an embedding of {} numbers", entry.embedding.len()));
        }
        *slot = Some(entry.embedding);
    }
    let vectors: Option<Vec<Vec<f32>>> = vectors.into_iter().collect();
    let vectors = vectors.ok_or("its reply has fewer embeddings than texts")?;
    if vectors.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
        return Err("its reply has embeddings of different lengths".to_owned());
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embeddings_are_read_in_the_order_of_the_texts() {
        let reply = br#"{"data": [{"index": 1, "embedding": [2, 0.5]}, {"index": 0, "embedding": [1, 0]}]}"#;
        assert_eq!(read(reply, 2), Ok(vec![vec![1.0, 0.0], vec![2.0, 0.5]]));
        for (reply, count, says) in [
            (&reply[..], 3, "fewer embeddings"),
            (reply, 1, "more embeddings"),
            (br#"{"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}"#, 2, "different lengths"),
            (br#"{"data": [{"embedding": []}]}"#, 1, "of 0 numbers"),
            (b"{}", 1, "no embeddings"),
        ] {
            assert!(read(reply, count).is_err_and(|why| why.contains(says)), "{says}");
        }
    }
}
