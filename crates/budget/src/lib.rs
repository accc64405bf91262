//! Limits a running query of either language: a deadline, a memory budget, a work budget, and cancellation when the
//! client disconnects. If a limit is reached, the query fails with an error that names it; the answer is never cut
//! short. It does not know the query languages.
//!
//! Memory has two limits. The engines' own count ([`Budget::memory`]) depends only on the query and the data. The
//! allocator counts the actual memory ([`crate::memory`]), so that no allocation is missed.
//!
//! [`watched`] runs work within a budget. Work that can return an error checks the budget itself. All other work, such
//! as functions of values, comparisons of a sort and loops of the evaluator, calls [`checkpoint`] at each step and
//! [`charge`] before a large allocation. If a limit is reached, these unwind, and [`watched`] catches the panic.

mod codes;
pub mod memory;

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use memory::Account;

/// The caller's limits. A query's own settings may be tighter.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// The time at which queries are stopped.
    pub deadline: Option<Instant>,
    /// The maximum memory of a query, in bytes.
    pub memory: Option<u64>,
    /// Memory that already counts as the query's, such as its text; `None` if there is no such memory.
    pub account: Option<Arc<Account>>,
    /// The maximum work of a query. One unit is one element or triple that is read. Unlike time, it is the same on
    /// every machine.
    pub work: Option<u64>,
    /// Set when the client no longer waits for the answer.
    pub cancelled: Arc<AtomicBool>,
    /// The counter to which each query adds its work when it ends, whether it succeeded or was stopped.
    pub work_done: Arc<AtomicU64>,
    /// Whether a query stops, as if its time were up, before it waits for the work of other threads
    /// ([`before_waiting`]).
    pub impatient: bool,
}

/// The limits of one running query and its use of them.
#[derive(Debug)]
pub struct Budget {
    started: Instant,
    deadline: Option<Instant>,
    /// The memory limit of the engines' own count, in bytes.
    memory: u64,
    /// The limit of actual memory, in bytes.
    allocated: u64,
    account: Arc<Account>,
    work: u64,
    work_done: AtomicU64,
    cancelled: Arc<AtomicBool>,
    total: Arc<AtomicU64>,
    impatient: bool,
}

/// The limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExceededLimit {
    /// The client no longer waits for the answer.
    Cancelled,
    /// The deadline, with the time since the start.
    Time(Duration),
    /// The work budget, in units.
    Work(u64),
    /// The memory budget, with the number of bytes needed.
    Memory(u64),
}

impl fmt::Display for ExceededLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExceededLimit::Cancelled => write!(f, "the query was cancelled"),
            ExceededLimit::Time(after) => write!(f, "the query timed out after {}", seconds(*after)),
            ExceededLimit::Work(units) => write!(f, "the query ran out of its work budget of {units} units"),
            ExceededLimit::Memory(bytes) => write!(f, "the query ran out of memory, needing about {} MB", bytes >> 20),
        }
    }
}

/// Formats a duration in whole seconds, or in thousandths if it is shorter than one.
pub fn seconds(duration: Duration) -> String {
    match duration.as_secs() {
        0 => {
            let thousandths = format!("0.{:03}", duration.as_millis().max(1));
            format!("{} seconds", thousandths.trim_end_matches('0'))
        }
        whole => format!("{whole} seconds"),
    }
}

impl std::error::Error for ExceededLimit {}

impl Budget {
    /// Creates a budget with the caller's limits. The clock starts now.
    pub fn new(limits: &Limits) -> Budget {
        let memory = limits.memory.unwrap_or(u64::MAX);
        Budget {
            started: Instant::now(),
            deadline: limits.deadline,
            memory,
            allocated: memory,
            account: limits.account.clone().unwrap_or_default(),
            work: limits.work.unwrap_or(u64::MAX),
            work_done: AtomicU64::new(0),
            cancelled: limits.cancelled.clone(),
            total: limits.work_done.clone(),
            impatient: limits.impatient,
        }
    }

    /// Tightens the limits: at most `time` from the start, and at most `memory` bytes by the engines' own count.
    pub fn tighten(mut self, time: Duration, memory: u64) -> Budget {
        let own = self.started.checked_add(time);
        self.deadline = match (self.deadline, own) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.memory = self.memory.min(memory);
        self
    }

    /// Returns the remaining limits, for a query that this one runs. Its memory counts as this query's.
    pub fn rest(&self) -> Limits {
        Limits {
            deadline: self.deadline,
            memory: (self.allocated != u64::MAX).then_some(self.allocated),
            account: Some(Arc::clone(&self.account)),
            work: (self.work != u64::MAX).then(|| self.work.saturating_sub(self.work_done())),
            cancelled: Arc::clone(&self.cancelled),
            work_done: Arc::default(),
            impatient: self.impatient,
        }
    }

    /// Returns an error if a limit is reached. Cheap enough to call once per page, or once per thousand triples.
    pub fn check(&self) -> Result<(), ExceededLimit> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(ExceededLimit::Cancelled);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(ExceededLimit::Time(self.started.elapsed()));
        }
        self.room(0)
    }

    /// Returns an error if the query may not allocate `bytes` in addition to its current memory.
    fn room(&self, bytes: u64) -> Result<(), ExceededLimit> {
        let held = self.account.held().saturating_add(bytes);
        if held <= self.allocated { Ok(()) } else { Err(ExceededLimit::Memory(held)) }
    }

    /// Adds work, then checks all limits as [`Budget::check`] does.
    pub fn work(&self, units: u64) -> Result<(), ExceededLimit> {
        let done = self.work_done.fetch_add(units, Ordering::Relaxed).saturating_add(units);
        if done > self.work { Err(ExceededLimit::Work(self.work)) } else { self.check() }
    }

    /// Returns the units of work so far.
    pub fn work_done(&self) -> u64 {
        self.work_done.load(Ordering::Relaxed)
    }

    /// Returns an error if `bytes` exceed the limit of the engines' own count.
    pub fn memory(&self, bytes: u64) -> Result<(), ExceededLimit> {
        if bytes <= self.memory { Ok(()) } else { Err(ExceededLimit::Memory(bytes)) }
    }

    /// Returns the query's memory as counted by the allocator.
    pub fn account(&self) -> &Arc<Account> {
        &self.account
    }
}

/// Steps between two checks of the budget.
const STEPS: u32 = 8192;
/// Smaller allocations are not checked in advance, in bytes.
const LARGE: u64 = 64 << 10;

thread_local! {
    static BUDGET: RefCell<Option<Arc<Budget>>> = const { RefCell::new(None) };
}

/// The reason why work was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// A limit was reached.
    Exceeded(ExceededLimit),
    /// It panicked, with this message: a defect, but not the end of the process.
    Panicked(String),
}

/// The panic payload when a limit is reached.
struct BudgetPanic(ExceededLimit);

/// Counts one step of a loop. Checks the budget every 8,192 steps, and at the next step after the thread has allocated
/// some 64 KiB.
#[inline]
pub fn checkpoint() {
    checkpoints(1);
}

/// Counts several steps, each about as long as copying 16 bytes: 8,192 of them should take less than a millisecond.
#[inline]
pub fn checkpoints(steps: usize) {
    if memory::steps(u32::try_from(steps).unwrap_or(u32::MAX)) >= STEPS {
        look(0);
    }
}

/// Checks the memory limit before `bytes` are allocated. Unwinds if they would exceed it.
#[inline]
pub fn charge(bytes: u64) {
    checkpoints(usize::try_from(bytes / 16).unwrap_or(usize::MAX));
    if bytes >= LARGE {
        look(bytes);
    }
}

/// Counts work that this thread does for its query, in units of [`Limits::work`], and checks all limits. Unwinds if one
/// is reached.
pub fn work(units: usize) {
    enforce(|budget| budget.work(units as u64));
}

/// Checks all limits now. Unwinds if one is reached. Cheap enough to call once per page, or once per thousand triples.
pub fn check() {
    enforce(Budget::check);
}

/// Unwinds if `bytes`, by the engines' own count, exceed the memory limit of the query.
pub fn ensure_memory(bytes: u64) {
    enforce(|budget| budget.memory(bytes));
}

fn enforce(check: impl FnOnce(&Budget) -> Result<(), ExceededLimit>) {
    let checked = BUDGET.with_borrow(|budget| budget.as_deref().map_or(Ok(()), check));
    if let Err(exceeded) = checked {
        stop(exceeded);
    }
}

#[cold]
fn look(bytes: u64) {
    memory::look_again();
    let looked = BUDGET.with_borrow(|budget| match budget {
        Some(budget) => budget.check().and_then(|()| budget.room(bytes)),
        None => Ok(()),
    });
    if let Err(exceeded) = looked {
        stop(exceeded);
    }
}

/// Stops work that is [`watched`] within [`Limits::impatient`]. Call it before waiting for other threads, and before
/// giving them work to wait for.
pub fn before_waiting() {
    let started = BUDGET.with_borrow(|budget| budget.as_ref().filter(|budget| budget.impatient).map(|b| b.started));
    if let Some(started) = started {
        stop(ExceededLimit::Time(started.elapsed()));
    }
}

/// Stops the work that is [`watched`], in code that cannot return an error.
pub fn stop(exceeded: ExceededLimit) -> ! {
    resume_unwind(Box::new(BudgetPanic(exceeded)))
}

/// Sets the budget of this thread and the account that it works for, and puts the outer ones back however `work` ends.
fn under<T>(budget: Option<Arc<Budget>>, work: impl FnOnce() -> T) -> T {
    struct BudgetGuard(Option<Arc<Budget>>);
    impl Drop for BudgetGuard {
        fn drop(&mut self) {
            BUDGET.set(self.0.take());
        }
    }
    let account = budget.as_ref().map(|budget| budget.account.clone());
    let _restore = BudgetGuard(BUDGET.replace(budget));
    memory::within(account.as_ref(), work)
}

/// Runs `work` within a budget.
///
/// # Errors
/// Returns an error if a limit was reached or `work` panicked.
pub fn watched<T>(budget: &Arc<Budget>, work: impl FnOnce() -> T) -> Result<T, StopReason> {
    memory::look_again();
    catch_unwind(AssertUnwindSafe(|| under(Some(budget.clone()), work))).map_err(|thrown| caught(&*thrown))
}

/// Runs `work` without an account and without a deadline. Use it for data that outlives the query, such as a page in a
/// cache. It must be short.
pub fn unwatched<T>(work: impl FnOnce() -> T) -> T {
    under(None, work)
}

/// Creates a value that all queries share, at its first use.
pub fn once<T>(place: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    place.get().unwrap_or_else(|| unwatched(|| place.get_or_init(make)))
}

/// Returns the budget of this thread, for other threads that work for the same query.
pub fn current() -> Current {
    Current(BUDGET.with_borrow(Clone::clone))
}

/// The budget of a thread.
#[derive(Debug, Clone)]
pub struct Current(Option<Arc<Budget>>);

impl Current {
    /// Runs `work` within the budget on any thread. If a limit is reached, it unwinds, and rayon passes the panic on.
    pub fn share<T>(&self, work: impl FnOnce() -> T) -> T {
        under(self.0.clone(), work)
    }
}

/// Runs library code that may panic, and returns `None` if it does. If a limit is reached, the work still stops.
pub fn tolerant<T>(work: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(value) => Some(value),
        Err(thrown) if thrown.is::<BudgetPanic>() => resume_unwind(thrown),
        Err(_) => None,
    }
}

/// Converts a caught panic to the reason why work was stopped.
pub fn caught(thrown: &(dyn Any + Send)) -> StopReason {
    if let Some(BudgetPanic(reached)) = thrown.downcast_ref() {
        return StopReason::Exceeded(*reached);
    }
    let message = thrown.downcast_ref::<&str>().map(|text| (*text).to_owned());
    StopReason::Panicked(message.or_else(|| thrown.downcast_ref::<String>().cloned()).unwrap_or_default())
}

impl Drop for Budget {
    fn drop(&mut self) {
        self.total.fetch_add(self.work_done(), Ordering::Relaxed);
    }
}

/// The allocator of the tests, so that their memory is counted.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: memory::Counting<mimalloc::MiMalloc> = memory::Counting(mimalloc::MiMalloc);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_which_bound_was_reached() {
        let limits = Limits { work: Some(10), memory: Some(5 << 20), ..Limits::default() };
        let budget = Budget::new(&limits);
        assert_eq!(budget.work(10), Ok(()));
        assert_eq!(budget.work(1), Err(ExceededLimit::Work(10)));
        assert_eq!(budget.memory(5 << 20), Ok(()));
        assert_eq!(budget.memory(6 << 20), Err(ExceededLimit::Memory(6 << 20)));
        assert_eq!(budget.check(), Ok(()));
        let budget = budget.tighten(Duration::ZERO, 1);
        assert!(matches!(budget.check(), Err(ExceededLimit::Time(_))));
        assert_eq!(budget.memory(2), Err(ExceededLimit::Memory(2)));
        limits.cancelled.store(true, Ordering::Relaxed);
        assert_eq!(budget.check(), Err(ExceededLimit::Cancelled));
        drop(budget);
        assert_eq!(limits.work_done.load(Ordering::Relaxed), 11);
    }

    fn bounded(bytes: u64) -> Arc<Budget> {
        Arc::new(Budget::new(&Limits { memory: Some(bytes), ..Limits::default() }))
    }

    fn reached<T>(result: Result<T, StopReason>) -> &'static str {
        match result {
            Ok(_) => "nothing",
            Err(StopReason::Exceeded(ExceededLimit::Time(_))) => "time",
            Err(StopReason::Exceeded(ExceededLimit::Memory(_))) => "memory",
            Err(StopReason::Exceeded(_)) => "another bound",
            Err(StopReason::Panicked(_)) => "panic",
        }
    }

    #[test]
    fn bounds_and_panics_end_the_work() {
        let limits = Limits { deadline: Some(Instant::now()), ..Limits::default() };
        let late = watched(&Arc::new(Budget::new(&limits)), || -> () {
            loop {
                checkpoint();
            }
        });
        assert_eq!(reached(late), "time");
        assert_eq!(watched(&bounded(1 << 20), || 1), Ok(1));
        assert_eq!(reached(watched(&bounded(1 << 20), || -> () { panic!("broken") })), "panic");
    }

    #[test]
    fn impatient_work_waits_for_no_other() {
        let wait = |impatient| {
            let limits = Limits { impatient, ..Limits::default() };
            reached(watched(&Arc::new(Budget::new(&limits)), before_waiting))
        };
        assert_eq!((wait(true), wait(false)), ("time", "nothing"));
        before_waiting();
        // A query that another one runs is as impatient.
        let outer = Budget::new(&Limits { impatient: true, ..Limits::default() });
        assert_eq!(reached(watched(&Arc::new(Budget::new(&outer.rest())), before_waiting)), "time");
    }

    #[test]
    fn memory_that_nobody_counted_is_bounded() {
        let grows = || {
            let mut kept = Vec::new();
            loop {
                checkpoint();
                kept.push(Box::new([0_u64; 16]));
            }
        };
        assert_eq!(reached(watched(&bounded(8 << 20), || -> () { grows() })), "memory");
        // A single large one, before it is made.
        assert_eq!(reached(watched(&bounded(8 << 20), || charge(9 << 20))), "memory");
        assert_eq!(reached(watched(&bounded(8 << 20), || charge(7 << 20))), "nothing");
        // Memory that outlives the query is not charged to it.
        let kept = watched(&bounded(8 << 20), || unwatched(|| vec![0_u8; 16 << 20]));
        assert_eq!(kept.map(|kept| kept.len()), Ok(16 << 20));
    }

    #[test]
    fn threads_share_a_budget() {
        let budget = bounded(8 << 20);
        let ended = watched(&budget, || {
            let current = current();
            // The last thread to check sees the memory of both.
            let work = || {
                current.share(|| {
                    let kept = vec![0_u8; 6 << 20];
                    charge(LARGE);
                    kept
                })
            };
            rayon::join(work, work)
        });
        assert_eq!(reached(ended), "memory");
    }
}
