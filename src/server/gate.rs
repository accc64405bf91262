//! How many queries run at once, how many wait for their turn, and how long they may.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

/// Why a query was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Too many wait already.
    Full,
    /// No slot came free in time.
    TooLong,
    /// The server is going down.
    Closed,
}

/// Lets queries in, first come, first served.
pub struct Gate {
    slots: Arc<Semaphore>,
    total: usize,
    waiting: AtomicUsize,
    max_waiting: usize,
    patience: Duration,
}

impl Gate {
    /// A gate for `total` queries at once and `max_waiting` behind them, each waiting `patience` at most.
    pub fn new(total: usize, max_waiting: usize, patience: Duration) -> Self {
        let slots = Arc::new(Semaphore::new(total));
        Gate { slots, total, waiting: AtomicUsize::new(0), max_waiting, patience }
    }

    /// Waits for a slot; it is free again when what this returns is dropped.
    pub async fn enter(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        match Arc::clone(&self.slots).try_acquire_owned() {
            Ok(permit) => return Ok(permit),
            Err(TryAcquireError::Closed) => return Err(Refusal::Closed),
            Err(TryAcquireError::NoPermits) => {}
        }
        // Counted before it is compared, so that no two take the last place.
        let place = Waiting::join(&self.waiting);
        if place.position > self.max_waiting {
            return Err(Refusal::Full);
        }
        match tokio::time::timeout(self.patience, Arc::clone(&self.slots).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) => Err(Refusal::Closed),
            Err(_) => Err(Refusal::TooLong),
        }
    }

    /// Lets nobody in any more, and sends those away who wait.
    pub fn close(&self) {
        self.slots.close();
    }

    /// Whether it was not closed yet.
    pub fn is_open(&self) -> bool {
        !self.slots.is_closed()
    }

    /// Queries that may run at once.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Slots that are free now.
    pub fn free(&self) -> usize {
        self.slots.available_permits()
    }

    /// Queries that wait now.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

/// A place in the queue, given up when dropped: also when the client goes away while it waits.
struct Waiting<'a> {
    counter: &'a AtomicUsize,
    position: usize,
}

impl<'a> Waiting<'a> {
    fn join(counter: &'a AtomicUsize) -> Self {
        let position = counter.fetch_add(1, Ordering::Relaxed) + 1;
        Waiting { counter, position }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.counter.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_queue_is_bounded_in_length_and_time() {
        let gate = Gate::new(1, 1, Duration::from_millis(20));
        let running = gate.enter().await.unwrap();
        let (second, third) = tokio::join!(gate.enter(), gate.enter());
        assert_eq!(second.unwrap_err(), Refusal::TooLong);
        assert_eq!(third.unwrap_err(), Refusal::Full);
        assert_eq!((gate.waiting(), gate.free()), (0, 0));
        drop(running);
        assert!(gate.enter().await.is_ok());
        gate.close();
        assert_eq!(gate.enter().await.unwrap_err(), Refusal::Closed);
    }
}
