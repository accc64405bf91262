//! Asks a language model, wherever it runs, by the chat completions protocol that OpenAI's and compatible servers speak
//! (llama.cpp, vLLM, Ollama and others): whole replies and streams of pieces. What a server sends is bounded, in time and
//! in bytes, and what it says of its errors never shows the key. Knows nothing of what is asked.
//!
//! ```text
//! endpoint.rs where a model is, and how it is asked
//! key.rs      the key, which nothing prints
//! error.rs    why there is no reply
//! message.rs  what is sent; manner.rs is how a request is put
//! reply.rs    what came back, put together from an object or from pieces
//! events.rs   lines of a stream; stream.rs is a reply that comes so
//! client.rs   the conversation itself: requests, time-outs, what is tried again; nobody.rs stands for it in a program that was
//!             built without one
//! ```

#[cfg(feature = "http")]
mod client;
mod endpoint;
mod error;
mod events;
mod key;
#[cfg(feature = "http")]
mod manner;
mod message;
#[cfg(not(feature = "http"))]
mod nobody;
mod reply;
mod stream;

#[cfg(feature = "http")]
pub use client::Client;
pub use endpoint::{Endpoint, Unfit};
pub use error::{Error, Kind};
pub use key::{Key, KeyError};
pub use message::{Message, Role};
#[cfg(not(feature = "http"))]
pub use nobody::Client;
pub use reply::{Reply, ToolCall};
pub use stream::{Stream, whole};

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a reply is waited for, and by whom.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    /// Nothing is waited for after this moment.
    pub deadline: Option<Instant>,
    /// Set when nobody waits any more.
    pub cancelled: &'a AtomicBool,
}

impl Patience<'_> {
    /// Whether nobody waits any more.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// What is left, at most so long.
    pub fn left(&self, most: Duration) -> Duration {
        self.deadline.map_or(most, |deadline| most.min(deadline.saturating_duration_since(Instant::now())))
    }
}

/// Who replies to messages.
pub trait Model: Sync {
    /// What it is called.
    fn name(&self) -> &str;

    /// Its reply.
    ///
    /// # Errors
    /// There is none.
    fn reply(&self, messages: &[Message], patience: Patience<'_>) -> Result<Reply, Error>;
}
