//! A request's work on its way: behind a gate, on a thread of its own, bounded, listed while it runs, stopped when the
//! client leaves. All services that parse or run what somebody sent go through here, so that nothing of it happens on
//! the threads that serve connections.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::oneshot;

use super::context::Context;
use super::costs::Cost;
use super::gate::{Gate, Refusal};
use super::outcome::Outcome;
use super::pipe::{AnswerBody, Head, Sink, StopWhenDropped};
use super::running::{Running, Ticket};
use super::trial::{self, Thread, Trials};
use super::{App, SNAPSHOT_HEADER};
use terrapin_base::deferred;
use terrapin_budget::memory::Account;
use terrapin_budget::{self as budget, Budget, Exceeded, Limits, Stopped};

/// Who held more than this gives memory back to the system afterwards.
const LARGE: u64 = 32 << 20;
/// How long a query waits for a trial at most before it waits for a slot instead.
const TRIAL_QUEUE_TIMEOUT: Duration = Duration::from_secs(1);
/// How often a query is tried at most: again where a trial was over before the query had a core for half of it, as on a
/// busy machine.
const TRIALS: usize = 3;

/// Which gate a request goes through. Queries may take minutes; a conversion takes seconds at most, a search or a
/// tile milliseconds. Each has slots and a queue of its own, so that nothing short waits behind something long, and so that no
/// number of conversions takes a slot from a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Queries in both languages, feedback, scores.
    Query,
    /// Queries for which no slot is free: whether they are short.
    Trial,
    /// `/api/convert`.
    Conversion,
    /// `/search`, `/tiles`.
    Search,
    /// `/ask`, which mostly waits for somebody else's model.
    Ask,
}

/// The gates of all lanes.
pub struct Gates {
    /// [`Lane::Query`].
    pub queries: Gate,
    trials: Gate,
    conversions: Gate,
    searches: Gate,
    asks: Gate,
}

impl Gates {
    /// So many queries at once and as many trials, so many questions, and half as many as queries of the rest; at least one of
    /// each.
    pub fn new(queries: usize, asks: usize, max_waiting: usize, queue_timeout: Duration) -> Self {
        let gate = |total| Gate::new(total, max_waiting, queue_timeout);
        let few = queries.div_ceil(2);
        let trials = Gate::new(queries, max_waiting, queue_timeout.min(TRIAL_QUEUE_TIMEOUT));
        Gates { queries: gate(queries), trials, conversions: gate(few), searches: gate(few), asks: gate(asks.max(1)) }
    }

    /// What may be worked on at once, in all lanes but that of trials, which have threads of their own.
    pub fn total(&self) -> usize {
        self.all().map(Gate::total).sum()
    }

    /// Lets nobody in any more.
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

/// An answer, and its content type.
pub enum Answer {
    /// All of it.
    Whole(&'static str, Bytes),
    /// One that goes on.
    Streaming(&'static str, Body),
}

impl Answer {
    /// The answer as it goes out, with the snapshot that it comes from.
    pub fn into_response(self, app: &App) -> Response {
        let (content_type, body) = match self {
            Answer::Whole(content_type, bytes) => (content_type, Body::from(bytes)),
            Answer::Streaming(content_type, body) => (content_type, body),
        };
        from_snapshot(app, ([(header::CONTENT_TYPE, content_type)], body).into_response())
    }
}

/// What came of a request.
pub enum Given {
    /// An answer.
    Answer(Answer),
    /// Something else than an answer, which goes out as it is.
    Refused(Response),
    /// Not let in.
    Away(Refusal),
    /// The work ended without a word, by a fault of the program, which the log tells.
    Broken,
}

/// Runs a query's `work`. Where no slot is free it is first tried beside those that run, for some milliseconds, some times,
/// and with little memory: nobody can tell beforehand which query is short, and a short one shall wait for no long one.
/// What does not end so waits for a slot, in which it begins anew.
///
/// `work` must fail where a bound was reached: an answer that it gives is taken for the whole one.
pub async fn run_query(
    app: &Arc<App>,
    context: &Arc<Context>,
    work: impl FnOnce(Job) + Clone + Send + 'static,
) -> Given {
    for _ in 0..TRIALS {
        if app.trials.is_none() || app.gates.queries.free() > 0 {
            break;
        }
        match go(app, context, Lane::Trial, work.clone()).await {
            Tried::Given(given) => return given,
            Tried::Unfinished { again: true } => {}
            Tried::Unfinished { again: false } => break,
        }
    }
    run(app, context, Lane::Query, work).await
}

/// Waits for a slot of the lane, then runs `work` on a thread.
pub async fn run(app: &Arc<App>, context: &Arc<Context>, lane: Lane, work: impl FnOnce(Job) + Send + 'static) -> Given {
    match go(app, context, lane, work).await {
        Tried::Given(given) => given,
        // Of trials alone.
        Tried::Unfinished { .. } => Given::Broken,
    }
}

enum Tried {
    Given(Given),
    /// A trial was too short for it, or there was no room for one; whether another may do.
    Unfinished {
        again: bool,
    },
}

async fn go(app: &Arc<App>, context: &Arc<Context>, lane: Lane, work: impl FnOnce(Job) + Send + 'static) -> Tried {
    // When the client goes away, this is dropped, wherever its request is then.
    let guard = StopWhenDropped(Arc::new(AtomicBool::new(false)));
    let slot = match app.gates.of(lane).enter(&context.client).await {
        Ok(slot) => slot,
        Err(_) if lane == Lane::Trial => return Tried::Unfinished { again: true },
        Err(refusal) => {
            app.metrics.rejected(refusal);
            return Tried::Given(Given::Away(refusal));
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
        // Also given back where the work panics.
        let _slot = slot;
        let _thread = thread;
        let _work = job.context.working();
        let shared = Arc::clone(&job.app);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(job))) {
            shared.metrics.refused(Outcome::Broken);
            resume_unwind(panic);
        }
        // The next one finds what this one held free.
        deferred::wait();
        if held.most() > LARGE {
            terrapin_allocator::give_back();
        }
    };
    // There are as many threads for trials as slots.
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
        app.metrics.refused(Outcome::Broken);
    }
    Tried::Given(match head.await {
        Ok(Head::Whole(content_type, bytes)) => Given::Answer(Answer::Whole(content_type, bytes)),
        Ok(Head::Streaming(content_type, parts)) => {
            let body = Body::from_stream(AnswerBody::new(parts, guard));
            Given::Answer(Answer::Streaming(content_type, body))
        }
        Ok(Head::Refused(response)) => Given::Refused(*response),
        Ok(Head::Unfinished { again }) => return Tried::Unfinished { again },
        Err(_) => Given::Broken,
    })
}

/// When a request's work began, and what its thread had worked before.
#[derive(Debug, Clone, Copy)]
struct Begun {
    at: Instant,
    processor_time: Duration,
}

/// A request on its thread.
pub struct Job {
    app: Arc<App>,
    context: Arc<Context>,
    lane: Lane,
    head: oneshot::Sender<Head>,
    cancelled: Arc<AtomicBool>,
    begun: Begun,
    /// What reading the request and answering it hold together.
    account: Arc<Account>,
}

impl Job {
    /// What every service has.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// What is known of the request.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The bytes that it may hold.
    pub fn memory(&self) -> u64 {
        let division = &self.app.settings.memory;
        match self.lane {
            Lane::Query | Lane::Ask => division.query,
            Lane::Trial => division.trial,
            Lane::Conversion | Lane::Search => division.light,
        }
    }

    /// The time that it may take.
    fn longest(&self) -> Duration {
        let settings = &self.app.settings;
        if self.lane == Lane::Trial { settings.trial } else { settings.max_time }
    }

    /// Does what has no bounds of its own, such as reading a text, within the server's.
    ///
    /// # Errors
    /// A bound was reached, or a fault of the program, which the log tells.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> Result<T, Halt> {
        let limits = Limits {
            deadline: Some(self.begun.at + self.longest()),
            memory: Some(self.memory()),
            account: Some(Arc::clone(&self.account)),
            cancelled: Arc::clone(&self.cancelled),
            ..Limits::default()
        };
        budget::watched(&Arc::new(Budget::new(&limits)), work).map_err(|stopped| match stopped {
            Stopped::Exceeded(exceeded) => Halt::Bound(exceeded),
            Stopped::Panicked(panic) => {
                tracing::error!(panic, "a query could not be read: a fault of the program");
                Halt::Fault
            }
        })
    }

    /// Answers without having run anything.
    pub fn refuse(self, instead: Response) {
        self.give_up(Outcome::Refused, instead);
    }

    /// Answers that it could not be read.
    pub fn halt(self, halt: Halt, instead: Response) {
        if is_unfinished(self.lane, halt.into(), &self.cancelled) {
            let again = is_starved(self.begun, halt.into(), &self.app);
            let _ = self.head.send(Head::Unfinished { again });
            return;
        }
        self.give_up(halt.into(), instead);
    }

    fn give_up(self, outcome: Outcome, instead: Response) {
        self.app.metrics.finished(outcome, self.begun.at.elapsed(), 0, 0);
        let _ = self.head.send(Head::Refused(Box::new(instead)));
    }

    /// Answers with what is known without running anything.
    pub fn tell(self, answer: Response) {
        let _ = self.head.send(Head::Refused(Box::new(answer)));
    }

    /// Begins what takes time and memory: lists it and bounds it. `time` counts from when the request got its thread;
    /// `memory` is what the request asks for, by which clients see it listed: what it really holds is bounded by its
    /// share all the same.
    pub fn begin(self, time: Duration, memory: u64, content_type: &'static str) -> (Run, Sink) {
        let (share, time) = (self.memory(), time.min(self.longest()));
        let Job { app, context, lane, head, cancelled, begun, account } = self;
        let deadline = begun.at + time;
        // What is listed are queries, by whose slots clients go, and questions, which take as long.
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
        let sink = Sink::new(content_type, head, Arc::clone(&app.spool), deadline, Arc::clone(&cancelled));
        let sink = if lane == Lane::Trial { sink.of_one_piece() } else { sink };
        // That of a trial counts where it ends with an answer.
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
        (Run { app, context, lane, begun, limits, _ticket: ticket }, sink)
    }
}

/// Why a request's work stopped before it could begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// A bound was reached.
    Bound(Exceeded),
    /// By a fault of the program.
    Fault,
}

impl From<Halt> for Outcome {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Bound(exceeded) => exceeded.into(),
            Halt::Fault => Outcome::Broken,
        }
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Halt::Bound(Exceeded::Time(after)) => {
                write!(f, "Query timed out after {}, while it was read", budget::seconds(*after))
            }
            Halt::Bound(exceeded) => write!(f, "{exceeded}, while it was read"),
            Halt::Fault => f.write_str("The query could not be read: see the server's log"),
        }
    }
}

/// Whether this end of its work is a trial's alone, and the query still to be answered.
fn is_unfinished(lane: Lane, outcome: Outcome, cancelled: &AtomicBool) -> bool {
    lane == Lane::Trial && outcome != Outcome::Broken && !cancelled.load(Ordering::Relaxed)
}

/// Whether a trial's time was up before the query had a core for half of it. One that ended sooner would have had to wait for
/// others, as the next would. To be asked on its thread.
fn is_starved(begun: Begun, outcome: Outcome, app: &App) -> bool {
    let worked = trial::processor_time().saturating_sub(begun.processor_time);
    let trial = app.settings.trial;
    outcome == Outcome::TimedOut && begun.at.elapsed() >= trial && worked < trial / 2
}

/// A request's work while it runs.
pub struct Run {
    app: Arc<App>,
    context: Arc<Context>,
    lane: Lane,
    begun: Begun,
    limits: Limits,
    _ticket: Option<Ticket>,
}

impl Run {
    /// What every service has.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// What is known of the request.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// What bounds it.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Ends an answer that is complete; `results` is how many elements or rows it has.
    pub fn answered(self, sink: Sink, what: &'static str, results: u64) {
        let bytes = sink.written();
        self.cost(bytes, results);
        match sink.finish() {
            Ok(()) => self.end(what, Outcome::Answered, bytes, results),
            Err(_) => self.end(what, Outcome::Abandoned, bytes, 0),
        }
    }

    /// Ends an answer that failed, with another one instead where nothing of it went out.
    pub fn refused(self, sink: Sink, what: &'static str, outcome: Outcome, instead: Response) {
        if is_unfinished(self.lane, outcome, &self.limits.cancelled) {
            return sink.unfinished(is_starved(self.begun, outcome, &self.app));
        }
        let bytes = sink.written();
        self.cost(bytes, 0);
        sink.refuse(instead);
        self.end(what, outcome, bytes, 0);
    }

    /// Notes what it cost: before the answer's last bytes go out, as whoever has those may ask.
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

/// Says which snapshot an answer comes from.
pub fn from_snapshot(app: &App, mut response: Response) -> Response {
    if let Ok(digest) = HeaderValue::from_str(app.engine.digest()) {
        response.headers_mut().insert(SNAPSHOT_HEADER, digest);
    }
    response
}

/// Asks a client that was not let in to come back.
pub fn come_back(mut response: Response) -> Response {
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    response
}
