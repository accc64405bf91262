//! Stores the costs of the last queries by request ID.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::HeaderValue;

use crate::client::ClientKey;

/// Number of queries with a stored cost; each takes some hundred bytes.
const REMEMBERED: usize = 1024;

/// The cost of a query.
#[derive(Debug, Clone)]
pub struct Cost {
    /// The ID of its request.
    pub request: HeaderValue,
    /// The client that sent it.
    pub client: ClientKey,
    /// Number of elements or rows in the answer.
    pub results: u64,
    /// Bytes of the answer before compression.
    pub bytes: u64,
    /// Time from its admission until its answer was written.
    pub took: Duration,
    /// Units of work: elements or triples that were read.
    pub work: u64,
    /// Peak memory in bytes.
    pub memory: u64,
}

/// The costs of the last queries.
#[derive(Default)]
pub struct Costs(Mutex<VecDeque<Cost>>);

impl Costs {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Cost>> {
        // A panic cannot leave the list in an inconsistent state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a cost, and removes the oldest one if the list is full.
    pub fn note(&self, cost: Cost) {
        let mut all = self.lock();
        if all.len() == REMEMBERED {
            all.pop_front();
        }
        all.push_back(cost);
    }

    /// Returns the cost of the last query that `client` sent with the request ID `request`.
    pub fn of(&self, request: &str, client: &ClientKey) -> Option<Cost> {
        let all = self.lock();
        all.iter().rev().find(|cost| cost.request == request && cost.client == *client).cloned()
    }
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
