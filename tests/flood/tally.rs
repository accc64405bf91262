//! Collects durations and statuses of many requests.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::client::Answered;

#[derive(Default)]
pub struct Tally(Mutex<ResponseTally>);

#[derive(Default)]
struct ResponseTally {
    took: Vec<Duration>,
    statuses: BTreeMap<String, u64>,
}

impl Tally {
    fn lock(&self) -> MutexGuard<'_, ResponseTally> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn add(&self, answered: Option<Answered>, took: Duration) {
        let mut counts = self.lock();
        let what = match answered {
            None => "none".to_owned(),
            Some(Answered { status, as_expected: false, .. }) => format!("{status} with another body"),
            Some(Answered { status, whole: true, .. }) => status.to_string(),
            Some(Answered { status, whole: false, .. }) => format!("{status} broken off"),
        };
        if what == "200" {
            counts.took.push(took);
        }
        *counts.statuses.entry(what).or_default() += 1;
    }

    /// Returns the duration that this many thousandths of the responses with status 200 do not exceed.
    pub fn at(&self, thousandths: usize) -> Duration {
        let mut counts = self.lock();
        counts.took.sort_unstable();
        let last = counts.took.len().saturating_sub(1);
        counts.took.get((counts.took.len() * thousandths / 1000).min(last)).copied().unwrap_or_default()
    }

    /// Returns the number of requests with this status.
    pub fn count(&self, status: &str) -> u64 {
        self.lock().statuses.get(status).copied().unwrap_or_default()
    }

    /// Returns the statuses that are not among the expected ones.
    pub fn besides(&self, expected: &[&str]) -> Vec<String> {
        self.lock().statuses.keys().filter(|status| !expected.contains(&status.as_str())).cloned().collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |thousandths| self.at(thousandths).as_secs_f64() * 1e3;
        write!(f, "p50 {:>8.1} ms  p99 {:>8.1} ms  max {:>8.1} ms ", ms(500), ms(990), ms(1000))?;
        for (status, count) in &self.lock().statuses {
            write!(f, "  {status}: {count}")?;
        }
        Ok(())
    }
}
