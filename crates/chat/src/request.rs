//! One request to a model, and how long its reply is waited for.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::Message;

/// A request to a model. The limits are those of this request; those of the [`Endpoint`](crate::Endpoint) also hold.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The conversation so far.
    pub messages: &'a [Message],
    /// The purpose of the request; selects the fields of [`Extra`](crate::Extra) for it.
    pub step: &'a str,
    /// Maximum tokens of the reply.
    pub tokens: Option<u32>,
    /// Maximum time for the reply, retries included.
    pub time: Option<Duration>,
    /// Returns whether a text holds everything that is needed of the reply. A streamed reply is read up to there.
    pub is_complete: Option<&'a (dyn Fn(&str) -> bool + Sync)>,
    /// Called some 20 times a second while the reply is waited for.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
}

impl<'a> Request<'a> {
    /// Returns a request without limits of its own.
    pub fn new(step: &'a str, messages: &'a [Message]) -> Request<'a> {
        Request { messages, step, tokens: None, time: None, is_complete: None, progress: None }
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

/// The state of a reply that is being received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Pieces of text received so far; most servers send one token a piece. 0 for replies that are not streamed.
    pub pieces: u64,
    /// Time since the request was made.
    pub elapsed: Duration,
}

/// How long a caller waits.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    /// The end of the wait.
    pub deadline: Option<Instant>,
    /// Set when the caller no longer needs the reply.
    pub cancelled: &'a AtomicBool,
}

impl Patience<'_> {
    /// Returns whether the caller no longer needs the reply.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns the time left until the deadline, at most `most`.
    pub fn left(&self, most: Duration) -> Duration {
        self.deadline.map_or(most, |deadline| most.min(deadline.saturating_duration_since(Instant::now())))
    }
}
