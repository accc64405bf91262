//! Timeout, memory limit and cancellation of a call.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use terrapin_base::machine;
use terrapin_budget::Limits;
use terrapin_osm::BoundingBox;

use crate::work::Stop;

/// Default memory limit of a query in bytes if the memory available to the process is unknown; otherwise half of that.
const UNKNOWN: u64 = 4 << 30;

/// Timeout, memory limit and cancellation flag.
#[derive(Clone)]
pub struct CallLimits {
    /// Timeout of each query or pair; `None` uses the timeout of the query itself.
    pub time: Option<Duration>,
    memory: u64,
    /// Setting this flag cancels the work.
    pub stop: Arc<AtomicBool>,
}

impl CallLimits {
    /// Checks the arguments of a call: `timeout` in seconds, `memory` in bytes.
    ///
    /// # Errors
    /// Returns a `ValueError` if `timeout` is not a positive number of seconds.
    pub fn new(timeout: Option<f64>, memory: Option<u64>, stop: Option<&Stop>) -> PyResult<CallLimits> {
        let time = match timeout.map(Duration::try_from_secs_f64) {
            None => None,
            Some(Ok(time)) if !time.is_zero() => Some(time),
            Some(_) => return Err(PyValueError::new_err("timeout: expected a number of seconds above 0")),
        };
        static HALF: OnceLock<u64> = OnceLock::new();
        let half = || *HALF.get_or_init(|| machine::memory().map_or(UNKNOWN, |memory| memory / 2));
        let memory = memory.unwrap_or_else(half);
        Ok(CallLimits { time, memory, stop: stop.map(|stop| Arc::clone(&stop.0)).unwrap_or_default() })
    }

    /// Returns the limits of a query that starts now.
    pub fn limits(&self) -> Limits {
        let deadline = self.time.and_then(|time| Instant::now().checked_add(time));
        // Parsing and execution share one memory account.
        Limits { deadline, account: Some(Arc::default()), ..self.of_each() }
    }

    /// Returns the limits of a batch of pairs. They have no deadline, because the timeout applies to each pair.
    pub fn of_each(&self) -> Limits {
        Limits { memory: Some(self.memory), cancelled: Arc::clone(&self.stop), ..Limits::default() }
    }
}

/// Parses a bounding box `south,west,north,east` in degrees.
///
/// # Errors
/// Returns a `ValueError` if the text has another form.
pub fn bbox(text: Option<&str>) -> PyResult<Option<BoundingBox>> {
    let wrong = |text| PyValueError::new_err(format!("bbox {text:?}: expected \"south,west,north,east\" in degrees"));
    text.map(|text| text.parse().map_err(|_| wrong(text))).transpose()
}
