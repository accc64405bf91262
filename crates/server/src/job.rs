//! Runs the work of a request: behind a gate, on a thread of its own, with limits, listed while it runs, and stopped
//! when the client disconnects. All services that parse or run a client's input go through here, so that none of this
//! work runs on the threads that serve connections.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use tokio::sync::oneshot;

use crate::context::HttpRequestContext;
use crate::costs::Cost;
use crate::gate::Gate;
use crate::outcome::Outcome;
use crate::pipe::{PipeSink, ReplySender, StopWhenDropped};
use crate::rejected::Rejected;
use crate::reply::Reply;
use crate::running::{Running, Ticket};
use crate::trial::{self, Thread, Trials, Unfinished};
use crate::{App, SNAPSHOT_HEADER};
use terrapin_base::deferred;
use terrapin_budget::memory::Account;
use terrapin_budget::{self as budget, Budget, Limits, StopReason};
use terrapin_engine::Stop;

/// If a request held more memory than this, free memory is returned to the system after it.
const LARGE: u64 = 32 << 20;
/// How long a query waits at most for a trial slot, before it waits for a query slot instead.
const TRIAL_QUEUE_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of trials of a query. It is tried again if a trial's time was up before the query had a core for half
/// of it, for example on a busy machine.
const TRIALS: usize = 3;

/// The lane of a request, which selects its gate. Queries may take minutes; a conversion takes seconds at most, a
/// search or a tile milliseconds. Each lane has its own slots and queue. Short requests therefore never wait behind
/// long ones, and conversions never take a slot from a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Queries in both languages, feedback and scoring.
    Query,
    /// Trials of queries for which no slot is free, to find out whether they are short.
    Trial,
    /// `/api/convert`.
    Conversion,
    /// `/search`, `/tiles`.
    Search,
    /// `/ask`, which mostly waits for a model on another host.
    Ask,
}

/// The gates of all lanes.
pub struct Gates {
    /// The gate of [`Lane::Query`].
    pub queries: Gate,
    trials: Gate,
    conversions: Gate,
    searches: Gate,
    asks: Gate,
}

impl Gates {
    /// Creates gates for `queries` queries at once and as many trials, for `asks` questions, and for half as many
    /// requests as queries in each of the other lanes; at least one in each.
    pub fn new(queries: usize, asks: usize, max_waiting: usize, queue_timeout: Duration) -> Self {
        let gate = |total| Gate::new(total, max_waiting, queue_timeout);
        let few = queries.div_ceil(2);
        let trials = Gate::new(queries, max_waiting, queue_timeout.min(TRIAL_QUEUE_TIMEOUT));
        Gates { queries: gate(queries), trials, conversions: gate(few), searches: gate(few), asks: gate(asks.max(1)) }
    }

    /// Returns the number of slots in all lanes except trials, which have threads of their own.
    pub fn total(&self) -> usize {
        self.all().map(Gate::total).sum()
    }

    /// Closes all gates: no more requests are admitted.
    pub fn close(&self) {
        self.all().chain([&self.trials]).for_each(Gate::close);
    }

    fn all(&self) -> impl Iterator<Item = &Gate> {
        [&self.queries, &self.conversions, &self.searches, &self.asks].into_iter()
    }

    fn of(&self, lane: Lane) -> &Gate {
        match lane {
            Lane::Query => &self.queries,
            Lane::Trial => &self.trials,
            Lane::Conversion => &self.conversions,
            Lane::Search => &self.searches,
            Lane::Ask => &self.asks,
        }
    }
}

/// Runs a query's `work`. If all slots are busy, the query is first tried on an extra thread for some milliseconds, at
/// most three times, and with little memory. It is not known in advance which query is short, and a short one shall not
/// wait for long ones. If no trial completes, the query waits for a slot and starts anew there.
///
/// `work` must fail if a limit was reached: the server treats every answer as complete.
///
/// # Errors
/// Returns the same errors as [`run`]: the request was rejected, or its client left.
pub async fn run_query(
    app: &Arc<App>,
    context: &Arc<HttpRequestContext>,
    work: impl FnOnce(Job) + Clone + Send + 'static,
) -> Result<Option<Reply>, Rejected> {
    for _ in 0..TRIALS {
        if app.trials.is_none() || app.gates.queries.free() > 0 {
            break;
        }
        match run_in_lane(app, context, Lane::Trial, work.clone()).await {
            Ok(done) => return done,
            Err(Unfinished { again: true }) => {}
            Err(Unfinished { again: false }) => break,
        }
    }
    run(app, context, Lane::Query, work).await
}

/// Waits for a slot of the lane, then runs `work` on a thread. Returns its reply, or `None` if the work ended without
/// one, because of a program fault that is in the log.
///
/// # Errors
/// Returns an error if the lane's gate turned the request away.
pub async fn run(
    app: &Arc<App>,
    context: &Arc<HttpRequestContext>,
    lane: Lane,
    work: impl FnOnce(Job) + Send + 'static,
) -> Result<Option<Reply>, Rejected> {
    // Only trials are unfinished.
    run_in_lane(app, context, lane, work).await.unwrap_or(Ok(None))
}

async fn run_in_lane(
    app: &Arc<App>,
    context: &Arc<HttpRequestContext>,
    lane: Lane,
    work: impl FnOnce(Job) + Send + 'static,
) -> Result<Result<Option<Reply>, Rejected>, Unfinished> {
    // Dropped when the client disconnects, in every phase of the request.
    let guard = StopWhenDropped(Arc::new(AtomicBool::new(false)));
    let slot = match app.gates.of(lane).enter(&context.client).await {
        Ok(slot) => slot,
        Err(_) if lane == Lane::Trial => return Err(Unfinished { again: true }),
        Err(why) => {
            app.metrics.rejected(&why);
            return Ok(Err(why));
        }
    };
    let (sender, head) = oneshot::channel();
    let (shared, cancelled) = (Arc::clone(app), Arc::clone(&guard.0));
    let context = Arc::clone(context);
    let account: Arc<Account> = Arc::default();
    let held = Arc::clone(&account);
    let begun = Begun { at: Instant::now(), processor_time: Duration::ZERO };
    let mut job = Job { app: shared, context, lane, head: sender, cancelled, begun, account };
    let task = move |thread: Option<Thread>| {
        job.begun.processor_time = trial::processor_time();
        // Freed also if the work panics.
        let _slot = slot;
        let _thread = thread;
        let _work = job.context.working();
        let shared = Arc::clone(&job.app);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(job))) {
            shared.metrics.refused(Outcome::Failed);
            resume_unwind(panic);
        }
        // Waits until other threads have freed what the query kept, so that the next request finds this memory free.
        deferred::wait();
        if held.most() > LARGE {
            terrapin_allocator::give_back();
        }
    };
    // There are as many trial threads as trial slots.
    let trial = app.trials.as_ref().filter(|_| lane == Lane::Trial).and_then(Trials::thread);
    let started = match trial {
        Some(thread) => {
            thread.run(|thread| task(Some(thread)));
            Ok(())
        }
        None => app.workers.run(|| task(None)),
    };
    if let Err(error) = started {
        tracing::error!(%error, "no thread for a query");
        app.metrics.refused(Outcome::Failed);
    }
    let reply = head.await.ok().transpose()?;
    if let Some(Reply::Streaming(..)) = reply {
        // The body has a guard of its own.
        guard.disarm();
    }
    Ok(Ok(reply))
}

/// When a request's work began, and the processor time that its thread had used before.
#[derive(Debug, Clone, Copy)]
struct Begun {
    at: Instant,
    processor_time: Duration,
}

/// A request on its worker thread, before its work is listed.
pub struct Job {
    app: Arc<App>,
    context: Arc<HttpRequestContext>,
    lane: Lane,
    head: ReplySender,
    cancelled: Arc<AtomicBool>,
    begun: Begun,
    /// The memory account for parsing the request and answering it.
    account: Arc<Account>,
}

impl Job {
    /// Returns the state that all services share.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Returns the request's context.
    pub fn context(&self) -> &HttpRequestContext {
        &self.context
    }

    /// Returns the memory limit in bytes.
    pub fn memory(&self) -> u64 {
        let division = &self.app.settings.memory;
        match self.lane {
            Lane::Query | Lane::Ask => division.query,
            Lane::Trial => division.trial,
            Lane::Conversion | Lane::Search => division.light,
        }
    }

    /// Returns the time limit.
    fn longest(&self) -> Duration {
        let settings = &self.app.settings;
        if self.lane == Lane::Trial { settings.trial } else { settings.max_time }
    }

    /// Runs work that has no limits of its own, such as parsing, within the server's limits.
    ///
    /// # Errors
    /// Returns an error if a limit was reached, or on a program fault, which is logged.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> Result<T, Stop> {
        let limits = Limits {
            deadline: Some(self.begun.at + self.longest()),
            memory: Some(self.memory()),
            account: Some(Arc::clone(&self.account)),
            cancelled: Arc::clone(&self.cancelled),
            ..Limits::default()
        };
        budget::watched(&Arc::new(Budget::new(&limits)), work).map_err(|stopped| {
            if let StopReason::Panicked(panic) = &stopped {
                tracing::error!(panic, "a query could not be read: a fault of the program");
            }
            stopped.into()
        })
    }

    /// Answers with an error response, before any work has run.
    pub fn refuse(self, instead: Response) {
        self.give_up(Outcome::Refused, instead);
    }

    /// Answers that parsing was stopped.
    pub fn halt(self, stop: &Stop, instead: Response) {
        let outcome = Outcome::from(stop);
        if is_unfinished(self.lane, outcome, &self.cancelled) {
            let again = is_starved(self.begun, outcome, &self.app);
            let _ = self.head.send(Err(Unfinished { again }));
            return;
        }
        self.give_up(outcome, instead);
    }

    fn give_up(self, outcome: Outcome, instead: Response) {
        self.app.metrics.finished(outcome, self.begun.at.elapsed(), 0, 0);
        let _ = self.head.send(Ok(instead.into()));
    }

    /// Sends a response that needs no listed work.
    pub fn tell(self, answer: Response) {
        let _ = self.head.send(Ok(answer.into()));
    }

    /// Begins the expensive part of the work: lists it and limits it. `time` counts from when the request got its
    /// thread. `memory` is the size that the request asks for; it is only shown in the list. The real limit is the
    /// lane's share.
    pub fn begin(self, time: Duration, memory: u64, content_type: &'static str) -> (RequestJob, PipeSink) {
        let (share, time) = (self.memory(), time.min(self.longest()));
        let Job { app, context, lane, head, cancelled, begun, account } = self;
        let deadline = begun.at + time;
        // Listed are queries, since clients see from them when a slot becomes free, and questions, which take as long.
        let ticket = matches!(lane, Lane::Query | Lane::Ask).then(|| {
            app.running.enter(Running {
                since: SystemTime::now(),
                deadline,
                allowed: time,
                memory,
                in_slot: lane == Lane::Query,
                cancelled: Arc::clone(&cancelled),
                request: Arc::clone(&context),
            })
        });
        let mut headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(content_type))]);
        headers.extend(snapshot_header(&app));
        let sink = PipeSink::new(headers, head, Arc::clone(&app.spool), deadline, Arc::clone(&cancelled));
        let sink = if lane == Lane::Trial { sink.of_one_piece() } else { sink };
        // The work of a trial counts only if it ends with an answer.
        let work_done = if lane == Lane::Trial { Arc::default() } else { Arc::clone(&context.work) };
        let limits = Limits {
            deadline: Some(deadline),
            memory: Some(share),
            account: Some(account),
            cancelled,
            work_done,
            // A trial is for work, not for waiting: meanwhile nobody else could be tried.
            impatient: lane == Lane::Trial,
            ..Limits::default()
        };
        (RequestJob { app, context, lane, begun, limits, _ticket: ticket }, sink)
    }
}

/// Returns whether only the trial ended, so that the query is still to be answered.
fn is_unfinished(lane: Lane, outcome: Outcome, cancelled: &AtomicBool) -> bool {
    lane == Lane::Trial && !outcome.is_fault() && !cancelled.load(Ordering::Relaxed)
}

/// Returns whether a trial's time was up before the query had a core for half of it. Must be called on the trial's
/// thread.
fn is_starved(begun: Begun, outcome: Outcome, app: &App) -> bool {
    let worked = trial::processor_time().saturating_sub(begun.processor_time);
    let trial = app.settings.trial;
    outcome == Outcome::TimedOut && begun.at.elapsed() >= trial && worked < trial / 2
}

/// The running work of a request.
pub struct RequestJob {
    app: Arc<App>,
    context: Arc<HttpRequestContext>,
    lane: Lane,
    begun: Begun,
    limits: Limits,
    _ticket: Option<Ticket>,
}

impl RequestJob {
    /// Returns the state that all services share.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Returns the request's context.
    pub fn context(&self) -> &HttpRequestContext {
        &self.context
    }

    /// Returns the limits of the work.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Does the work of an answer within the limits.
    ///
    /// # Errors
    /// Returns an error if a limit was reached, the work panicked, or damaged data were read.
    pub fn work<T>(&self, work: impl FnOnce(&App) -> T) -> Result<T, Stop> {
        self.app.engine.run(&self.limits, || work(&self.app))
    }

    /// Does the work of an answer that keeps to [`RequestJob::limits`] itself.
    ///
    /// # Errors
    /// Returns an error if damaged data were read.
    pub fn checked<T>(&self, work: impl FnOnce(&App) -> T) -> Result<T, Stop> {
        self.app.engine.checked(|| work(&self.app)).map_err(Stop::Damaged)
    }

    /// Ends a complete answer with `results` elements or rows. `what` names the service in the log.
    pub fn answered(self, sink: PipeSink, what: &'static str, results: u64) {
        let bytes = sink.written();
        self.cost(bytes, results);
        match sink.finish() {
            Ok(()) => self.end(what, Outcome::Done, bytes, results),
            Err(_) => self.end(what, Outcome::Abandoned, bytes, 0),
        }
    }

    /// Ends a failed answer. If none of it was sent yet, `instead` is sent; otherwise the answer breaks off.
    pub fn refused(self, sink: PipeSink, what: &'static str, outcome: Outcome, instead: Response) {
        if is_unfinished(self.lane, outcome, &self.limits.cancelled) {
            return sink.unfinished(is_starved(self.begun, outcome, &self.app));
        }
        let bytes = sink.written();
        self.cost(bytes, 0);
        sink.refuse(instead);
        self.end(what, outcome, bytes, 0);
    }

    /// Stores the cost before the last bytes are sent, because the client may request it as soon as it has them.
    fn cost(&self, bytes: u64, results: u64) {
        if self.lane == Lane::Trial {
            self.context.work.fetch_add(self.limits.work_done.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        self.app.costs.note(Cost {
            request: self.context.id.clone(),
            client: self.context.client.clone(),
            results,
            bytes,
            took: self.begun.at.elapsed(),
            work: self.context.work_done(),
            memory: self.limits.account.as_ref().map_or(0, |account| account.most()),
        });
    }

    fn end(self, what: &'static str, outcome: Outcome, bytes: u64, results: u64) {
        let took = self.begun.at.elapsed();
        tracing::debug!(
            request_id = self.context.id(),
            outcome = outcome.name(),
            results,
            bytes,
            ms = took.as_millis() as u64,
            "{what}"
        );
        self.app.metrics.finished(outcome, took, bytes, results);
    }
}

/// Adds the header with the snapshot that a response comes from.
pub fn from_snapshot(app: &App, mut response: Response) -> Response {
    if let Some((name, value)) = snapshot_header(app) {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Returns the header with the snapshot that a response comes from.
fn snapshot_header(app: &App) -> Option<(HeaderName, HeaderValue)> {
    Some((SNAPSHOT_HEADER, HeaderValue::from_str(app.engine.digest()).ok()?))
}
