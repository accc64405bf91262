//! The outcome of a query in either language, and its HTTP status in the services of the Overpass API.

use axum::http::StatusCode;

use terrapin_budget::Exceeded;
use terrapin_overpass::{Code, Failure};
use terrapin_sparql as sparql;

/// The outcome of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Answered.
    Answered,
    /// The query is invalid, or exceeded its work or memory limit.
    Refused,
    /// The query exceeded its time limit.
    TimedOut,
    /// No slot was free.
    Busy,
    /// The client disconnected, or the server is shutting down.
    Abandoned,
    /// The engine failed, the snapshot is damaged, or temporary files cannot be written.
    Broken,
}

impl Outcome {
    /// Returns its name in the log and in `/metrics`.
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

    /// Returns the HTTP status that clients of the Overpass API expect for it.
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
        } else if failure.is_fault() {
            Outcome::Broken
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

#[cfg(test)]
mod tests {
    use super::*;
    use terrapin_overpass::{Class, Diagnostic};

    /// Checks the statuses that the operators' documentation lists.
    #[test]
    fn faults_have_a_status_of_their_own() {
        for (code, status) in [
            (Code::Damaged, 500),
            (Code::Internal, 500),
            (Code::Temporary, 500),
            (Code::Memory, 400),
            (Code::TooWeak, 400),
            (Code::Timeout, 504),
            (Code::Cancelled, 503),
        ] {
            let diagnostic =
                Diagnostic { class: Class::Runtime, code, line: 0, span: None, message: String::new(), help: None };
            assert_eq!(Outcome::from(&Failure::from(diagnostic)).status(), status, "{code}");
        }
    }
}
