//! Lists the calls that run or wait, so that clients can cancel them.

use crate::rejected::Rejected;
use crate::reply::Reply;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// A call: its session and the id that the client gave it, as JSON.
pub type CallName = (String, String);

/// All calls that run or wait, by name.
#[derive(Default)]
pub struct Calls(Mutex<HashMap<CallName, Arc<Notify>>>);

impl Calls {
    fn lock(&self) -> MutexGuard<'_, HashMap<CallName, Arc<Notify>>> {
        // Every change is a single operation: a panic leaves a consistent state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cancels a call; has no effect if no call has this name.
    pub fn cancel(&self, name: &CallName) {
        if let Some(cancelled) = self.lock().get(name) {
            cancelled.notify_one();
        }
    }
}

/// A call while it runs or waits; it is removed from the list when this is dropped.
pub struct RunningCall {
    calls: Arc<Calls>,
    name: Option<CallName>,
    cancelled: Arc<Notify>,
}

impl RunningCall {
    /// Lists a call, if its client can name it.
    pub fn new(calls: &Arc<Calls>, name: Option<CallName>) -> RunningCall {
        let cancelled = Arc::new(Notify::new());
        if let Some(name) = &name {
            calls.lock().insert(name.clone(), Arc::clone(&cancelled));
        }
        RunningCall { calls: Arc::clone(calls), name, cancelled }
    }

    /// Returns when the call is cancelled.
    pub async fn cancelled(&self) {
        self.cancelled.notified().await;
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        let Some(name) = &self.name else { return };
        let mut calls = self.calls.lock();
        // If the client reused the name, the list contains the newer call.
        if calls.get(name).is_some_and(|listed| Arc::ptr_eq(listed, &self.cancelled)) {
            calls.remove(name);
        }
    }
}

/// Returns the reason why a call has no result, written for the model.
pub fn no_slot(done: &Result<Option<Reply>, Rejected>) -> &'static str {
    match done {
        Err(Rejected::QueueFull) => "the queue is full: retry in a few seconds",
        Err(Rejected::QueueTimeout) => "no slot became free in time: retry in a few seconds",
        Err(Rejected::GoingDown) => "the server is shutting down",
        _ => "the request failed: see the server's log",
    }
}
