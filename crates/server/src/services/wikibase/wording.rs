//! The errors of the interfaces of a Wikibase: the same statuses, with the codes and the form of each interface.

use axum::http::StatusCode;
use axum::response::Response;

use crate::service::Wording;

/// The error format of an interface.
pub struct WikibaseWording {
    /// The code of status 429.
    pub rate_limit: &'static str,
    /// The code of status 401.
    pub denied: &'static str,
    /// The code of status 400.
    pub bad_request: &'static str,
    /// The code of status 404.
    pub not_found: &'static str,
    /// The code of other statuses.
    pub other: &'static str,
    /// Writes an error with its code and its message.
    pub write: fn(StatusCode, &'static str, &str) -> Response,
}

impl Wording for WikibaseWording {
    fn names_snapshot(&self) -> bool {
        true
    }

    fn late(&self) -> StatusCode {
        StatusCode::SERVICE_UNAVAILABLE
    }

    fn refusal(&self, status: StatusCode, message: &str) -> Response {
        let code = match status {
            StatusCode::TOO_MANY_REQUESTS => self.rate_limit,
            StatusCode::UNAUTHORIZED => self.denied,
            StatusCode::BAD_REQUEST => self.bad_request,
            StatusCode::NOT_FOUND => self.not_found,
            _ => self.other,
        };
        (self.write)(status, code, message)
    }
}
