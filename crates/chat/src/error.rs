//! Why there is no reply.

use std::fmt;
use std::time::Duration;

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nobody is there, or the connection broke.
    Unreachable,
    /// It took longer than it may.
    Late,
    /// Too many requests; wait.
    Busy,
    /// The key is wrong, or may not do this.
    Unauthorized,
    /// There is no such address, or no such model.
    NotFound,
    /// The request, with the reply that it may have, is more than the model has room for.
    TooLong,
    /// The server does not take the request.
    Refused,
    /// A fault of the server.
    Fault,
    /// What came is no reply.
    Broken,
    /// Nobody waits for it any more.
    Cancelled,
}

impl Kind {
    /// What programs know it by.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Unreachable => "unreachable",
            Kind::Late => "late",
            Kind::Busy => "busy",
            Kind::Unauthorized => "unauthorized",
            Kind::NotFound => "not-found",
            Kind::TooLong => "too-long",
            Kind::Refused => "refused",
            Kind::Fault => "fault",
            Kind::Broken => "broken",
            Kind::Cancelled => "cancelled",
        }
    }
}

/// Why there is no reply. The text has no key in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The kind.
    pub kind: Kind,
    /// What happened.
    pub message: String,
    /// How long the server wants to be left alone, where it says so.
    pub wait: Option<Duration>,
}

impl Error {
    /// An error.
    pub fn new(kind: Kind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), wait: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the model: {}", self.message)
    }
}

impl std::error::Error for Error {}
