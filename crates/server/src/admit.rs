//! Access control: the layers that check requests against the token file and the clients' quotas.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::App;
use crate::context::HttpRequestContext;
use crate::metrics::Rejection;
use crate::quota::ExceededQuota;
use crate::tokens::Bearer;

/// The `Retry-After` for a client with too many running queries: when one ends is unknown.
const A_WHILE: Duration = Duration::from_secs(5);
/// The longest `Retry-After`. A client that is hours over its quota retries after this time.
pub const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// Rejects requests without a valid token, if tokens are required.
pub async fn authenticate(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    request: Request,
    next: Next,
) -> Response {
    let (challenge, message) = match context.bearer {
        Bearer::Anyone | Bearer::Known { .. } => return next.run(request).await,
        Bearer::Missing => {
            ("Bearer realm=\"terrapin\"", "a token is required: send it as \"Authorization: Bearer TOKEN\"")
        }
        Bearer::Unknown => ("Bearer realm=\"terrapin\", error=\"invalid_token\"", "unknown token"),
    };
    app.metrics.rejected(Rejection::Unauthorized);
    let mut answer = app.routes.wording(&request).refusal(StatusCode::UNAUTHORIZED, message);
    answer.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    answer
}

/// Rejects a query if its client is over its quota.
pub async fn quota(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    request: Request,
    next: Next,
) -> Response {
    let (reason, wait, message) = match app.quota.admit(&context.client) {
        Ok(admission) => {
            context.set_admission(admission);
            return next.run(request).await;
        }
        Err(ExceededQuota::Queries) => {
            (Rejection::ClientQueries, A_WHILE, "this client has reached its limit of concurrent queries")
        }
        Err(ExceededQuota::Seconds(wait)) => {
            (Rejection::ClientSeconds, wait, "this client has used up its quota of query time")
        }
    };
    app.metrics.rejected(reason);
    let words = app.routes.wording(&request);
    let mut answer = words.refusal(StatusCode::TOO_MANY_REQUESTS, words.over_quota(message));
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(whole_seconds(wait.min(LONGEST_WAIT))));
    answer
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
