//! The limits of a running query: a deadline, memory, work, and disconnection of the client. If a limit is reached, the
//! query fails with an error that names the limit; the answer is never silently shortened.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::syntax::{Settings, Statement};
use crate::{Class, Code, Diagnostic, Failure};
use terrapin_budget::{self as budget, Exceeded, Stopped};

pub use terrapin_budget::Limits;

/// The limits of one running query, with its usage so far. The query's own `timeout` and `maxsize` apply in addition to
/// the caller's limits.
pub struct Budget {
    bounds: Arc<budget::Budget>,
    /// The reference's name of the running statement, and its line.
    running: Mutex<(&'static str, u32)>,
}

/// The maximum timeout of a query, in seconds: ten years. Adding it to the current time cannot overflow.
const LONGEST: u64 = 10 * 366 * 86_400;

impl Budget {
    /// Creates a budget with the tighter of the query's and the caller's limits. The clock starts now.
    pub fn new(settings: &Settings, limits: &Limits) -> Budget {
        let time = Duration::from_secs(settings.timeout.min(LONGEST));
        Budget {
            bounds: Arc::new(budget::Budget::new(limits).tighten(time, settings.maxsize)),
            running: Mutex::new(("osm-script", 0)),
        }
    }

    /// Runs `work` within these limits. A panic in `work` is also returned as an error.
    pub fn watch<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        budget::watched(&self.bounds, work).unwrap_or_else(|stopped| {
            Err(match stopped {
                Stopped::Exceeded(bound) => self.exceeded(bound),
                Stopped::Panicked(message) => {
                    self.failure(Code::Internal, "An internal error happened", &format!(": {message}"))
                }
            })
        })
    }

    /// Records which statement runs from now on.
    pub fn enter(&self, statement: &Statement) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = (statement.kind.name(), statement.line);
    }

    /// Returns an error if a limit is reached. Cheap enough to call once per page.
    pub fn check(&self) -> Result<(), Failure> {
        self.bounds.check().map_err(|e| self.exceeded(e))
    }

    /// Counts work, then calls [`Budget::check`].
    pub fn work(&self, units: usize) -> Result<(), Failure> {
        self.bounds.work(units as u64).map_err(|e| self.exceeded(e))
    }

    /// Returns the units of work so far.
    pub fn work_done(&self) -> u64 {
        self.bounds.work_done()
    }

    /// Returns an error if `bytes` exceeds the query's memory limit.
    pub fn memory(&self, bytes: u64) -> Result<(), Failure> {
        self.bounds.memory(bytes).map_err(|e| self.exceeded(e))
    }

    /// Returns the error for a limit that was reached, in the reference's wording.
    pub fn exceeded(&self, bound: Exceeded) -> Failure {
        let (what, detail) = match bound {
            Exceeded::Cancelled => ("Query was cancelled", String::new()),
            Exceeded::Time(after) => ("Query timed out", format!(" after {}", terrapin_budget::seconds(after))),
            Exceeded::Work(units) => {
                ("Query ran out of its work budget", format!(" after looking at {units} elements"))
            }
            Exceeded::Memory(bytes) => ("Query run out of memory", format!(" using about {} MB of RAM", bytes >> 20)),
        };
        self.failure(bound.into(), what, &detail)
    }

    fn failure(&self, code: Code, what: &str, detail: &str) -> Failure {
        let (name, line) = *self.running.lock().unwrap_or_else(PoisonError::into_inner);
        Failure::from(Diagnostic {
            class: Class::Runtime,
            code,
            line,
            span: None,
            message: format!("{what} in \"{name}\" at line {line}{detail}."),
            help: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn says_which_bound_was_reached() {
        let settings = Settings { timeout: 0, maxsize: 2 << 20, ..Settings::default() };
        let budget = Budget::new(&settings, &Limits::default());
        let text = |r: Result<(), Failure>| r.err().map(|f| f.to_string()).unwrap_or_default();
        let late = text(budget.check());
        assert!(late.starts_with("runtime error: Query timed out in \"osm-script\" at line 0 after 0."), "{late}");
        assert_eq!(
            text(budget.memory(5 << 20)),
            "runtime error: Query run out of memory in \"osm-script\" at line 0 using about 5 MB of RAM."
        );
        assert!(budget.memory(2 << 20).is_ok());
        let limits = Limits { work: Some(10), ..Limits::default() };
        let budget = Budget::new(&Settings::default(), &limits);
        assert!(budget.work(10).is_ok());
        assert!(budget.work(1).is_err());
        limits.cancelled.store(true, Ordering::Relaxed);
        assert!(budget.check().is_err());
    }
}
