//! Failures of a request.

use std::fmt;
use std::time::Duration;

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatErrorKind {
    /// The server cannot be reached, or the connection broke.
    Unreachable,
    /// The reply did not end in time.
    Late,
    /// Too many requests.
    Busy,
    /// The key is missing, wrong or lacks a permission.
    Unauthorized,
    /// The address or the model does not exist.
    NotFound,
    /// Prompt and reply together are longer than the context.
    TooLong,
    /// The server refuses the request.
    Refused,
    /// The server failed.
    Fault,
    /// The response is not a reply.
    Broken,
    /// The caller no longer needs the reply.
    Cancelled,
}

impl ChatErrorKind {
    /// Returns its name in logs.
    pub fn name(self) -> &'static str {
        match self {
            ChatErrorKind::Unreachable => "unreachable",
            ChatErrorKind::Late => "late",
            ChatErrorKind::Busy => "busy",
            ChatErrorKind::Unauthorized => "unauthorized",
            ChatErrorKind::NotFound => "not-found",
            ChatErrorKind::TooLong => "too-long",
            ChatErrorKind::Refused => "refused",
            ChatErrorKind::Fault => "fault",
            ChatErrorKind::Broken => "broken",
            ChatErrorKind::Cancelled => "cancelled",
        }
    }
}

/// The service that a request goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatService {
    /// A language model, or a model of embeddings.
    Model,
    /// A system that answers questions with queries.
    System,
}

impl ChatService {
    /// Returns its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            ChatService::Model => "the model",
            ChatService::System => "the system",
        }
    }
}

/// A failure. Its message never contains the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatError {
    /// Its kind.
    pub kind: ChatErrorKind,
    /// The service that failed.
    pub service: ChatService,
    /// The message.
    pub message: String,
    /// The pause that the server asks for.
    pub wait: Option<Duration>,
}

impl ChatError {
    /// Returns an error of a model, without a pause.
    pub fn new(kind: ChatErrorKind, message: impl Into<String>) -> ChatError {
        ChatError { kind, service: ChatService::Model, message: message.into(), wait: None }
    }

    /// Returns the reason in a text that is equal in equal runs: it has no times and no counts that depend on them.
    pub fn stable_message(&self) -> String {
        match self.kind {
            ChatErrorKind::Late => format!("{}: its reply did not end in time", self.service.name()),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for ChatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.service.name(), self.message)
    }
}

impl std::error::Error for ChatError {}

/// Returns whether an error is about the length of the prompt or the context.
pub fn is_about_length(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let is_of_context = text.contains("context") && ["length", "size", "window"].iter().any(|word| text.contains(word));
    is_of_context || ["too long", "too many tokens", "is too large"].iter().any(|words| text.contains(words))
}
