//! The threads for trials of queries when all slots are busy. Each thread is a pool of its own: the parallel steps of a
//! query run on this one thread here, and never wait for the pool that long queries keep busy.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::workers::survive;
use terrapin_base::stack::STACK;

/// A fixed number of threads, each for one query at a time.
pub struct Trials {
    idle: Arc<Idle>,
}

type Idle = Mutex<Vec<Arc<ThreadPool>>>;

/// A trial that ended without a reply: its time was too short for the query, no trial slot was free, or the answer was
/// not complete within one piece. None of the answer was sent. Internal to jobs: the query then waits for a slot.
pub struct Unfinished {
    /// Whether another trial may help.
    pub again: bool,
}

/// A thread for one trial; becomes idle again on drop.
pub struct Thread {
    pool: Arc<ThreadPool>,
    idle: Arc<Idle>,
}

impl Trials {
    /// Starts `count` threads.
    ///
    /// # Errors
    /// Returns an error if the system cannot start a thread.
    pub fn new(count: usize) -> io::Result<Self> {
        let name = |_| "trial".to_owned();
        let pool =
            |_| ThreadPoolBuilder::new().num_threads(1).thread_name(name).stack_size(STACK).build().map(Arc::new);
        let idle: Result<Vec<_>, _> = (0..count).map(pool).collect();
        Ok(Trials { idle: Arc::new(Mutex::new(idle.map_err(io::Error::other)?)) })
    }

    /// Returns an idle thread, if there is one.
    pub fn thread(&self) -> Option<Thread> {
        let pool = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
        Some(Thread { pool, idle: Arc::clone(&self.idle) })
    }
}

impl Thread {
    /// Runs a task, which owns the thread until it drops it.
    pub fn run(self, task: impl FnOnce(Thread) + Send + 'static) {
        let pool = Arc::clone(&self.pool);
        pool.spawn(move || survive(move || task(self)));
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&self.pool));
    }
}

/// Returns the processor time that this thread has used; zero on systems other than Linux.
pub fn processor_time() -> Duration {
    #[cfg(target_os = "linux")]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::try_from(time).unwrap_or_default()
    }
    #[cfg(not(target_os = "linux"))]
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_thread_that_works_has_processor_time() {
        let before = processor_time();
        let begun = Instant::now();
        while processor_time() - before < Duration::from_millis(2) {
            assert!(begun.elapsed() < Duration::from_secs(60), "none in a minute");
        }
    }
}
