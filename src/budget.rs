//! What bounds a running query of either language: a deadline, a memory budget, a work budget, a client that went away.
//! Reaching one is an error that says which, never a shorter answer. Knows nothing of what a query is.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The bounds that the caller sets; a query's own settings may be tighter.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// No query runs past this moment.
    pub deadline: Option<Instant>,
    /// No query holds more than this many bytes.
    pub memory: Option<u64>,
    /// No query does more work than this. A unit is an element or a triple looked at: unlike time, the same on every
    /// machine.
    pub work: Option<u64>,
    /// Set when nobody waits for the answer any more.
    pub cancelled: Arc<AtomicBool>,
}

/// The bounds of one running query and what it has used of them.
#[derive(Debug)]
pub struct Budget {
    started: Instant,
    deadline: Option<Instant>,
    memory: u64,
    work: u64,
    work_done: AtomicU64,
    cancelled: Arc<AtomicBool>,
}

/// The bound that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exceeded {
    /// Nobody waits for the answer any more.
    Cancelled,
    /// The deadline, after so long.
    Time(Duration),
    /// The work budget, of so many units.
    Work(u64),
    /// The memory budget, with so many bytes asked for.
    Memory(u64),
}

impl Exceeded {
    /// A stable name for programs: `cancelled`, `timeout`, `work` or `memory`.
    pub fn code(self) -> &'static str {
        match self {
            Exceeded::Cancelled => "cancelled",
            Exceeded::Time(_) => "timeout",
            Exceeded::Work(_) => "work",
            Exceeded::Memory(_) => "memory",
        }
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exceeded::Cancelled => write!(f, "the query was cancelled"),
            Exceeded::Time(after) => write!(f, "the query timed out after {} seconds", after.as_secs()),
            Exceeded::Work(units) => write!(f, "the query ran out of its work budget of {units} units"),
            Exceeded::Memory(bytes) => write!(f, "the query ran out of memory, needing about {} MB", bytes >> 20),
        }
    }
}

impl std::error::Error for Exceeded {}

impl Budget {
    /// The caller's bounds. The clock starts now.
    pub fn new(limits: &Limits) -> Budget {
        Budget {
            started: Instant::now(),
            deadline: limits.deadline,
            memory: limits.memory.unwrap_or(u64::MAX),
            work: limits.work.unwrap_or(u64::MAX),
            work_done: AtomicU64::new(0),
            cancelled: limits.cancelled.clone(),
        }
    }

    /// Tightens the bounds: at most `time` from the start, at most `memory` bytes.
    pub fn tighten(mut self, time: Duration, memory: u64) -> Budget {
        let own = self.started.checked_add(time);
        self.deadline = match (self.deadline, own) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.memory = self.memory.min(memory);
        self
    }

    /// Whether the query may go on: cheap enough to ask once a page, or every thousand triples.
    pub fn check(&self) -> Result<(), Exceeded> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Exceeded::Cancelled);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Exceeded::Time(self.started.elapsed()));
        }
        Ok(())
    }

    /// Counts work, then [`Budget::check`]s.
    pub fn work(&self, units: u64) -> Result<(), Exceeded> {
        let done = self.work_done.fetch_add(units, Ordering::Relaxed).saturating_add(units);
        if done > self.work { Err(Exceeded::Work(self.work)) } else { self.check() }
    }

    /// The units of work so far.
    pub fn work_done(&self) -> u64 {
        self.work_done.load(Ordering::Relaxed)
    }

    /// Fails where `bytes` are more than the query may hold.
    pub fn memory(&self, bytes: u64) -> Result<(), Exceeded> {
        if bytes <= self.memory { Ok(()) } else { Err(Exceeded::Memory(bytes)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_which_bound_was_reached() {
        let limits = Limits { work: Some(10), memory: Some(5 << 20), ..Limits::default() };
        let budget = Budget::new(&limits);
        assert_eq!(budget.work(10), Ok(()));
        assert_eq!(budget.work(1), Err(Exceeded::Work(10)));
        assert_eq!(budget.memory(5 << 20), Ok(()));
        assert_eq!(budget.memory(6 << 20), Err(Exceeded::Memory(6 << 20)));
        assert_eq!(budget.check(), Ok(()));
        let budget = budget.tighten(Duration::ZERO, 1);
        assert_eq!(budget.check().map_err(Exceeded::code), Err("timeout"));
        assert_eq!(budget.memory(2), Err(Exceeded::Memory(2)));
        limits.cancelled.store(true, Ordering::Relaxed);
        assert_eq!(budget.check(), Err(Exceeded::Cancelled));
    }
}
