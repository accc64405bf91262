//! Replaces the client in builds without HTTP.

use crate::{ChatError, ChatErrorKind, EmbeddingModel, Endpoint, LanguageModel, Patience, Reply, Request};

/// A client that cannot be made.
pub enum ChatClient {}

impl ChatClient {
    /// Returns an error: this build has no client.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn new(_: Endpoint) -> Result<ChatClient, ChatError> {
        Err(absent())
    }
}

/// A client for embeddings that cannot be made.
pub enum EmbeddingClient {}

impl EmbeddingClient {
    /// Returns an error: this build has no client.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn new(_: Endpoint) -> Result<EmbeddingClient, ChatError> {
        Err(absent())
    }
}

impl EmbeddingModel for EmbeddingClient {
    fn embed(&self, _: &[&str], _: Patience<'_>) -> Result<Vec<Vec<f32>>, ChatError> {
        match *self {}
    }
}

/// A client for systems that cannot be made.
pub enum SystemClient {}

impl SystemClient {
    /// Returns an error: this build has no client.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn new(_: Endpoint, _: &str) -> Result<SystemClient, ChatError> {
        Err(absent())
    }

    /// Returns nothing, because no client exists.
    ///
    /// # Errors
    /// Never returns.
    pub fn query(&self, _: &str, _: Patience<'_>) -> Result<String, ChatError> {
        match *self {}
    }

    /// Returns nothing, because no client exists.
    pub fn shown(&self) -> String {
        match *self {}
    }
}

fn absent() -> ChatError {
    ChatError::new(
        ChatErrorKind::Unreachable,
        "asking a model needs the feature `ask`, which this build lacks; build it with `cargo build --release --features ask`",
    )
}

impl LanguageModel for ChatClient {
    fn name(&self) -> &str {
        match *self {}
    }

    fn reply(&self, _: &Request<'_>, _: Patience<'_>) -> Result<Reply, ChatError> {
        match *self {}
    }
}
