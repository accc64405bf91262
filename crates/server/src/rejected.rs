//! The reasons for which a request is turned away before it runs, with the status, the headers and the text of each. A
//! service may have its own texts, and answers in its own format.

use std::borrow::Cow;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};

/// The `Retry-After` of a request that waits for others to end: when one does is unknown.
const A_WHILE: Duration = Duration::from_secs(5);
/// The longest `Retry-After`. A client that is hours over its quota retries after this time.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// Why a request was turned away before it ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejected {
    /// The queue is full.
    QueueFull,
    /// No slot became free within the queue timeout.
    QueueTimeout,
    /// The server is shutting down.
    GoingDown,
    /// Its client is at its limit of concurrent queries.
    ClientQueries,
    /// Its client used up its seconds of work, and has some again after this time.
    ClientSeconds(Duration),
    /// It has no token.
    NoToken,
    /// It has an unknown token.
    UnknownToken,
    /// It has no admin token; with the message.
    Forbidden(&'static str),
    /// It is for another host name, or comes from a page of another site; with the message.
    Foreign(&'static str),
    /// Its body is longer than this many bytes.
    BodyTooLong(usize),
    /// Its body did not arrive within this time.
    BodyTooSlow(Duration),
    /// Too many other bodies are being received.
    BodiesBusy,
    /// Its body has an unsupported content encoding.
    BodyEncoding(String),
    /// Its body does not match its content encoding, or broke off.
    BodyBroken(Cow<'static, str>),
}

impl Rejected {
    /// Returns the value of the metric's label `reason`; `None` for bodies, which only count as refused queries.
    pub fn reason(&self) -> Option<&'static str> {
        Some(match self {
            Rejected::QueueFull => "queue_full",
            Rejected::QueueTimeout => "queue_timeout",
            Rejected::GoingDown => "going_down",
            Rejected::ClientQueries => "client_queries",
            Rejected::ClientSeconds(_) => "client_seconds",
            Rejected::NoToken | Rejected::UnknownToken => "unauthorized",
            Rejected::Forbidden(_) => "forbidden",
            Rejected::Foreign(_) => "foreign",
            Rejected::BodyTooLong(_)
            | Rejected::BodyTooSlow(_)
            | Rejected::BodiesBusy
            | Rejected::BodyEncoding(_)
            | Rejected::BodyBroken(_) => return None,
        })
    }

    /// Returns the HTTP status. Services may have another one for [`Rejected::QueueTimeout`].
    pub fn status(&self) -> StatusCode {
        match self {
            Rejected::QueueFull | Rejected::ClientQueries | Rejected::ClientSeconds(_) => StatusCode::TOO_MANY_REQUESTS,
            Rejected::QueueTimeout => StatusCode::GATEWAY_TIMEOUT,
            Rejected::GoingDown | Rejected::BodiesBusy => StatusCode::SERVICE_UNAVAILABLE,
            Rejected::NoToken | Rejected::UnknownToken => StatusCode::UNAUTHORIZED,
            Rejected::Forbidden(_) | Rejected::Foreign(_) => StatusCode::FORBIDDEN,
            Rejected::BodyTooLong(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Rejected::BodyTooSlow(_) => StatusCode::REQUEST_TIMEOUT,
            Rejected::BodyEncoding(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Rejected::BodyBroken(_) => StatusCode::BAD_REQUEST,
        }
    }

    /// Returns the time after which the client may try again.
    fn retry_after(&self) -> Option<Duration> {
        match self {
            Rejected::QueueFull
            | Rejected::QueueTimeout
            | Rejected::GoingDown
            | Rejected::ClientQueries
            | Rejected::BodiesBusy => Some(A_WHILE),
            Rejected::ClientSeconds(wait) => Some(*wait),
            _ => None,
        }
    }

    /// Returns the text, which names the body `body`.
    pub fn message(&self, body: &str) -> Cow<'static, str> {
        let text = match self {
            Rejected::QueueFull => "the queue is full: retry later",
            Rejected::QueueTimeout => "no slot became free in time: retry later",
            Rejected::GoingDown => "the server is shutting down",
            Rejected::ClientQueries => "this client has reached its limit of concurrent queries",
            Rejected::ClientSeconds(_) => "this client has used up its quota of query time",
            Rejected::NoToken => "a token is required: send it as \"Authorization: Bearer TOKEN\"",
            Rejected::UnknownToken => "unknown token",
            Rejected::Forbidden(message) | Rejected::Foreign(message) => message,
            Rejected::BodiesBusy => "too many requests are being received: retry later",
            Rejected::BodyTooLong(bytes) => return format!("{body} is longer than {bytes} bytes").into(),
            Rejected::BodyTooSlow(time) => {
                return format!("{body} did not arrive within {} seconds", time.as_secs()).into();
            }
            Rejected::BodyEncoding(name) => {
                return format!("{body} has the unsupported encoding {name:?}: send it plain or as gzip").into();
            }
            Rejected::BodyBroken(why) => return format!("{body} could not be read: {why}").into(),
        };
        text.into()
    }

    /// Returns the headers of the error response.
    pub fn headers(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        let retry = self.retry_after().map(|wait| (header::RETRY_AFTER, retry_after(wait)));
        let other = match self {
            Rejected::NoToken => Some((header::WWW_AUTHENTICATE, "Bearer realm=\"terrapin\"")),
            Rejected::UnknownToken => {
                Some((header::WWW_AUTHENTICATE, "Bearer realm=\"terrapin\", error=\"invalid_token\""))
            }
            Rejected::BodyEncoding(_) => Some((header::ACCEPT_ENCODING, "gzip")),
            _ => None,
        };
        retry.into_iter().chain(other.map(|(name, value)| (name, HeaderValue::from_static(value))))
    }
}

/// Returns the value of the header `Retry-After` for a time to wait, at most an hour.
pub fn retry_after(wait: Duration) -> HeaderValue {
    HeaderValue::from(whole_seconds(wait.min(LONGEST_WAIT)))
}

/// Returns `wait` in seconds, rounded up, at least 1.
pub fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0 || wait.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_to_come_back_too_early() {
        assert_eq!(whole_seconds(Duration::ZERO), 1);
        assert_eq!(whole_seconds(Duration::from_millis(1500)), 2);
        assert_eq!(whole_seconds(Duration::from_secs(3)), 3);
    }
}
