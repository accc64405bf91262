//! Admission: limits how many requests of a kind run at once, how many wait in the queue and for how long. Clients take
//! turns, so that a client with many waiting requests delays only itself.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::client::ClientKey;
use crate::rejected::Rejected;

/// A gate with a fixed number of slots. Waiting clients are served in turn, and the requests of one client in order of
/// arrival.
pub struct Gate {
    inner: Arc<GateLock>,
    total: usize,
    max_waiting: usize,
    queue_timeout: Duration,
}

struct GateLock {
    state: Mutex<GateState>,
}

impl GateLock {
    fn lock(&self) -> MutexGuard<'_, GateState> {
        // Every change is complete before a panic can occur: the state is always consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct GateState {
    /// Number of free slots; above 0 only while no request waits.
    free: usize,
    closed: bool,
    /// The number of the next queue entry.
    next: u64,
    waiting: usize,
    /// The waiting requests of each client, oldest first. Clients without any are removed.
    queues: HashMap<ClientKey, VecDeque<QueuedRequest>>,
    /// The clients with waiting requests, in the order of their turns.
    turns: VecDeque<ClientKey>,
}

/// A request in the queue.
struct QueuedRequest {
    number: u64,
    tell: oneshot::Sender<Result<GateSlot, Rejected>>,
}

impl GateState {
    /// Removes the next request from the queue and returns it.
    fn take_next(&mut self) -> Option<QueuedRequest> {
        let client = self.turns.pop_front()?;
        let queue = self.queues.get_mut(&client)?;
        let place = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(&client);
        } else {
            self.turns.push_back(client);
        }
        self.waiting -= usize::from(place.is_some());
        place
    }

    /// Removes a request from a client's queue; returns `None` if it is no longer there.
    fn take(&mut self, client: &ClientKey, number: u64) -> Option<QueuedRequest> {
        let queue = self.queues.get_mut(client)?;
        let at = queue.iter().position(|place| place.number == number)?;
        let place = queue.remove(at);
        if queue.is_empty() {
            self.queues.remove(client);
            self.turns.retain(|other| other != client);
        }
        self.waiting -= usize::from(place.is_some());
        place
    }

    /// Makes room for a request of `client` if another client has at least two more requests waiting. Removes the
    /// newest request of the client with the most.
    fn displace_for(&mut self, client: &ClientKey) -> Option<QueuedRequest> {
        let own = self.queues.get(client).map_or(0, VecDeque::len);
        let (longest, queue) = self.queues.iter().max_by_key(|(_, queue)| queue.len())?;
        if queue.len() < own + 2 {
            return None;
        }
        let (longest, number) = (longest.clone(), queue.back()?.number);
        self.take(&longest, number)
    }
}

/// A slot for a running request; freed on drop.
pub struct GateSlot(Option<Arc<GateLock>>);

impl std::fmt::Debug for GateSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Slot")
    }
}

impl Drop for GateSlot {
    fn drop(&mut self) {
        let Some(inner) = self.0.take() else { return };
        loop {
            let next = {
                let mut state = inner.lock();
                match state.take_next() {
                    Some(next) => next,
                    None => {
                        state.free += 1;
                        return;
                    }
                }
            };
            match next.tell.send(Ok(GateSlot(Some(Arc::clone(&inner))))) {
                Ok(()) => return,
                // The request has just left the queue: take the next one. The returned slot is this one, and must not
                // be freed in addition.
                Err(Ok(mut slot)) => slot.0 = None,
                Err(Err(_)) => {}
            }
        }
    }
}

impl Gate {
    /// Creates a gate with `total` slots and a queue of `max_waiting` requests, each waiting at most `queue_timeout`.
    pub fn new(total: usize, max_waiting: usize, queue_timeout: Duration) -> Self {
        let state = GateState {
            free: total,
            closed: false,
            next: 0,
            waiting: 0,
            queues: HashMap::new(),
            turns: VecDeque::new(),
        };
        Gate { inner: Arc::new(GateLock { state: Mutex::new(state) }), total, max_waiting, queue_timeout }
    }

    /// Waits for a slot and returns it.
    ///
    /// # Errors
    /// Returns an error if the gate is closed, the queue is full, or no slot became free within the queue timeout.
    pub async fn enter(&self, client: &ClientKey) -> Result<GateSlot, Rejected> {
        let (number, told) = {
            let mut state = self.inner.lock();
            if state.closed {
                return Err(Rejected::GoingDown);
            }
            if state.free > 0 {
                state.free -= 1;
                return Ok(GateSlot(Some(Arc::clone(&self.inner))));
            }
            if state.waiting >= self.max_waiting {
                let Some(displaced) = state.displace_for(client) else { return Err(Rejected::QueueFull) };
                let _ = displaced.tell.send(Err(Rejected::QueueFull));
            }
            let (tell, told) = oneshot::channel();
            let number = state.next;
            state.next += 1;
            state.waiting += 1;
            if !state.queues.contains_key(client) {
                state.turns.push_back(client.clone());
            }
            state.queues.entry(client.clone()).or_default().push_back(QueuedRequest { number, tell });
            (number, told)
        };
        // Removes the queue entry on drop, also if the client disconnects while it waits.
        let _place = QueueWaiter { gate: self, client, number };
        match tokio::time::timeout(self.queue_timeout, told).await {
            Ok(Ok(told)) => told,
            Ok(Err(_)) => Err(Rejected::GoingDown),
            Err(_) => Err(Rejected::QueueTimeout),
        }
    }

    /// Closes the gate: admits no more requests and rejects those in the queue.
    pub fn close(&self) {
        let waiting = {
            let mut state = self.inner.lock();
            state.closed = true;
            state.waiting = 0;
            state.turns.clear();
            std::mem::take(&mut state.queues)
        };
        for place in waiting.into_values().flatten() {
            let _ = place.tell.send(Err(Rejected::GoingDown));
        }
    }

    /// Returns whether the gate is open.
    pub fn is_open(&self) -> bool {
        !self.inner.lock().closed
    }

    /// Returns the number of slots.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Returns the number of free slots.
    pub fn free(&self) -> usize {
        self.inner.lock().free
    }

    /// Returns the number of waiting requests.
    pub fn waiting(&self) -> usize {
        self.inner.lock().waiting
    }
}

/// An entry in the queue, removed on drop.
struct QueueWaiter<'a> {
    gate: &'a Gate,
    client: &'a ClientKey,
    number: u64,
}

impl Drop for QueueWaiter<'_> {
    fn drop(&mut self) {
        let place = self.gate.inner.lock().take(self.client, self.number);
        // Dropped without the lock, because the entry may hold a slot, which takes the lock on drop.
        drop(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(name: &str) -> ClientKey {
        ClientKey(name.into())
    }

    #[tokio::test]
    async fn the_queue_is_bounded_in_length_and_time() {
        let gate = Gate::new(1, 1, Duration::from_millis(20));
        let a = client("a");
        let running = gate.enter(&a).await.unwrap();
        let (second, third) = tokio::join!(gate.enter(&a), gate.enter(&a));
        assert_eq!(second.unwrap_err(), Rejected::QueueTimeout);
        assert_eq!(third.unwrap_err(), Rejected::QueueFull);
        assert_eq!((gate.waiting(), gate.free()), (0, 0));
        drop(running);
        assert!(gate.enter(&a).await.is_ok());
        assert_eq!(gate.free(), 1);
        gate.close();
        assert_eq!(gate.enter(&a).await.unwrap_err(), Rejected::GoingDown);
    }

    #[tokio::test]
    async fn clients_take_turns() {
        let gate = Arc::new(Gate::new(1, 64, Duration::from_secs(10)));
        let running = gate.enter(&client("many")).await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for (name, count) in [("many", 60), ("few", 2), ("one", 1)] {
            for _ in 0..count {
                let (gate, order) = (Arc::clone(&gate), Arc::clone(&order));
                tasks.push(tokio::spawn(async move {
                    let slot = gate.enter(&client(name)).await.unwrap();
                    order.lock().unwrap().push(name);
                    drop(slot);
                }));
                tokio::task::yield_now().await;
            }
        }
        assert_eq!(gate.waiting(), 63);
        drop(running);
        for task in tasks {
            task.await.unwrap();
        }
        let order = order.lock().unwrap();
        assert_eq!(order[..6], ["many", "few", "one", "many", "few", "many"]);
        assert_eq!(order.len(), 63);
        assert_eq!((gate.waiting(), gate.free()), (0, 1));
    }

    #[tokio::test]
    async fn a_client_that_fills_the_queue_makes_room_for_others() {
        let gate = Gate::new(1, 4, Duration::from_millis(50));
        let (many, other) = (client("many"), client("other"));
        let running = gate.enter(&many).await.unwrap();
        let waiting =
            async { tokio::join!(gate.enter(&many), gate.enter(&many), gate.enter(&many), gate.enter(&many)) };
        let ((first, _, _, last), second) = tokio::join!(waiting, async {
            let second = gate.enter(&other);
            let freed = async {
                tokio::task::yield_now().await;
                drop(running);
            };
            tokio::join!(second, freed).0
        });
        assert_eq!(last.unwrap_err(), Rejected::QueueFull, "the newest of the longest queue");
        assert!(first.is_ok(), "its turn came first");
        // The first request's slot was held until both ended.
        assert_eq!(second.unwrap_err(), Rejected::QueueTimeout);
    }

    #[tokio::test]
    async fn whoever_leaves_gives_its_place_and_its_slot_back() {
        let gate = Gate::new(1, 4, Duration::from_secs(10));
        let a = client("a");
        let running = gate.enter(&a).await.unwrap();
        {
            let mut leaving = Box::pin(gate.enter(&a));
            assert!(futures_poll(&mut leaving).is_pending());
            assert_eq!(gate.waiting(), 1);
            drop(running);
            // The future has received the slot, but is not polled again.
            assert_eq!((gate.waiting(), gate.free()), (0, 0));
        }
        assert_eq!(gate.free(), 1);
    }

    fn futures_poll<F: Future + Unpin>(future: &mut F) -> std::task::Poll<F::Output> {
        std::pin::Pin::new(future).poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
    }
}
