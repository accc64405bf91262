//! Threads that work for Python. They have the stacks that queries need, whatever thread of Python asks; that one waits, with
//! Python's lock free and an eye on signals, so that Ctrl-C stops a query.
//!
//! A process that was forked has none of its parent's threads: each process has its own here.

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
use terrapin_budget::{self as budget, Stopped};

/// How often a waiting thread looks for signals.
const TICK: Duration = Duration::from_millis(20);
/// How long a thread waits for work before it ends, and gives the stack that it used back.
const IDLE: Duration = Duration::from_secs(10);
/// Results of a batch that come together, and how long they wait for each other.
const TOGETHER: usize = 64;
const LATEST: Duration = Duration::from_millis(10);

/// Stops what it is given to.
#[pyclass(frozen, module = "terrapin_osm._native")]
#[derive(Default)]
pub struct Stop(pub Arc<AtomicBool>);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Stop {
        Stop::default()
    }

    /// Stops it, now or as soon as it begins.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

type Task = Box<dyn FnOnce() + Send>;

/// The threads of a process, and those of the processes that it is forked into.
struct Process {
    id: u32,
    /// For one query after another: what one of them does in parallel it does on all cores.
    shared: Threads,
    /// For the queries of a batch: each uses its thread alone, and waits for none of the others.
    alone: Threads,
    child: OnceLock<Box<Process>>,
}

/// Threads that are started when needed and kept for a while.
struct Threads {
    alone: bool,
    idle: Mutex<Vec<(usize, Sender<Task>)>>,
    started: AtomicUsize,
}

static FIRST: OnceLock<Process> = OnceLock::new();

impl Process {
    /// In a forked process the pool that all share is dead: each query uses its thread alone there.
    fn new(id: u32, forked: bool) -> Process {
        let threads = |alone| Threads { alone, idle: Mutex::default(), started: AtomicUsize::new(0) };
        Process { id, shared: threads(forked), alone: threads(true), child: OnceLock::new() }
    }

    fn this() -> &'static Process {
        let id = std::process::id();
        let mut process = FIRST.get_or_init(|| {
            // Fails where there is one already, which is ours.
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

    /// What a thread does.
    fn work(&self, first: Task) {
        // A pool of this thread alone.
        let pool = self.alone.then(|| ThreadPoolBuilder::new().num_threads(1).use_current_thread().build());
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let mut task = first;
        loop {
            task();
            // The next one finds what this one held free.
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

    /// The next task of a thread; nothing where it has waited long enough.
    fn next(&self, number: usize, tasks: &Receiver<Task>) -> Option<Task> {
        if let Ok(task) = tasks.recv_timeout(IDLE) {
            return Some(task);
        }
        let is_listed = {
            let mut idle = self.lock();
            let place = idle.iter().position(|(listed, _)| *listed == number);
            place.map(|place| idle.swap_remove(place)).is_some()
        };
        // Whoever took it from the list is about to send a task.
        if is_listed { None } else { tasks.recv().ok() }
    }
}

/// What came of a task: a panic is a fault of the program.
fn guarded<T>(job: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(job)).map_err(|panic| match budget::caught(&*panic) {
        Stopped::Panicked(message) => message,
        Stopped::Exceeded(exceeded) => exceeded.to_string(),
    })
}

fn fault(message: &str) -> PyErr {
    PyRuntimeError::new_err(format!("a fault of the program: {message}"))
}

/// Takes all that is sent until nobody sends any more. A signal whose handler raises stops the senders.
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

/// Runs a job on a thread and waits for it.
///
/// # Errors
/// What a handler of signals raised, which stopped the job; a fault of the program; no thread.
pub fn wait<T: Send + 'static>(
    py: Python<'_>,
    stop: &Arc<AtomicBool>,
    job: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let task = move || {
        // Nobody waits any more where it cannot be sent.
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

/// Does a job so many times, each with its number, on so many threads; the results in the order of the numbers.
///
/// # Errors
/// As [`wait`]; those that were not begun by then are not.
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
