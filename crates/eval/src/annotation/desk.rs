//! Gives entries to annotators and takes their work, for several threads at once. Work is written and synced before it is
//! confirmed. A request that repeats confirmed work, because its reply was lost, is confirmed again.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::agreement::{AnnotationSummary, StatusCounts};
use super::annotated::{AnnotationFileError, replay, summary};
use super::event::{AnnotationAction, AnnotationEvent, Verdict};
use super::export::ExportedAnnotation;
use super::log::{Durability, EventLog, state_path};
use super::queue::{AnnotationQueue, QueueEntry};
use super::state::{AnnotationState, AnnotationStatus, EntryState, Unfit};

/// Maximum length of a question in characters.
pub const LONGEST_QUESTION: usize = 2000;
/// Maximum length of a reason in characters.
pub const LONGEST_REASON: usize = 1000;
/// Maximum number of events of one annotator at once, and how many follow in a second.
const BURST: f64 = 120.0;
const EVENTS_PER_SECOND: f64 = 2.0;
/// Maximum number of annotators.
const MOST_ANNOTATORS: usize = 1024;

/// Returns whether a text may be the name of an annotator, as that of a token: at most 64 letters, digits and `.`, `_`,
/// `@`, `-`.
pub fn is_annotator_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._@-".contains(&b))
}

/// The settings of a desk.
#[derive(Debug, Clone, Copy)]
pub struct DeskSettings {
    /// The number of people who validate each question, at least 1.
    pub validations: u8,
    /// How long an annotator has an entry before another one may get it.
    pub lease: Duration,
}

/// The kind of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskKind {
    /// Write a question.
    Write,
    /// Validate the question of another annotator.
    Validate,
}

/// The wish of an annotator for the next task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WantedTask {
    /// Questions to write first, then questions to validate.
    Any,
    /// One kind only.
    Only(TaskKind),
    /// The entry with this id.
    Entry(String),
}

/// A question to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenQuestion {
    /// The question.
    pub question: String,
    /// The suggestion that it began with, from 0.
    pub suggestion: Option<usize>,
}

/// A verdict to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictOnQuestion {
    /// The number of the question, from 1.
    pub number: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// The corrected question.
    pub question: Option<String>,
    /// The reason.
    pub reason: Option<String>,
}

/// The reason why a request of an annotator was refused.
#[derive(Debug, thiserror::Error)]
pub enum AnnotationError {
    /// The entry does not exist.
    #[error("there is no entry {0:?} in the queue")]
    NoEntry(String),
    /// A value is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The annotator wrote the question.
    #[error("you wrote this question: another person validates it")]
    OwnQuestion,
    /// The state of the entry does not allow it.
    #[error("{0}")]
    Conflict(String),
    /// Too many requests; one is allowed after this time.
    #[error("too many annotations at once: wait {} seconds", .0.as_secs().max(1))]
    TooFast(Duration),
    /// The work cannot be saved.
    #[error("the work was not saved: {0}")]
    NotSaved(#[from] io::Error),
}

/// A task for an annotator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnnotationTask {
    /// The kind.
    pub task: TaskKind,
    /// The entry.
    pub entry: QueueEntry,
    /// The number of the question to validate, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// The question to validate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Earlier questions with the verdicts on them, without names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<ShownRound>,
    /// Seconds until another annotator may get the entry.
    pub lease_seconds: u64,
}

/// An earlier question that an annotator sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownRound {
    /// The question.
    pub question: String,
    /// The verdicts on it, with their reasons.
    pub verdicts: Vec<(Verdict, Option<String>)>,
}

/// The progress of the work, for one annotator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskProgress {
    /// Number of entries.
    pub entries: usize,
    /// Entries by status.
    pub status: StatusCounts,
    /// Entries with a verdict that is not an agreement.
    pub disputed: usize,
    /// Questions that the annotator wrote.
    pub written: usize,
    /// Verdicts that the annotator gave.
    pub verdicts: usize,
    /// Entries for which the annotator may write a question.
    pub to_write: usize,
    /// Questions that the annotator may validate.
    pub to_validate: usize,
}

/// A queue that is being annotated.
#[derive(Debug)]
pub struct AnnotationDesk {
    queue: AnnotationQueue,
    digests: Vec<String>,
    settings: DeskSettings,
    work: Mutex<DeskWork>,
}

#[derive(Debug)]
struct DeskWork {
    state: AnnotationState,
    log: EventLog,
    rates: HashMap<String, EventRate>,
}

/// A token bucket.
#[derive(Debug, Clone, Copy)]
struct EventRate {
    left: f64,
    at: Timestamp,
}

/// A desk, and what its state file had.
#[derive(Debug)]
pub struct OpenedDesk {
    /// The desk.
    pub desk: AnnotationDesk,
    /// Number of events in the file.
    pub events: usize,
    /// Number of events of entries that are missing in the queue, or have another query now.
    pub ignored: usize,
    /// Bytes of an incomplete last line, which was removed.
    pub torn: usize,
}

impl AnnotationDesk {
    /// Opens a queue and its state file, which is created if it is missing, and locked.
    ///
    /// # Errors
    /// Returns an error if a file cannot be used, or another server uses the state file.
    pub fn open(path: &Path, settings: DeskSettings) -> Result<OpenedDesk, AnnotationFileError> {
        let queue = AnnotationQueue::read(path)?;
        let file = state_path(path);
        let (log, contents) = EventLog::open(&file, settings.validations)?;
        let (state, ignored) = replay(&queue, &file, &contents, settings.validations)?;
        let digests = queue.entries.iter().map(QueueEntry::digest).collect();
        let work = Mutex::new(DeskWork { state, log, rates: HashMap::new() });
        let desk = AnnotationDesk { queue, digests, settings, work };
        Ok(OpenedDesk { desk, events: contents.events.len(), ignored, torn: contents.torn })
    }

    /// Gives an annotator an entry, and keeps it from others for the time of a lease. An annotator who has an entry gets
    /// it again. Returns `None` if there is nothing to do now.
    ///
    /// # Errors
    /// Returns an error if the wanted entry is not available, or the lease cannot be written.
    pub fn take(
        &self,
        who: &str,
        wanted: &WantedTask,
        now: Timestamp,
    ) -> Result<Option<AnnotationTask>, AnnotationError> {
        let mut work = self.work();
        let Some((index, kind)) = self.choose(&work.state, who, wanted, now)? else { return Ok(None) };
        let until = now.checked_add(self.settings.lease).unwrap_or(Timestamp::MAX);
        let left = work.state.entries.get(index).and_then(|entry| entry.lease.as_ref()).map(|lease| {
            let left = if lease.by == who { lease.until.duration_since(now).as_secs_f64() } else { 0.0 };
            left / self.settings.lease.as_secs_f64().max(1e-3)
        });
        // A renewal is written only if a good part of the lease is over, so that the file does not grow by it.
        if left.unwrap_or_default() < 0.75 {
            self.record(&mut work, who, index, AnnotationAction::Lease { until }, now)?;
        }
        Ok(self.task(&work.state, index, kind, now))
    }

    fn choose(
        &self,
        state: &AnnotationState,
        who: &str,
        wanted: &WantedTask,
        now: Timestamp,
    ) -> Result<Option<(usize, TaskKind)>, AnnotationError> {
        if let WantedTask::Entry(id) = wanted {
            let index = self.index_of(id)?;
            let entry = entry_of(state, index);
            refuse_leased(entry, who, now)?;
            let none = || AnnotationError::Conflict("there is nothing for you to do with this entry now".to_owned());
            return task_for(entry, who, state.validations).map(|kind| Some((index, kind))).ok_or_else(none);
        }
        let fits = |kind: TaskKind| match wanted {
            WantedTask::Only(only) => *only == kind,
            _ => true,
        };
        let offer = |index: usize| {
            let entry = state.entries.get(index).filter(|entry| entry.leased_to_other(who, now).is_none())?;
            task_for(entry, who, state.validations).filter(|kind| fits(*kind))
        };
        let has_lease = |index: &usize| {
            let lease = state.entries.get(*index).and_then(|entry| entry.lease.as_ref());
            lease.is_some_and(|lease| lease.by == who && lease.until > now)
        };
        if let Some(index) = state.received_by(who).filter(has_lease)
            && let Some(kind) = offer(index)
        {
            return Ok(Some((index, kind)));
        }
        let rank = |index: usize, kind: TaskKind| {
            let skipped = entry_of(state, index).skips.get(who).copied().unwrap_or_default();
            (skipped.0 > 0, kind == TaskKind::Validate, skipped, index)
        };
        let offers = (0..state.entries.len()).filter_map(|index| Some((index, offer(index)?)));
        Ok(offers.min_by_key(|(index, kind)| rank(*index, *kind)))
    }

    fn task(&self, state: &AnnotationState, index: usize, task: TaskKind, now: Timestamp) -> Option<AnnotationTask> {
        let entry = state.entries.get(index)?;
        let left = entry.lease.as_ref().map_or(0, |lease| lease.until.duration_since(now).as_secs());
        let earlier =
            if task == TaskKind::Validate { entry.rounds.len().saturating_sub(1) } else { entry.rounds.len() };
        let history = entry.rounds.iter().take(earlier).map(|round| ShownRound {
            question: round.question.clone(),
            verdicts: round.verdicts.iter().map(|given| (given.verdict, given.reason.clone())).collect(),
        });
        let current = entry.rounds.last().filter(|_| task == TaskKind::Validate);
        Some(AnnotationTask {
            task,
            entry: self.queue.entries.get(index)?.clone(),
            number: current.map(|_| entry.rounds.len()),
            question: current.map(|round| round.question.clone()),
            history: history.collect(),
            lease_seconds: u64::try_from(left).unwrap_or_default(),
        })
    }

    /// Records a question.
    ///
    /// # Errors
    /// Returns an error if the question is invalid, the entry has one or is with another annotator, or the work cannot be
    /// saved.
    pub fn write(&self, who: &str, id: &str, written: &WrittenQuestion, now: Timestamp) -> Result<(), AnnotationError> {
        let question = question_of(&written.question)?;
        let index = self.index_of(id)?;
        let suggestions = self.queue.entries.get(index).map_or(0, |entry| entry.suggestions.len());
        if written.suggestion.is_some_and(|number| number >= suggestions) {
            return Err(AnnotationError::Invalid(format!("suggestion: the entry has {suggestions}, counted from 0")));
        }
        let mut work = self.work();
        let validations = work.state.validations;
        let entry = entry_of(&work.state, index);
        let repeated = |round: &super::state::QuestionRound| round.by == who && round.question == question;
        if entry.current(validations).is_some_and(repeated) {
            return Ok(());
        }
        refuse_leased(entry, who, now)?;
        entry.check_question(validations).map_err(conflict)?;
        let seconds = seconds_since(entry, who, now);
        let action = AnnotationAction::Question { question, suggestion: written.suggestion, seconds };
        self.record(&mut work, who, index, action, now)
    }

    /// Records a verdict.
    ///
    /// # Errors
    /// Returns an error if the verdict is invalid, the annotator wrote the question, the question is not the current one,
    /// the entry is with another annotator, or the work cannot be saved.
    pub fn judge(&self, who: &str, id: &str, given: &VerdictOnQuestion, now: Timestamp) -> Result<(), AnnotationError> {
        let invalid = |message: &str| Err(AnnotationError::Invalid(message.to_owned()));
        let question = given.question.as_deref().map(question_of).transpose()?;
        let reason = given.reason.as_deref().map(reason_of).transpose()?.filter(|reason| !reason.is_empty());
        match (given.verdict, &question, &reason) {
            (Verdict::Correct, None, _) => return invalid("question: a correction needs the corrected question"),
            (Verdict::Agree | Verdict::Reject, Some(_), _) => return invalid("question: only a correction has one"),
            (Verdict::Reject, _, None) => return invalid("reason: a rejection needs a reason"),
            _ => {}
        }
        let index = self.index_of(id)?;
        let mut work = self.work();
        let validations = work.state.validations;
        let entry = entry_of(&work.state, index);
        let round = given.number.checked_sub(1).and_then(|number| entry.rounds.get(number));
        let before = round.and_then(|round| round.verdicts.iter().find(|verdict| verdict.by == who));
        if before.is_some_and(|b| b.verdict == given.verdict && b.question == question && b.reason == reason) {
            return Ok(());
        }
        entry.check_verdict(who, given.number, validations).map_err(conflict)?;
        refuse_leased(entry, who, now)?;
        if question.is_some() && question.as_ref() == round.map(|round| &round.question) {
            return invalid("question: the correction equals the question: agree with it instead");
        }
        let seconds = seconds_since(entry, who, now);
        let (number, verdict) = (given.number, given.verdict);
        let action = AnnotationAction::Verdict { number, verdict, question, reason, seconds };
        self.record(&mut work, who, index, action, now)
    }

    /// Puts an entry back, which the annotator gets again after all others. Does nothing if the annotator does not have
    /// it.
    ///
    /// # Errors
    /// Returns an error if the entry does not exist, or the work cannot be saved.
    pub fn skip(&self, who: &str, id: &str, reason: Option<&str>, now: Timestamp) -> Result<(), AnnotationError> {
        let reason = reason.map(reason_of).transpose()?.filter(|reason| !reason.is_empty());
        let index = self.index_of(id)?;
        let mut work = self.work();
        if entry_of(&work.state, index).lease.as_ref().is_none_or(|lease| lease.by != who) {
            return Ok(());
        }
        self.record(&mut work, who, index, AnnotationAction::Skip { reason }, now)
    }

    /// Returns the progress of the work.
    pub fn progress(&self, who: &str, now: Timestamp) -> TaskProgress {
        let work = self.work();
        let state = &work.state;
        let mut progress = TaskProgress {
            entries: state.entries.len(),
            status: StatusCounts::default(),
            disputed: 0,
            written: 0,
            verdicts: 0,
            to_write: 0,
            to_validate: 0,
        };
        for entry in &state.entries {
            progress.status.add(entry.status(state.validations));
            progress.disputed += usize::from(entry.is_disputed());
            for round in &entry.rounds {
                progress.written += usize::from(round.by == who && !round.is_correction);
                progress.verdicts += round.verdicts.iter().filter(|given| given.by == who).count();
            }
            match task_for(entry, who, state.validations).filter(|_| entry.leased_to_other(who, now).is_none()) {
                Some(TaskKind::Write) => progress.to_write += 1,
                Some(TaskKind::Validate) => progress.to_validate += 1,
                None => {}
            }
        }
        progress
    }

    /// Returns the summary of the work.
    pub fn summary(&self) -> AnnotationSummary {
        summary(&self.queue, &self.work().state)
    }

    /// Writes the lines of the export for the entries from number `from` on, at most `most` of them, to `out`. Entries
    /// are selected by `is_wanted`. Returns the number of written lines, and the number of the next entry, if there is
    /// one.
    ///
    /// # Errors
    /// Returns an error of serialisation.
    pub fn export(
        &self,
        from: usize,
        most: usize,
        is_wanted: &dyn Fn(AnnotationStatus, bool) -> bool,
        out: &mut Vec<u8>,
    ) -> Result<(u64, Option<usize>), serde_json::Error> {
        let work = self.work();
        let validations = work.state.validations;
        let mut lines = 0;
        let both = self.queue.entries.iter().zip(&work.state.entries).skip(from).take(most);
        for (entry, state) in both.filter(|(_, state)| is_wanted(state.status(validations), state.is_disputed())) {
            serde_json::to_writer(&mut *out, &ExportedAnnotation::of(entry, state, validations))?;
            out.push(b'\n');
            lines += 1;
        }
        let next = from.saturating_add(most);
        Ok((lines, Some(next).filter(|next| *next < self.queue.entries.len())))
    }

    /// Writes an event, then changes the state by it.
    fn record(
        &self,
        work: &mut DeskWork,
        who: &str,
        index: usize,
        action: AnnotationAction,
        now: Timestamp,
    ) -> Result<(), AnnotationError> {
        work.admit(who, now)?;
        let durability = match action {
            AnnotationAction::Lease { .. } => Durability::Written,
            _ => Durability::Synced,
        };
        let entry = self.queue.entries.get(index).map(|entry| entry.id.clone()).unwrap_or_default();
        let query = self.digests.get(index).cloned().unwrap_or_default();
        let event = AnnotationEvent { entry, query, by: who.to_owned(), at: now, action };
        work.log.append(&event, durability)?;
        work.state.apply(index, &event).map_err(conflict)
    }

    fn index_of(&self, id: &str) -> Result<usize, AnnotationError> {
        self.queue.index_of(id).ok_or_else(|| AnnotationError::NoEntry(id.chars().take(80).collect()))
    }

    fn work(&self) -> MutexGuard<'_, DeskWork> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DeskWork {
    /// Counts an event of an annotator.
    fn admit(&mut self, who: &str, now: Timestamp) -> Result<(), AnnotationError> {
        if !self.rates.contains_key(who) && self.rates.len() >= MOST_ANNOTATORS {
            return Err(AnnotationError::Invalid(format!("annotator: at most {MOST_ANNOTATORS} people can annotate")));
        }
        let rate = self.rates.entry(who.to_owned()).or_insert(EventRate { left: BURST, at: now });
        let passed = now.duration_since(rate.at).as_secs_f64().max(0.0);
        rate.left = (rate.left + passed * EVENTS_PER_SECOND).min(BURST);
        rate.at = now;
        if rate.left < 1.0 {
            return Err(AnnotationError::TooFast(Duration::from_secs_f64((1.0 - rate.left) / EVENTS_PER_SECOND)));
        }
        rate.left -= 1.0;
        Ok(())
    }
}

/// Returns the state of an entry that exists.
fn entry_of(state: &AnnotationState, index: usize) -> &EntryState {
    static EMPTY: EntryState = EntryState::EMPTY;
    state.entries.get(index).unwrap_or(&EMPTY)
}

/// Returns what an annotator can do with an entry.
fn task_for(entry: &EntryState, who: &str, validations: usize) -> Option<TaskKind> {
    if entry.check_question(validations).is_ok() {
        return Some(TaskKind::Write);
    }
    entry.check_verdict(who, entry.rounds.len(), validations).is_ok().then_some(TaskKind::Validate)
}

fn refuse_leased(entry: &EntryState, who: &str, now: Timestamp) -> Result<(), AnnotationError> {
    match entry.leased_to_other(who, now) {
        None => Ok(()),
        Some(lease) => {
            let left = lease.until.duration_since(now).as_secs().max(1);
            Err(AnnotationError::Conflict(format!("another annotator has this entry, for {left} seconds at most")))
        }
    }
}

fn seconds_since(entry: &EntryState, who: &str, now: Timestamp) -> Option<u32> {
    let lease = entry.lease.as_ref().filter(|lease| lease.by == who)?;
    u32::try_from(now.duration_since(lease.since).as_secs()).ok()
}

fn conflict(why: Unfit) -> AnnotationError {
    let message = match why {
        Unfit::OwnQuestion => return AnnotationError::OwnQuestion,
        Unfit::JudgedBefore => "you have validated this question",
        Unfit::HasQuestion => "another annotator wrote a question for this entry",
        Unfit::NotCurrent => "this question is no longer the one to validate",
        Unfit::Exhausted => "this entry has the maximum number of questions: settle it outside of this page",
    };
    AnnotationError::Conflict(message.to_owned())
}

/// Returns a question as it is stored: on one line, with single spaces.
fn question_of(text: &str) -> Result<String, AnnotationError> {
    one_line("question", text, LONGEST_QUESTION).and_then(|question| match question.is_empty() {
        true => Err(AnnotationError::Invalid("question: it is empty".to_owned())),
        false => Ok(question),
    })
}

fn reason_of(text: &str) -> Result<String, AnnotationError> {
    one_line("reason", text, LONGEST_REASON)
}

fn one_line(what: &str, text: &str, longest: usize) -> Result<String, AnnotationError> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().any(char::is_control) {
        return Err(AnnotationError::Invalid(format!("{what}: it has control characters")));
    }
    match line.chars().count() {
        length if length > longest => {
            Err(AnnotationError::Invalid(format!("{what}: it has {length} characters, at most {longest} are allowed")))
        }
        _ => Ok(line),
    }
}

#[cfg(test)]
mod tests;
