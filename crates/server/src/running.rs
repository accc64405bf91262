//! Lists the queries and questions that run: `/api/status` shows them, and a shutdown cancels them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::context::HttpRequestContext;

/// A running query or question.
#[derive(Clone)]
pub struct Running {
    /// The moment at which it started, by the wall clock.
    pub since: SystemTime,
    /// The moment at which it times out.
    pub deadline: Instant,
    /// Its time limit.
    pub allowed: Duration,
    /// Its memory limit in bytes, as shown to clients.
    pub memory: u64,
    /// Whether it occupies one of the slots shown to clients. Questions have slots of their own.
    pub in_slot: bool,
    /// The flag that cancels it.
    pub cancelled: Arc<AtomicBool>,
    /// The context of its request.
    pub request: Arc<HttpRequestContext>,
}

/// All running queries, by an ascending number.
#[derive(Default)]
pub struct Register {
    inner: Mutex<RunningQueries>,
}

#[derive(Default)]
struct RunningQueries {
    last: u64,
    queries: BTreeMap<u64, Running>,
}

impl Register {
    fn lock(&self) -> MutexGuard<'_, RunningQueries> {
        // A panic cannot leave the list in an inconsistent state.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists a query until the returned value is dropped.
    pub fn enter(self: &Arc<Self>, query: Running) -> Ticket {
        let mut inner = self.lock();
        inner.last += 1;
        let number = inner.last;
        inner.queries.insert(number, query);
        Ticket { register: Arc::clone(self), number }
    }

    /// Returns the running queries, oldest first.
    pub fn list(&self) -> Vec<(u64, Running)> {
        self.lock().queries.iter().map(|(number, query)| (*number, query.clone())).collect()
    }

    /// Cancels the queries selected by `wanted`, and returns those that were not already cancelled.
    pub fn cancel(&self, wanted: impl Fn(u64, &Running) -> bool) -> Vec<(u64, Running)> {
        let mut queries = self.list();
        queries.retain(|(number, query)| wanted(*number, query) && !query.cancelled.swap(true, Ordering::Relaxed));
        queries
    }

    /// Cancels all queries.
    pub fn cancel_all(&self) {
        self.cancel(|_, _| true);
    }
}

/// A query's entry in the list, removed on drop.
pub struct Ticket {
    register: Arc<Register>,
    number: u64,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.register.lock().queries.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;

    use super::*;
    use crate::tokens::Bearer;

    #[test]
    fn a_query_is_listed_while_it_runs_and_can_be_stopped() {
        let register = Arc::new(Register::default());
        let cancelled = Arc::new(AtomicBool::new(false));
        let request = Arc::new(HttpRequestContext::new(&HeaderMap::new(), [192, 0, 2, 1].into(), Bearer::Anyone));
        let query = Running {
            since: SystemTime::now(),
            deadline: Instant::now(),
            allowed: Duration::from_secs(180),
            memory: 0,
            in_slot: true,
            cancelled: Arc::clone(&cancelled),
            request,
        };
        let ticket = register.enter(query);
        assert_eq!(register.list().len(), 1);
        assert!(register.cancel(|number, _| number != 1).is_empty() && !cancelled.load(Ordering::Relaxed));
        register.cancel_all();
        assert!(cancelled.load(Ordering::Relaxed));
        drop(ticket);
        assert!(register.list().is_empty());
    }
}
