//! The limits of a running query: a deadline, memory, work, and disconnection of the client. If a limit is reached, the
//! query fails with an error that names the limit; the answer is never silently shortened.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::syntax::{QlSettings, Statement};
use crate::{DiagnosticClass, OverpassCode, OverpassDiagnostic, OverpassFailure};
use terrapin_budget::{self as budget, ExceededLimit, StopReason};

pub use terrapin_budget::Limits;

/// The limits of one running query, with its usage so far. The query's own `timeout` and `maxsize` apply in addition to
/// the caller's limits.
pub struct OverpassBudget {
    bounds: Arc<budget::Budget>,
    /// The reference's name of the running statement, and its line.
    running: Mutex<(&'static str, u32)>,
}

/// The maximum timeout of a query, in seconds: ten years. Adding it to the current time cannot overflow.
const LONGEST: u64 = 10 * 366 * 86_400;

impl OverpassBudget {
    /// Creates a budget with the tighter of the query's and the caller's limits. The clock starts now.
    pub fn new(settings: &QlSettings, limits: &Limits) -> OverpassBudget {
        let time = Duration::from_secs(settings.timeout.min(LONGEST));
        OverpassBudget {
            bounds: Arc::new(budget::Budget::new(limits).tighten(time, settings.maxsize)),
            running: Mutex::new(("osm-script", 0)),
        }
    }

    /// Runs `work` within these limits. A panic in `work` is also returned as an error.
    pub fn watch<T>(&self, work: impl FnOnce() -> Result<T, OverpassFailure>) -> Result<T, OverpassFailure> {
        budget::watched(&self.bounds, work).unwrap_or_else(|stopped| {
            Err(match stopped {
                StopReason::Exceeded(bound) => self.exceeded(bound),
                StopReason::Panicked(message) => {
                    self.failure(OverpassCode::Internal, "An internal error happened", &format!(": {message}"))
                }
            })
        })
    }

    /// Records which statement runs from now on.
    pub fn enter(&self, statement: &Statement) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = (statement.kind.name(), statement.line);
    }

    /// Returns the units of work so far.
    pub fn work_done(&self) -> u64 {
        self.bounds.work_done()
    }

    /// Returns the error for a limit that was reached, in the reference's wording.
    pub fn exceeded(&self, bound: ExceededLimit) -> OverpassFailure {
        let (what, detail) = match bound {
            ExceededLimit::Cancelled => ("Query was cancelled", String::new()),
            ExceededLimit::Time(after) => ("Query timed out", format!(" after {}", terrapin_budget::seconds(after))),
            ExceededLimit::Work(units) => {
                ("Query ran out of its work budget", format!(" after looking at {units} elements"))
            }
            ExceededLimit::Memory(bytes) => {
                ("Query run out of memory", format!(" using about {} MB of RAM", bytes >> 20))
            }
        };
        self.failure(bound.into(), what, &detail)
    }

    fn failure(&self, code: OverpassCode, what: &str, detail: &str) -> OverpassFailure {
        let (name, line) = *self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let message = format!("{what} in \"{name}\" at line {line}{detail}.");
        OverpassDiagnostic::new(DiagnosticClass::Runtime, code, message).in_line(line).into()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn says_which_bound_was_reached() {
        let settings = QlSettings { timeout: 0, maxsize: 2 << 20, ..QlSettings::default() };
        let budget = OverpassBudget::new(&settings, &Limits::default());
        let text = |budget: &OverpassBudget, work: &dyn Fn()| {
            let done = budget.watch(|| {
                work();
                Ok(())
            });
            done.err().map(|failure| failure.to_string()).unwrap_or_default()
        };
        let late = text(&budget, &budget::check);
        assert!(late.starts_with("runtime error: Query timed out in \"osm-script\" at line 0 after 0."), "{late}");
        assert_eq!(
            text(&budget, &|| budget::ensure_memory(5 << 20)),
            "runtime error: Query run out of memory in \"osm-script\" at line 0 using about 5 MB of RAM."
        );
        assert_eq!(text(&budget, &|| budget::ensure_memory(2 << 20)), "");
        let limits = Limits { work: Some(10), ..Limits::default() };
        let budget = OverpassBudget::new(&QlSettings::default(), &limits);
        assert_eq!(text(&budget, &|| budget::work(10)), "");
        assert!(text(&budget, &|| budget::work(1)).contains("after looking at 10 elements"));
        limits.cancelled.store(true, Ordering::Relaxed);
        assert!(text(&budget, &budget::check).contains("Query was cancelled"));
    }
}
