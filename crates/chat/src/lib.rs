//! A client for language models with the chat completions protocol of OpenAI (llama.cpp, vLLM, Ollama and others), for
//! whole and streamed replies. Replies are limited in time, tokens and bytes, and no error contains the key. The crate
//! passes questions and queries on, and does not know their languages.
//!
//! ```text
//! endpoint.rs  the address of a model and its limits; key.rs is the API key, which is never printed
//! extra.rs     fields of the user that are merged into requests
//! request.rs   one request; message.rs is a message in it; form.rs writes it as a server takes it
//! error.rs     failures
//! reply.rs     a reply, collected from one object or from the pieces of a stream
//! events.rs    lines of a stream; stream.rs reads a streamed reply up to its end, its limits or its closing fence
//! capabilities.rs  what a server reports of itself: context length, fields for a grammar
//! usage.rs     tokens, time and the identity of the server
//! client.rs    HTTP: timeouts, retries, cancellation; absent.rs replaces it in builds without HTTP
//! embeddings.rs  requests embeddings of texts
//! system.rs    requests queries for questions from a system that is more than a model
//! ```

#[cfg(not(feature = "http"))]
mod absent;
mod capabilities;
#[cfg(feature = "http")]
mod client;
#[cfg(feature = "http")]
mod embeddings;
mod endpoint;
mod error;
mod events;
mod extra;
#[cfg(feature = "http")]
mod form;
mod key;
mod message;
mod reply;
mod request;
mod stream;
#[cfg(feature = "http")]
mod system;
mod usage;

#[cfg(not(feature = "http"))]
pub use absent::{ChatClient, EmbeddingClient, SystemClient};
pub use capabilities::{GrammarField, ServerCapabilities};
#[cfg(feature = "http")]
pub use client::ChatClient;
#[cfg(feature = "http")]
pub use embeddings::EmbeddingClient;
pub use endpoint::{Endpoint, EndpointError};
pub use error::{ChatError, ChatErrorKind, ChatService};
pub use extra::{Extra, ExtraError};
pub use key::{ApiKey, KeyError};
pub use message::{ChatMessage, MessageRole};
pub use reply::{Reply, ToolCall};
pub use request::{Patience, ReplyProgress, Request};
pub use stream::{EventStream, whole};
#[cfg(feature = "http")]
pub use system::SystemClient;
pub use usage::{ReplyTiming, ServerIdentity, TokenCounts};

/// A language model.
pub trait LanguageModel: Sync {
    /// Returns the model's name at the server.
    fn name(&self) -> &str;

    /// Returns the model's reply to a request.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached, rejects the request, is late, or sends no reply.
    fn reply(&self, request: &Request<'_>, patience: Patience<'_>) -> Result<Reply, ChatError>;

    /// Returns what the server reports of itself. It is requested once.
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::default()
    }
}

/// A model that turns texts into vectors.
pub trait EmbeddingModel: Sync {
    /// Returns the embedding of each text, in their order.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached, rejects the request, is late, or sends no embeddings.
    fn embed(&self, texts: &[&str], patience: Patience<'_>) -> Result<Vec<Vec<f32>>, ChatError>;
}
