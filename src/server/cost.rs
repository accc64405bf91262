//! `/api/cost`: what a query cost, once it has ended, told to whoever asked it. The headers of an answer that streams are
//! out long before that is known.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::client::ClientKey;
use super::context::Context;
use super::json::{JSON, Json};
use super::service::Wording;
use super::{App, job};

/// Queries whose costs are remembered, some hundred bytes each.
const REMEMBERED: usize = 1024;

/// What a query cost.
#[derive(Debug, Clone)]
pub struct Cost {
    /// The name of the request that brought it.
    pub request: HeaderValue,
    /// Who asked.
    pub client: ClientKey,
    /// Elements or rows of its answer.
    pub results: u64,
    /// Bytes of its answer before they were packed.
    pub bytes: u64,
    /// From when it was let in to when its answer was written.
    pub took: Duration,
    /// Units of work: elements or triples looked at.
    pub work: u64,
    /// The most bytes that it held at a time.
    pub memory: u64,
}

/// The costs of the last queries.
#[derive(Default)]
pub struct Costs(Mutex<VecDeque<Cost>>);

impl Costs {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Cost>> {
        // Nothing in here can be left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a cost, and forgets the oldest where there are too many.
    pub fn note(&self, cost: Cost) {
        let mut all = self.lock();
        if all.len() == REMEMBERED {
            all.pop_front();
        }
        all.push_back(cost);
    }

    /// What the last query cost that a client's request of this name brought.
    fn of(&self, request: &str, client: &ClientKey) -> Option<Cost> {
        let all = self.lock();
        all.iter().rev().find(|cost| cost.request == request && cost.client == *client).cloned()
    }
}

/// What is asked.
#[derive(Deserialize)]
pub struct Asked {
    request: String,
}

/// Tells what one's own query cost, by the name of its request: the header `X-Request-Id` of its answer.
pub async fn cost(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<Context>>,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Response {
    let Ok(Query(Asked { request })) = asked else {
        let message = "the parameter `request` is missing: the X-Request-Id of an answer";
        return Json.refusal(StatusCode::BAD_REQUEST, message);
    };
    let Some(cost) = app.costs.of(&request, &context.client) else {
        let message = "no query of yours has this name among the last that ended";
        return Json.refusal(StatusCode::NOT_FOUND, message);
    };
    let told = json!({
        "request": request,
        "results": cost.results,
        "bytes": cost.bytes,
        "milliseconds": cost.took.as_micros() as f64 / 1000.0,
        "work": cost.work,
        "memory": cost.memory,
    });
    job::from_snapshot(&app, ([(header::CONTENT_TYPE, JSON)], told.to_string()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_costs_are_remembered_for_whose_they_are() {
        let costs = Costs::default();
        let client = |name: &str| ClientKey(name.into());
        let note = |request: u64, name: &str| {
            costs.note(Cost {
                request: HeaderValue::from(request),
                client: client(name),
                results: request,
                bytes: 0,
                took: Duration::ZERO,
                work: 0,
                memory: 0,
            });
        };
        note(1, "ann");
        assert_eq!(costs.of("1", &client("ann")).map(|cost| cost.results), Some(1));
        assert!(costs.of("1", &client("bob")).is_none());
        (0..REMEMBERED as u64).for_each(|i| note(i + 2, "bob"));
        assert!(costs.of("1", &client("ann")).is_none() && costs.of("2", &client("bob")).is_some());
        assert_eq!(costs.lock().len(), REMEMBERED);
    }
}
