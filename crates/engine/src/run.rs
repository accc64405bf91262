//! Runs work on a snapshot. This is the one place that detects damaged data: reading never fails in the middle of the
//! work, it records the damage, and the result of the work is dropped afterwards.

use std::fmt;
use std::sync::Arc;

use terrapin_budget::{self as budget, Budget, ExceededLimit, Limits, StopReason};
use terrapin_snapshot::Error;

use crate::Engine;

/// The reason why work has no result.
#[derive(Debug)]
pub enum Stop {
    /// A limit was reached, or the client no longer waits.
    Exceeded(ExceededLimit),
    /// Damaged data were read since the snapshot was opened.
    Damaged(Error),
    /// The work panicked, with this message: a defect of the program.
    Panicked(String),
}

impl From<StopReason> for Stop {
    fn from(stopped: StopReason) -> Stop {
        match stopped {
            StopReason::Exceeded(exceeded) => Stop::Exceeded(exceeded),
            StopReason::Panicked(panic) => Stop::Panicked(panic),
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Exceeded(exceeded) => exceeded.fmt(f),
            Stop::Damaged(damage) => damage.fmt(f),
            Stop::Panicked(panic) => write!(f, "a fault of the program: {panic}"),
        }
    }
}

impl std::error::Error for Stop {}

impl Engine {
    /// Runs `work` within limits.
    ///
    /// # Errors
    /// A limit was reached, the work panicked, or damaged data were read. Damage has precedence, because it may be the
    /// cause of the others.
    pub fn run<T>(&self, limits: &Limits, work: impl FnOnce() -> T) -> Result<T, Stop> {
        let budget = Arc::new(Budget::new(limits));
        self.checked(|| budget::watched(&budget, work)).map_err(Stop::Damaged)?.map_err(Stop::from)
    }

    /// Runs `work` that has limits of its own or needs none.
    ///
    /// # Errors
    /// Damaged data were read.
    pub fn checked<T>(&self, work: impl FnOnce() -> T) -> Result<T, Error> {
        let result = work();
        self.fail_if_damaged()?;
        Ok(result)
    }
}
