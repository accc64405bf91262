//! The outcome of a query in either language, and its HTTP status in the services of the Overpass API.

use axum::http::StatusCode;

use terrapin_budget::ExceededLimit;
use terrapin_overpass::{OverpassCode, OverpassFailure};
use terrapin_sparql as sparql;

/// The outcome of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryOutcome {
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

impl QueryOutcome {
    /// Returns its name in the log and in `/metrics`.
    pub fn name(self) -> &'static str {
        match self {
            QueryOutcome::Answered => "answered",
            QueryOutcome::Refused => "refused",
            QueryOutcome::TimedOut => "timed_out",
            QueryOutcome::Busy => "busy",
            QueryOutcome::Abandoned => "abandoned",
            QueryOutcome::Broken => "broken",
        }
    }

    /// Returns the HTTP status that clients of the Overpass API expect for it.
    pub fn status(self) -> StatusCode {
        match self {
            QueryOutcome::Answered => StatusCode::OK,
            QueryOutcome::Refused => StatusCode::BAD_REQUEST,
            QueryOutcome::TimedOut => StatusCode::GATEWAY_TIMEOUT,
            QueryOutcome::Busy => StatusCode::TOO_MANY_REQUESTS,
            QueryOutcome::Abandoned => StatusCode::SERVICE_UNAVAILABLE,
            QueryOutcome::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<ExceededLimit> for QueryOutcome {
    fn from(exceeded: ExceededLimit) -> Self {
        match exceeded {
            ExceededLimit::Time(_) => QueryOutcome::TimedOut,
            ExceededLimit::Cancelled => QueryOutcome::Abandoned,
            ExceededLimit::Work(_) | ExceededLimit::Memory(_) => QueryOutcome::Refused,
        }
    }
}

impl From<&OverpassFailure> for QueryOutcome {
    fn from(failure: &OverpassFailure) -> Self {
        let has = |code| failure.diagnostics.iter().any(|d| d.code == code);
        if has(OverpassCode::Timeout) {
            QueryOutcome::TimedOut
        } else if has(OverpassCode::Cancelled) || has(OverpassCode::ClientGone) {
            QueryOutcome::Abandoned
        } else if failure.is_fault() {
            QueryOutcome::Broken
        } else {
            QueryOutcome::Refused
        }
    }
}

impl From<&sparql::SparqlError> for QueryOutcome {
    fn from(error: &sparql::SparqlError) -> Self {
        match error.code {
            sparql::SparqlCode::Timeout => QueryOutcome::TimedOut,
            sparql::SparqlCode::Cancelled | sparql::SparqlCode::Output => QueryOutcome::Abandoned,
            _ if error.class == sparql::SparqlErrorClass::Internal => QueryOutcome::Broken,
            _ => QueryOutcome::Refused,
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
            assert_eq!(QueryOutcome::from(&OverpassFailure::from(diagnostic)).status(), status, "{code}");
        }
    }
}
