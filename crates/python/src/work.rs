//! Worker threads for Python. They have the stack size that queries need, whichever Python thread makes the call. The
//! calling thread waits without the GIL and polls for signals, so that Ctrl-C cancels a query.
//!
//! A forked process does not inherit the threads of its parent; therefore each process has its own pools here.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use terrapin_base::deferred;
use terrapin_base::stack::STACK;
use terrapin_budget::{self as budget, StopReason};

/// Interval at which a waiting thread polls for signals.
const TICK: Duration = Duration::from_millis(20);
/// Time that an idle thread waits for work before it exits and releases its stack.
const IDLE: Duration = Duration::from_secs(10);
/// Number of batch results that are sent together, and the longest time before they are sent.
const TOGETHER: usize = 64;
const LATEST: Duration = Duration::from_millis(10);

/// A cancellation flag to pass to a call.
#[pyclass(frozen, module = "terrapin_osm._native")]
#[derive(Default)]
pub struct Stop(pub Arc<AtomicBool>);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Stop {
        Stop::default()
    }

    /// Cancels the call, even if it has not started yet.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

type Task = Box<dyn FnOnce() + Send>;

/// The threads of a process, linked to those of its forked child.
struct Process {
    id: u32,
    /// Threads for single queries; parallel parts of a query use all cores.
    shared: Threads,
    /// Threads for the queries of a batch: each query runs on one thread and never waits for another query.
    alone: Threads,
    child: OnceLock<Box<Process>>,
}

/// A pool of threads that start on demand and exit when idle.
struct Threads {
    alone: bool,
    idle: Mutex<Vec<(usize, Sender<Task>)>>,
    started: AtomicUsize,
}

static FIRST: OnceLock<Process> = OnceLock::new();

impl Process {
    /// Creates the pools of a process. In a forked process rayon's global pool is dead; each query uses one thread
    /// there.
    fn new(id: u32, forked: bool) -> Process {
        let threads = |alone| Threads { alone, idle: Mutex::default(), started: AtomicUsize::new(0) };
        Process { id, shared: threads(forked), alone: threads(true), child: OnceLock::new() }
    }

    fn this() -> &'static Process {
        let id = std::process::id();
        let mut process = FIRST.get_or_init(|| {
            // This fails if a global pool exists already; that is the one from here.
            let _ = ThreadPoolBuilder::new().stack_size(STACK).build_global();
            Process::new(id, false)
        });
        while process.id != id {
            process = process.child.get_or_init(|| Box::new(Process::new(id, true)));
        }
        process
    }
}

impl Threads {
    fn run(&'static self, mut task: Task) -> io::Result<()> {
        while let Some((_, thread)) = self.lock().pop() {
            match thread.send(task) {
                Ok(()) => return Ok(()),
                Err(unsent) => task = unsent.0,
            }
        }
        thread::Builder::new().name("terrapin".to_owned()).stack_size(STACK).spawn(move || self.work(task))?;
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(usize, Sender<Task>)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs tasks on the current thread until no further task arrives.
    fn work(&self, first: Task) {
        // A pool that consists of the current thread only.
        let pool = self.alone.then(|| ThreadPoolBuilder::new().num_threads(1).use_current_thread().build());
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let mut task = first;
        loop {
            task();
            // Wait for deferred drops, so that the next task finds the memory of this one free.
            deferred::wait();
            let (sender, tasks) = channel();
            self.lock().push((number, sender));
            let next = if pool.is_some() { tasks.recv().ok() } else { self.next(number, &tasks) };
            match next {
                Some(next) => task = next,
                None => return,
            }
        }
    }

    /// Returns the next task of a thread, or `None` if it was idle for [`IDLE`].
    fn next(&self, number: usize, tasks: &Receiver<Task>) -> Option<Task> {
        if let Ok(task) = tasks.recv_timeout(IDLE) {
            return Some(task);
        }
        let is_listed = {
            let mut idle = self.lock();
            let place = idle.iter().position(|(listed, _)| *listed == number);
            place.map(|place| idle.swap_remove(place)).is_some()
        };
        // If another thread has removed this one from the list, it is about to send a task.
        if is_listed { None } else { tasks.recv().ok() }
    }
}

/// Runs a job and converts a panic to an error message.
fn guarded<T>(job: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(job)).map_err(|panic| match budget::caught(&*panic) {
        StopReason::Panicked(message) => message,
        StopReason::Exceeded(exceeded) => exceeded.to_string(),
    })
}

fn fault(message: &str) -> PyErr {
    PyRuntimeError::new_err(format!("a fault of the program: {message}"))
}

/// Receives values until all senders are dropped. If a signal handler raises, the senders are cancelled.
fn receive<T: Send>(py: Python<'_>, stop: &AtomicBool, mut from: Receiver<T>, mut take: impl FnMut(T)) -> PyResult<()> {
    let mut raised = None;
    loop {
        let (back, received) = py.detach(move || {
            let received = from.recv_timeout(TICK);
            (from, received)
        });
        from = back;
        match received {
            Ok(received) => take(received),
            Err(RecvTimeoutError::Disconnected) => return raised.map_or(Ok(()), Err),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(error) = py.check_signals() {
            stop.store(true, Ordering::Relaxed);
            raised.get_or_insert(error);
        }
    }
}

/// Runs a job on a worker thread and waits for its result.
///
/// # Errors
/// Returns the exception of a signal handler, which also cancels the job. Also returns an error if the job panics or a
/// thread cannot be started.
pub fn wait<T: Send + 'static>(
    py: Python<'_>,
    stop: &Arc<AtomicBool>,
    job: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let task = move || {
        // Sending fails only if the caller no longer waits.
        let _ = sender.send(guarded(job));
    };
    Process::this().shared.run(Box::new(task)).map_err(PyOSError::new_err)?;
    let mut done = None;
    receive(py, stop, receiver, |result| done = Some(result))?;
    match done {
        Some(Ok(value)) => Ok(value),
        Some(Err(message)) => Err(fault(&message)),
        None => Err(fault("a thread ended without a word")),
    }
}

/// Runs a job `count` times, with the numbers from 0, on `threads` threads (default: one per core). Returns the results
/// in the order of the numbers.
///
/// # Errors
/// Returns the same errors as [`wait`]. After an error, no further jobs are started.
pub fn batch<T: Send + 'static>(
    py: Python<'_>,
    stop: &Arc<AtomicBool>,
    threads: Option<usize>,
    count: usize,
    job: impl Fn(usize) -> T + Send + Sync + 'static,
) -> PyResult<Vec<T>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let (sender, receiver) = channel();
    let shared = Arc::new((job, AtomicUsize::new(0), Arc::clone(stop)));
    for _ in 0..threads.unwrap_or(cores).clamp(1, count.max(1)) {
        let (shared, sender) = (Arc::clone(&shared), sender.clone());
        let task = move || {
            let (job, next, stop) = &*shared;
            let (mut some, mut since) = (Vec::new(), Instant::now());
            while !stop.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    break;
                }
                some.push((number, guarded(|| job(number))));
                if some.len() >= TOGETHER || since.elapsed() >= LATEST {
                    let _ = sender.send(std::mem::take(&mut some));
                    since = Instant::now();
                }
            }
            let _ = sender.send(some);
        };
        Process::this().alone.run(Box::new(task)).map_err(PyOSError::new_err)?;
    }
    drop(sender);
    let mut results: Vec<Option<T>> = Vec::new();
    results.resize_with(count, || None);
    let mut broken = None;
    receive(py, stop, receiver, |some| {
        for (number, result) in some {
            match (result, results.get_mut(number)) {
                (Ok(value), Some(place)) => *place = Some(value),
                (Ok(_), None) => {}
                (Err(message), _) => broken = Some(message),
            }
        }
    })?;
    if let Some(message) = broken {
        return Err(fault(&message));
    }
    let all: Option<Vec<T>> = results.into_iter().collect();
    all.ok_or_else(|| fault("it was stopped"))
}
