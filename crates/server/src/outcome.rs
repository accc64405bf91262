//! How a run ended, and its HTTP status in the services of the Overpass API.

use axum::http::StatusCode;

use terrapin_budget::ExceededLimit;
use terrapin_engine::Stop;
use terrapin_overpass::{OverpassCode, OverpassFailure};
use terrapin_sparql as sparql;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was answered completely.
    Done,
    /// The query is invalid, or exceeded its work or memory limit.
    Refused,
    /// The query exceeded its time limit.
    TimedOut,
    /// No slot was free, here or at the language model.
    Busy,
    /// The client disconnected, or the server is shutting down.
    Abandoned,
    /// Damaged data were read.
    Damaged,
    /// The engine failed, or temporary files cannot be written.
    Failed,
}

impl Outcome {
    /// Returns whether the program or the snapshot is at fault.
    pub fn is_fault(self) -> bool {
        matches!(self, Outcome::Damaged | Outcome::Failed)
    }

    /// Returns its name in the log and in `/metrics`.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Done => "answered",
            Outcome::Refused => "refused",
            Outcome::TimedOut => "timed_out",
            Outcome::Busy => "busy",
            Outcome::Abandoned => "abandoned",
            Outcome::Damaged | Outcome::Failed => "broken",
        }
    }

    /// Returns the HTTP status that clients of the Overpass API expect for it.
    pub fn status(self) -> StatusCode {
        match self {
            Outcome::Done => StatusCode::OK,
            Outcome::Refused => StatusCode::BAD_REQUEST,
            Outcome::TimedOut => StatusCode::GATEWAY_TIMEOUT,
            Outcome::Busy => StatusCode::TOO_MANY_REQUESTS,
            Outcome::Abandoned => StatusCode::SERVICE_UNAVAILABLE,
            Outcome::Damaged | Outcome::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<&Stop> for Outcome {
    fn from(stop: &Stop) -> Self {
        match stop {
            Stop::Exceeded(exceeded) => Outcome::from(*exceeded),
            Stop::Damaged(_) => Outcome::Damaged,
            Stop::Panicked(_) => Outcome::Failed,
        }
    }
}

impl From<ExceededLimit> for Outcome {
    fn from(exceeded: ExceededLimit) -> Self {
        match exceeded {
            ExceededLimit::Time(_) => Outcome::TimedOut,
            ExceededLimit::Cancelled => Outcome::Abandoned,
            ExceededLimit::Work(_) | ExceededLimit::Memory(_) => Outcome::Refused,
        }
    }
}

impl From<&OverpassFailure> for Outcome {
    fn from(failure: &OverpassFailure) -> Self {
        let has = |code| failure.diagnostics.iter().any(|d| d.code == code);
        if has(OverpassCode::Timeout) {
            Outcome::TimedOut
        } else if has(OverpassCode::Cancelled) || has(OverpassCode::ClientGone) {
            Outcome::Abandoned
        } else if has(OverpassCode::Damaged) {
            Outcome::Damaged
        } else if failure.is_fault() {
            Outcome::Failed
        } else {
            Outcome::Refused
        }
    }
}

impl From<&sparql::SparqlError> for Outcome {
    fn from(error: &sparql::SparqlError) -> Self {
        match error.code {
            sparql::SparqlCode::Timeout => Outcome::TimedOut,
            sparql::SparqlCode::Cancelled | sparql::SparqlCode::Output => Outcome::Abandoned,
            _ if error.class == sparql::SparqlErrorClass::Internal => Outcome::Failed,
            _ => Outcome::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrapin_overpass::{DiagnosticClass, OverpassDiagnostic};

    /// Checks the statuses that the operators' documentation lists.
    #[test]
    fn faults_have_a_status_of_their_own() {
        for (code, status) in [
            (OverpassCode::Damaged, 500),
            (OverpassCode::Internal, 500),
            (OverpassCode::Temporary, 500),
            (OverpassCode::Memory, 400),
            (OverpassCode::TooWeak, 400),
            (OverpassCode::Timeout, 504),
            (OverpassCode::Cancelled, 503),
        ] {
            let diagnostic = OverpassDiagnostic::new(DiagnosticClass::Runtime, code, "");
            assert_eq!(Outcome::from(&OverpassFailure::from(diagnostic)).status(), status, "{code}");
        }
    }
}
