//! What a caller allows a piece of work.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use terrapin_base::machine;
use terrapin_budget::Limits;
use terrapin_osm::BoundingBox;

use crate::work::Stop;

/// The memory of a query where nobody says anything: half of the process's, and of a machine that does not tell so much.
const UNKNOWN: u64 = 4 << 30;

/// Time, memory, and who may stop it.
#[derive(Clone)]
pub struct Bounds {
    /// Of each query or pair; `None` is what the query itself asks for.
    pub time: Option<Duration>,
    memory: u64,
    /// Set when it is to be stopped.
    pub stop: Arc<AtomicBool>,
}

impl Bounds {
    /// Seconds, bytes, and what stops it.
    ///
    /// # Errors
    /// `ValueError` for what is no time.
    pub fn new(timeout: Option<f64>, memory: Option<u64>, stop: Option<&Stop>) -> PyResult<Bounds> {
        let time = match timeout.map(Duration::try_from_secs_f64) {
            None => None,
            Some(Ok(time)) if !time.is_zero() => Some(time),
            Some(_) => return Err(PyValueError::new_err("timeout: expected a number of seconds above 0")),
        };
        static HALF: OnceLock<u64> = OnceLock::new();
        let half = || *HALF.get_or_init(|| machine::memory().map_or(UNKNOWN, |memory| memory / 2));
        let memory = memory.unwrap_or_else(half);
        Ok(Bounds { time, memory, stop: stop.map(|stop| Arc::clone(&stop.0)).unwrap_or_default() })
    }

    /// The limits of a query that begins now.
    pub fn limits(&self) -> Limits {
        let deadline = self.time.and_then(|time| Instant::now().checked_add(time));
        // What reading the query and running it hold together.
        Limits { deadline, account: Some(Arc::default()), ..self.of_each() }
    }

    /// Those of pairs, each of which has the time for itself.
    pub fn of_each(&self) -> Limits {
        Limits { memory: Some(self.memory), cancelled: Arc::clone(&self.stop), ..Limits::default() }
    }
}

/// A box as a text.
///
/// # Errors
/// `ValueError` for any other text.
pub fn bbox(text: Option<&str>) -> PyResult<Option<BoundingBox>> {
    let wrong = |text| PyValueError::new_err(format!("bbox {text:?}: expected \"south,west,north,east\" in degrees"));
    text.map(|text| text.parse().map_err(|_| wrong(text))).transpose()
}
