//! Access control: the layers that check requests against the token file and the clients' quotas.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::App;
use crate::context::HttpRequestContext;
use crate::rejected::Rejected;
use crate::tokens::Bearer;

/// Rejects requests without a valid token, if tokens are required.
pub async fn authenticate(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    request: Request,
    next: Next,
) -> Response {
    let why = match context.bearer {
        Bearer::Anyone | Bearer::Known { .. } => return next.run(request).await,
        Bearer::Missing => Rejected::NoToken,
        Bearer::Unknown => Rejected::UnknownToken,
    };
    app.metrics.rejected(&why);
    app.routes.wording(&request).reject(&why)
}

/// Rejects a query if its client is over its quota.
pub async fn quota(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    request: Request,
    next: Next,
) -> Response {
    match app.quota.admit(&context.client) {
        Ok(admission) => {
            context.set_admission(admission);
            next.run(request).await
        }
        Err(why) => {
            app.metrics.rejected(&why);
            app.routes.wording(&request).reject(&why)
        }
    }
}
