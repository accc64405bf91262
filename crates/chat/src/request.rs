//! A request to a model, and the caller's deadline for its reply.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::ChatMessage;

/// A request to a model. The limits are those of this request; those of the [`Endpoint`](crate::Endpoint) also hold.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The conversation so far.
    pub messages: &'a [ChatMessage],
    /// The purpose of the request; selects the fields of [`Extra`](crate::Extra) for it.
    pub step: &'a str,
    /// A grammar in GBNF that the reply follows. The server must take it ([`ServerCapabilities`](crate::ServerCapabilities)).
    pub grammar: Option<&'a str>,
    /// Maximum tokens of the reply.
    pub tokens: Option<u32>,
    /// Maximum time for the reply, retries included.
    pub time: Option<Duration>,
    /// Returns whether a text contains all needed parts of the reply; reading of a stream stops there.
    pub is_complete: Option<&'a (dyn Fn(&str) -> bool + Sync)>,
    /// Called about 20 times a second while waiting for the reply.
    pub progress: Option<&'a (dyn Fn(ReplyProgress) + Sync)>,
}

impl<'a> Request<'a> {
    /// Creates a request without limits of its own.
    pub fn new(step: &'a str, messages: &'a [ChatMessage]) -> Request<'a> {
        Request { messages, step, grammar: None, tokens: None, time: None, is_complete: None, progress: None }
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("messages", &self.messages)
            .field("step", &self.step)
            .field("tokens", &self.tokens)
            .field("time", &self.time)
            .finish_non_exhaustive()
    }
}

/// The progress of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyProgress {
    /// Number of text pieces received so far; most servers send one token per piece. 0 for replies that are not
    /// streamed.
    pub pieces: u64,
    /// Time since the start of the request.
    pub elapsed: Duration,
}

/// The caller's deadline and cancellation flag.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    /// The deadline.
    pub deadline: Option<Instant>,
    /// Set when the caller no longer needs the reply.
    pub cancelled: &'a AtomicBool,
}

impl Patience<'_> {
    /// Returns whether the caller no longer needs the reply.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns the remaining time until the deadline, at most `most`.
    pub fn left(&self, most: Duration) -> Duration {
        self.deadline.map_or(most, |deadline| most.min(deadline.saturating_duration_since(Instant::now())))
    }
}
