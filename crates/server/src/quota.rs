//! Quotas of clients: concurrent queries, and seconds of work in a minute. A client's remaining seconds grow
//! continuously up to the full quota, and shrink while its queries run. An admitted query always runs to its end; if it
//! overdraws the quota, the client has to wait longer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::client::ClientKey;
use crate::rejected::Rejected;

/// The period of the quota, in seconds.
const MINUTE: f64 = 60.0;
/// Maximum number of clients in the table, some 100 bytes each. Clients with an unused quota need no entry.
const MOST_CLIENTS: usize = 1 << 16;

/// A client's use of its quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Number of its queries, running and waiting.
    pub queries: u32,
    /// How long it must wait for seconds of work; `None` if it has some.
    pub wait: Option<Duration>,
}

/// The quotas, and how much of them the clients have used.
pub struct Quota {
    queries: u32,
    seconds: u32,
    clients: Mutex<HashMap<ClientKey, Used>>,
}

#[derive(Debug, Clone, Copy)]
struct Used {
    /// Number of queries between admission and the end of their answers.
    queries: u32,
    /// Number of queries that a thread works on now.
    working: u32,
    /// Remaining seconds of work; negative if queries overdrew the quota.
    left: f64,
    /// The time that `left` refers to.
    at: Instant,
}

impl Quota {
    /// Creates quotas of `queries` concurrent queries and `seconds` of work in a minute for each client; 0 for no
    /// limit.
    pub fn new(queries: u32, seconds: u32) -> Self {
        Quota { queries, seconds, clients: Mutex::default() }
    }

    /// Returns the maximum number of concurrent queries of a client, if it is limited.
    pub fn queries(&self) -> Option<u32> {
        Some(self.queries).filter(|n| *n > 0)
    }

    /// Returns the number of clients in the table.
    pub fn clients(&self) -> usize {
        self.lock().len()
    }

    /// Admits a client's query, which counts until the returned value is dropped. Returns an error if the client is
    /// over its quota.
    pub fn admit(self: &Arc<Self>, client: &ClientKey) -> Result<Admission, Rejected> {
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
            return Err(Rejected::ClientQueries);
        }
        if let Some(wait) = self.wait(used) {
            return Err(Rejected::ClientSeconds(wait));
        }
        used.queries += 1;
        Ok(Admission(Some((Arc::clone(self), client.clone()))))
    }

    /// Returns a client's use of its quota.
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
        // Computed as if none of its queries ran. If some run, the real wait is longer, but this one is always finite.
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

    /// Removes clients with an unused quota from the table, and if that is not enough, idle clients that used least.
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
        // A panic cannot leave the table in an inconsistent state.
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An admitted query of a client.
pub struct Admission(Option<(Arc<Quota>, ClientKey)>);

impl Admission {
    /// Records that a thread works on the query, until the returned value is dropped.
    pub fn work(&self) -> Work {
        if let Some((quota, client)) = &self.0 {
            quota.change(client, |used| used.working += 1);
        }
        Work(self.0.clone())
    }

    /// Records that the query's thread waits for another host, until the returned value is dropped. This time does not
    /// count as work.
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

/// A thread that works for a client; ends on drop.
pub struct Work(Option<(Arc<Quota>, ClientKey)>);

impl Drop for Work {
    fn drop(&mut self) {
        if let Some((quota, client)) = &self.0 {
            quota.change(client, |used| used.working = used.working.saturating_sub(1));
        }
    }
}

/// A pause in the work for a client; ends on drop.
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
        assert_eq!(quota.admit(&ann).err(), Some(Rejected::ClientQueries));
        assert!(quota.admit(&bob).is_ok());
        assert_eq!(quota.left(&ann), Left { queries: 2, wait: None });
        drop(first);
        assert!(quota.admit(&ann).is_ok());
    }

    /// Moves a client's last change of its quota into the past by `seconds`.
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
        // Ten seconds of work; one second was regained meanwhile.
        back(10);
        drop(work);
        let Err(Rejected::ClientSeconds(wait)) = quota.admit(&ann) else { panic!("the client used all it has") };
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
        assert_eq!(quota.admit(&busy).err(), Some(Rejected::ClientQueries));
    }

    #[test]
    fn without_limits_nobody_is_remembered() {
        let quota = Arc::new(Quota::new(0, 0));
        let _admission = quota.admit(&client(1)).unwrap_or_else(|_| panic!("there is room"));
        assert_eq!((quota.clients(), quota.queries()), (0, None));
    }
}
