//! The threads that queries run on. They are not threads of the async runtime, which has to serve all clients. They are
//! not from its pool for blocking calls either, since other code shares that pool and its stacks are small.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, thread};

use terrapin_base::stack::STACK;

/// How long an idle thread waits for work before it ends and frees its stack.
const IDLE: Duration = Duration::from_secs(10);

type Task = Box<dyn FnOnce() + Send>;

/// A pool of threads that start on demand, stay for some time when idle, and survive a panic in a task.
pub struct Workers {
    shared: Arc<WorkerShared>,
    most: usize,
}

#[derive(Default)]
struct WorkerShared {
    state: Mutex<WorkerState>,
    wake: Condvar,
}

#[derive(Default)]
struct WorkerState {
    tasks: VecDeque<Task>,
    threads: usize,
    /// Number of threads that wait for a task, including notified ones that have not woken up yet.
    waiting: usize,
}

impl WorkerShared {
    fn lock(&self) -> MutexGuard<'_, WorkerState> {
        // No task runs under the lock: a panic cannot leave the state inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workers {
    /// Creates a pool of at most `most` threads.
    pub fn new(most: usize) -> Self {
        Workers { shared: Arc::default(), most: most.max(1) }
    }

    /// Runs a task on a thread of the pool; if all are busy, on the first that becomes free.
    ///
    /// # Errors
    /// Returns an error if the system cannot start a thread.
    pub fn run(&self, task: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mut state = self.shared.lock();
        state.tasks.push_back(Box::new(task));
        // One waiting thread for each queued task: a thread notified for an earlier task must not be counted again.
        if state.waiting >= state.tasks.len() {
            drop(state);
            self.shared.wake.notify_one();
            return Ok(());
        }
        if state.threads < self.most {
            let shared = Arc::clone(&self.shared);
            match thread::Builder::new().name("query".into()).stack_size(STACK).spawn(move || work(&shared)) {
                Ok(_) => state.threads += 1,
                Err(error) if state.threads == 0 => {
                    state.tasks.pop_back();
                    return Err(error);
                }
                Err(_) => {}
            }
        }
        Ok(())
    }
}

/// Runs tasks on this thread until it was idle for [`IDLE`].
fn work(shared: &WorkerShared) {
    let mut state = shared.lock();
    loop {
        if let Some(task) = state.tasks.pop_front() {
            drop(state);
            survive(task);
            state = shared.lock();
            continue;
        }
        state.waiting += 1;
        let (back, waited) = match shared.wake.wait_timeout_while(state, IDLE, |state| state.tasks.is_empty()) {
            Ok(woken) => woken,
            Err(poisoned) => poisoned.into_inner(),
        };
        state = back;
        state.waiting -= 1;
        if waited.timed_out() && state.tasks.is_empty() {
            state.threads -= 1;
            return;
        }
    }
}

/// Runs a task. If it panics, the panic is logged and the thread continues.
pub fn survive(task: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(task)) {
        tracing::error!(panic = words(&*panic), "a query failed: a fault of the program");
    }
}

/// Returns the message of a panic.
fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_panic_costs_no_thread_and_stacks_are_deep() {
        fn depth(n: usize) -> usize {
            let here = std::hint::black_box([n; 64]);
            if n == 0 { here[0] } else { depth(n - 1) + 1 }
        }
        let workers = Workers::new(1);
        workers.run(|| panic!("on purpose")).unwrap();
        let (sender, receiver) = mpsc::channel();
        workers.run(move || sender.send(depth(10_000)).unwrap()).unwrap();
        assert_eq!(receiver.recv_timeout(Duration::from_secs(10)), Ok(10_000));
        assert_eq!(workers.shared.lock().threads, 1);
    }

    #[test]
    fn no_more_threads_than_allowed_and_nothing_is_lost() {
        let workers = Workers::new(3);
        let (sender, receiver) = mpsc::channel();
        for n in 0..1000 {
            let sender = sender.clone();
            workers.run(move || sender.send(n).unwrap()).unwrap();
        }
        let mut all: Vec<i32> = (0..1000).map(|_| receiver.recv_timeout(Duration::from_secs(10)).unwrap()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..1000).collect::<Vec<_>>());
        assert!(workers.shared.lock().threads <= 3);
    }
}
