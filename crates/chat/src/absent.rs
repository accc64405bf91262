//! Replaces the client in builds without HTTP.

use crate::{ChatError, ChatErrorKind, Endpoint, LanguageModel, Patience, Reply, Request};

/// A client that cannot be made.
pub enum ChatClient {}

impl ChatClient {
    /// Returns an error: this build has no client.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn new(_: Endpoint) -> Result<ChatClient, ChatError> {
        Err(ChatError::new(
            ChatErrorKind::Unreachable,
            "asking a model needs the feature `ask`, which this build lacks; build it with `cargo build --release --features ask`",
        ))
    }
}

impl LanguageModel for ChatClient {
    fn name(&self) -> &str {
        match *self {}
    }

    fn reply(&self, _: &Request<'_>, _: Patience<'_>) -> Result<Reply, ChatError> {
        match *self {}
    }
}
