//! What the last queries cost, by the names of their requests.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::HeaderValue;

use crate::client::ClientKey;

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
