//! How many requests of a kind are worked on at once, how many wait for their turn and for how long, and whose turn it
//! is: clients take turns, so that one with many waiting holds up itself and nobody else.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::client::ClientKey;

/// Why a request was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Too many wait already.
    Full,
    /// No slot came free in time.
    TooLong,
    /// The server is going down.
    Closed,
}

/// Lets requests in: of the clients that wait one after another, of one client's requests the oldest first.
pub struct Gate {
    inner: Arc<Inner>,
    total: usize,
    max_waiting: usize,
    queue_timeout: Duration,
}

struct Inner {
    state: Mutex<State>,
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is made in one go: nothing in here can be left half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct State {
    /// Above 0 only while nobody waits.
    free: usize,
    closed: bool,
    /// The next place's number.
    next: u64,
    waiting: usize,
    /// What each client has waiting, oldest first; no client with nothing.
    queues: HashMap<ClientKey, VecDeque<QueuedRequest>>,
    /// The clients that wait, the one whose turn it is first.
    turns: VecDeque<ClientKey>,
}

/// A request that waits.
struct QueuedRequest {
    number: u64,
    tell: oneshot::Sender<Result<Slot, Refusal>>,
}

impl State {
    /// Takes whoever's turn it is out of the queue.
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

    /// Takes a place out of a client's queue; nothing where it is not there any more.
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

    /// Makes room for one more of this client's where another client has at least two places more: the newest of the
    /// client that has the most.
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

/// A place among those that are worked on; free again when this is dropped.
pub struct Slot(Option<Arc<Inner>>);

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Slot")
    }
}

impl Drop for Slot {
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
            match next.tell.send(Ok(Slot(Some(Arc::clone(&inner))))) {
                Ok(()) => return,
                // Whoever waited has just left: the next one. The slot in hand is this one, not one more.
                Err(Ok(mut slot)) => slot.0 = None,
                Err(Err(_)) => {}
            }
        }
    }
}

impl Gate {
    /// A gate for `total` requests at once and `max_waiting` behind them, each waiting `queue_timeout` at most.
    pub fn new(total: usize, max_waiting: usize, queue_timeout: Duration) -> Self {
        let state =
            State { free: total, closed: false, next: 0, waiting: 0, queues: HashMap::new(), turns: VecDeque::new() };
        Gate { inner: Arc::new(Inner { state: Mutex::new(state) }), total, max_waiting, queue_timeout }
    }

    /// Waits for a slot.
    ///
    /// # Errors
    /// Nobody is let in any more, too many wait already, or it took too long.
    pub async fn enter(&self, client: &ClientKey) -> Result<Slot, Refusal> {
        let (number, told) = {
            let mut state = self.inner.lock();
            if state.closed {
                return Err(Refusal::Closed);
            }
            if state.free > 0 {
                state.free -= 1;
                return Ok(Slot(Some(Arc::clone(&self.inner))));
            }
            if state.waiting >= self.max_waiting {
                let Some(displaced) = state.displace_for(client) else { return Err(Refusal::Full) };
                let _ = displaced.tell.send(Err(Refusal::Full));
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
        // Given up when dropped: also when the client goes away while it waits.
        let _place = Waiting { gate: self, client, number };
        match tokio::time::timeout(self.queue_timeout, told).await {
            Ok(Ok(told)) => told,
            Ok(Err(_)) => Err(Refusal::Closed),
            Err(_) => Err(Refusal::TooLong),
        }
    }

    /// Lets nobody in any more, and sends those away who wait.
    pub fn close(&self) {
        let waiting = {
            let mut state = self.inner.lock();
            state.closed = true;
            state.waiting = 0;
            state.turns.clear();
            std::mem::take(&mut state.queues)
        };
        for place in waiting.into_values().flatten() {
            let _ = place.tell.send(Err(Refusal::Closed));
        }
    }

    /// Whether it was not closed yet.
    pub fn is_open(&self) -> bool {
        !self.inner.lock().closed
    }

    /// Requests that may be worked on at once.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Slots that are free now.
    pub fn free(&self) -> usize {
        self.inner.lock().free
    }

    /// Requests that wait now.
    pub fn waiting(&self) -> usize {
        self.inner.lock().waiting
    }
}

/// A place in the queue.
struct Waiting<'a> {
    gate: &'a Gate,
    client: &'a ClientKey,
    number: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let place = self.gate.inner.lock().take(self.client, self.number);
        // Not under the lock: a slot may be on its way in it.
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
        assert_eq!(second.unwrap_err(), Refusal::TooLong);
        assert_eq!(third.unwrap_err(), Refusal::Full);
        assert_eq!((gate.waiting(), gate.free()), (0, 0));
        drop(running);
        assert!(gate.enter(&a).await.is_ok());
        assert_eq!(gate.free(), 1);
        gate.close();
        assert_eq!(gate.enter(&a).await.unwrap_err(), Refusal::Closed);
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
        assert_eq!(last.unwrap_err(), Refusal::Full, "the newest of the longest queue");
        assert!(first.is_ok(), "its turn came first");
        // The first one's slot was kept until both were done.
        assert_eq!(second.unwrap_err(), Refusal::TooLong);
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
            // It has the slot now and never looks.
            assert_eq!((gate.waiting(), gate.free()), (0, 0));
        }
        assert_eq!(gate.free(), 1);
    }

    fn futures_poll<F: Future + Unpin>(future: &mut F) -> std::task::Poll<F::Output> {
        std::pin::Pin::new(future).poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
    }
}
