//! How much one client may ask for: queries at once, and seconds of work in a minute. What a client has left of its
//! seconds grows by the second up to all of them, and shrinks while its queries run: a query that was let in runs to its
//! end, and what it took too much is made up for by waiting.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::client::ClientKey;

/// The time in which a client may use up its seconds.
const MINUTE: f64 = 60.0;
/// Clients that are remembered, some 100 bytes each. Whoever has all of its allowance need not be.
const MOST_CLIENTS: usize = 1 << 16;

/// Why a client must wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// It has as many queries as it may.
    Queries,
    /// It used up its seconds, and has some again after so long.
    Seconds(Duration),
}

/// What a client has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Queries that it has now, running and waiting.
    pub queries: u32,
    /// How long it must wait for seconds of work; none where it has some.
    pub wait: Option<Duration>,
}

/// The limits, and what clients used of them.
pub struct Quota {
    queries: u32,
    seconds: u32,
    clients: Mutex<HashMap<ClientKey, Used>>,
}

#[derive(Debug, Clone, Copy)]
struct Used {
    /// Queries from their admission to the end of their answers.
    queries: u32,
    /// Queries at which a thread works now.
    working: u32,
    /// Seconds of work that are left; less than none where queries took more.
    left: f64,
    /// When that was so.
    at: Instant,
}

impl Quota {
    /// Lets a client have `queries` at once and `seconds` of work in a minute, any number where 0.
    pub fn new(queries: u32, seconds: u32) -> Self {
        Quota { queries, seconds, clients: Mutex::default() }
    }

    /// Queries that a client may have at once, where that is limited.
    pub fn queries(&self) -> Option<u32> {
        Some(self.queries).filter(|n| *n > 0)
    }

    /// Clients that are remembered now.
    pub fn clients(&self) -> usize {
        self.lock().len()
    }

    /// Lets a client's query in; it counts until what this returns is dropped.
    pub fn admit(self: &Arc<Self>, client: &ClientKey) -> Result<Admission, Exceeded> {
        if self.queries == 0 && self.seconds == 0 {
            return Ok(Admission(None));
        }
        let now = Instant::now();
        let mut clients = self.lock();
        if clients.len() >= MOST_CLIENTS && !clients.contains_key(client) {
            self.forget(&mut clients, now);
        }
        let used = clients.entry(client.clone()).or_insert_with(|| self.unused(now));
        self.settle(used, now);
        if self.queries > 0 && used.queries >= self.queries {
            return Err(Exceeded::Queries);
        }
        if let Some(wait) = self.wait(used) {
            return Err(Exceeded::Seconds(wait));
        }
        used.queries += 1;
        Ok(Admission(Some((Arc::clone(self), client.clone()))))
    }

    /// What a client has left.
    pub fn left(&self, client: &ClientKey) -> Left {
        let now = Instant::now();
        let used = self.lock().get(client).copied();
        used.map_or(Left { queries: 0, wait: None }, |mut used| {
            self.settle(&mut used, now);
            Left { queries: used.queries, wait: self.wait(&used) }
        })
    }

    fn unused(&self, now: Instant) -> Used {
        Used { queries: 0, working: 0, left: self.seconds.into(), at: now }
    }

    fn settle(&self, used: &mut Used, now: Instant) {
        let all = f64::from(self.seconds);
        let passed = now.saturating_duration_since(used.at).as_secs_f64();
        used.left = (used.left + passed * (all / MINUTE - f64::from(used.working))).min(all);
        used.at = now;
    }

    fn wait(&self, used: &Used) -> Option<Duration> {
        if self.seconds == 0 || used.left > 0.0 {
            return None;
        }
        // As if nothing ran: a shorter wait than where something does, but never for ever.
        let seconds = -used.left * MINUTE / f64::from(self.seconds);
        Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    }

    fn change(&self, client: &ClientKey, change: impl FnOnce(&mut Used)) {
        let now = Instant::now();
        if let Some(used) = self.lock().get_mut(client) {
            self.settle(used, now);
            change(used);
        }
    }

    /// Makes room: forgets those who have all that they may have, and, where that is not enough, those who used least.
    fn forget(&self, clients: &mut HashMap<ClientKey, Used>, now: Instant) {
        let all = f64::from(self.seconds);
        clients.retain(|_, used| {
            self.settle(used, now);
            used.queries > 0 || used.working > 0 || used.left < all
        });
        if clients.len() < MOST_CLIENTS {
            return;
        }
        let mut idle: Vec<(ClientKey, f64)> = clients
            .iter()
            .filter(|(_, used)| used.queries == 0 && used.working == 0)
            .map(|(client, used)| (client.clone(), used.left))
            .collect();
        idle.sort_unstable_by(|(_, a), (_, b)| b.total_cmp(a));
        for (client, _) in idle.iter().take(MOST_CLIENTS / 4) {
            clients.remove(client);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ClientKey, Used>> {
        // Nothing in here can be left half done.
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client's query that was let in.
pub struct Admission(Option<(Arc<Quota>, ClientKey)>);

impl Admission {
    /// A thread works at it, until what this returns is dropped.
    pub fn work(&self) -> Work {
        if let Some((quota, client)) = &self.0 {
            quota.change(client, |used| used.working += 1);
        }
        Work(self.0.clone())
    }

    /// Its thread waits for somebody else, until what this returns is dropped: that is no work.
    pub fn wait(&self) -> Wait {
        if let Some((quota, client)) = &self.0 {
            quota.change(client, |used| used.working = used.working.saturating_sub(1));
        }
        Wait(self.0.clone())
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        if let Some((quota, client)) = &self.0 {
            quota.change(client, |used| used.queries = used.queries.saturating_sub(1));
        }
    }
}

/// A thread that works for a client.
pub struct Work(Option<(Arc<Quota>, ClientKey)>);

impl Drop for Work {
    fn drop(&mut self) {
        if let Some((quota, client)) = &self.0 {
            quota.change(client, |used| used.working = used.working.saturating_sub(1));
        }
    }
}

/// A thread that works for a client and waits meanwhile.
pub struct Wait(Option<(Arc<Quota>, ClientKey)>);

impl Drop for Wait {
    fn drop(&mut self) {
        if let Some((quota, client)) = &self.0 {
            quota.change(client, |used| used.working += 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn client(number: u32) -> ClientKey {
        ClientKey::of_address(IpAddr::V4(Ipv4Addr::from_bits(number)))
    }

    #[test]
    fn a_client_has_so_many_queries_at_once() {
        let quota = Arc::new(Quota::new(2, 0));
        let (ann, bob) = (client(1), client(2));
        let first = quota.admit(&ann).unwrap_or_else(|_| panic!("there is room"));
        let _second = quota.admit(&ann).unwrap_or_else(|_| panic!("there is room"));
        assert_eq!(quota.admit(&ann).err(), Some(Exceeded::Queries));
        assert!(quota.admit(&bob).is_ok());
        assert_eq!(quota.left(&ann), Left { queries: 2, wait: None });
        drop(first);
        assert!(quota.admit(&ann).is_ok());
    }

    /// Puts what a client last used so many seconds back.
    fn earlier(quota: &Quota, client: &ClientKey, seconds: u64) {
        let mut clients = quota.lock();
        let used = clients.get_mut(client).unwrap();
        used.at = used.at.checked_sub(Duration::from_secs(seconds)).unwrap();
    }

    #[test]
    fn seconds_are_used_while_work_is_done_and_come_back_over_a_minute() {
        let quota = Arc::new(Quota::new(0, 6));
        let ann = client(1);
        let admission = quota.admit(&ann).unwrap_or_else(|_| panic!("there is room"));
        let work = admission.work();
        let back = |seconds| earlier(&quota, &ann, seconds);
        // Ten seconds of work, during which one second came back.
        back(10);
        drop(work);
        let Err(Exceeded::Seconds(wait)) = quota.admit(&ann) else { panic!("the client used all it has") };
        assert!((29.0..31.0).contains(&wait.as_secs_f64()), "{wait:?}");
        assert!(quota.left(&ann).wait.is_some());
        back(31);
        assert!(quota.admit(&ann).is_ok());
        back(10_000);
        drop(admission);
        assert!((quota.lock()[&ann].left - 6.0).abs() < 0.1, "no more than all of it");
    }

    #[test]
    fn waiting_for_somebody_else_is_no_work() {
        let quota = Arc::new(Quota::new(0, 6));
        let ann = client(1);
        let admission = quota.admit(&ann).unwrap_or_else(|_| panic!("there is room"));
        let work = admission.work();
        let back = |seconds| earlier(&quota, &ann, seconds);
        let wait = admission.wait();
        back(100);
        drop(wait);
        assert!((quota.lock()[&ann].left - 6.0).abs() < 0.1, "nothing was used");
        back(5);
        drop(work);
        assert!((quota.lock()[&ann].left - 1.5).abs() < 0.1, "five seconds of work, half of one came back");
        assert_eq!(quota.lock()[&ann].working, 0);
    }

    #[test]
    fn the_table_is_bounded_and_who_runs_something_is_not_forgotten() {
        let quota = Arc::new(Quota::new(1, 60));
        let busy = client(0);
        let _admission = quota.admit(&busy).unwrap_or_else(|_| panic!("there is room"));
        for number in 1..MOST_CLIENTS as u32 * 2 {
            let admission = quota.admit(&client(number)).unwrap_or_else(|_| panic!("there is room"));
            let _work = admission.work();
        }
        assert!(quota.clients() <= MOST_CLIENTS);
        assert_eq!(quota.admit(&busy).err(), Some(Exceeded::Queries));
    }

    #[test]
    fn without_limits_nobody_is_remembered() {
        let quota = Arc::new(Quota::new(0, 0));
        let _admission = quota.admit(&client(1)).unwrap_or_else(|_| panic!("there is room"));
        assert_eq!((quota.clients(), quota.queries()), (0, None));
    }
}
