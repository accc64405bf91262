//! How a query ended, in either language, and the status that says so to clients of Overpass API.

use axum::http::StatusCode;

use crate::budget::Exceeded;
use crate::overpass::{Code, Failure};
use crate::sparql;

/// How a query ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// With an answer.
    Answered,
    /// It is wrong, or went over its memory.
    Refused,
    /// It went over its time.
    TimedOut,
    /// No slot was free.
    Busy,
    /// The client went away or the server down.
    Abandoned,
    /// The engine failed.
    Broken,
}

impl Outcome {
    /// Its name in the log and in `/metrics`.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Answered => "answered",
            Outcome::Refused => "refused",
            Outcome::TimedOut => "timed_out",
            Outcome::Busy => "busy",
            Outcome::Abandoned => "abandoned",
            Outcome::Broken => "broken",
        }
    }

    /// The status by which clients of Overpass API know it.
    pub fn status(self) -> StatusCode {
        match self {
            Outcome::Answered => StatusCode::OK,
            Outcome::Refused => StatusCode::BAD_REQUEST,
            Outcome::TimedOut => StatusCode::GATEWAY_TIMEOUT,
            Outcome::Busy => StatusCode::TOO_MANY_REQUESTS,
            Outcome::Abandoned => StatusCode::SERVICE_UNAVAILABLE,
            Outcome::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<Exceeded> for Outcome {
    fn from(exceeded: Exceeded) -> Self {
        match exceeded {
            Exceeded::Time(_) => Outcome::TimedOut,
            Exceeded::Cancelled => Outcome::Abandoned,
            Exceeded::Work(_) | Exceeded::Memory(_) => Outcome::Refused,
        }
    }
}

impl From<&Failure> for Outcome {
    fn from(failure: &Failure) -> Self {
        let has = |code| failure.diagnostics.iter().any(|d| d.code == code);
        if has(Code::Timeout) {
            Outcome::TimedOut
        } else if has(Code::Cancelled) || has(Code::ClientGone) {
            Outcome::Abandoned
        } else {
            Outcome::Refused
        }
    }
}

impl From<&sparql::Error> for Outcome {
    fn from(error: &sparql::Error) -> Self {
        match error.code {
            sparql::Code::Timeout => Outcome::TimedOut,
            sparql::Code::Cancelled | sparql::Code::Output => Outcome::Abandoned,
            _ if error.class == sparql::Class::Internal => Outcome::Broken,
            _ => Outcome::Refused,
        }
    }
}
