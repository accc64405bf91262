//! A queue with the work on it, read from its files without a lock, such as while a server uses them.

use std::path::Path;

use super::agreement::AnnotationSummary;
use super::event::AnnotationEvent;
use super::export::ExportedAnnotation;
use super::log::{LogContents, LogError, read_log, state_path};
use super::queue::AnnotationQueue;
use super::state::{AnnotationState, AnnotationStatus, EntryState};
use crate::error::RunError;

/// An error of a queue or its state file.
#[derive(Debug, thiserror::Error)]
pub enum AnnotationFileError {
    /// The queue cannot be read.
    #[error(transparent)]
    Queue(#[from] RunError),
    /// The state file cannot be used.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// A queue with the state of its entries.
#[derive(Debug)]
pub struct AnnotatedQueue {
    /// The queue.
    pub queue: AnnotationQueue,
    /// The states.
    pub state: AnnotationState,
    /// Number of events of entries that are missing in the queue, or have another query now.
    pub ignored: usize,
}

impl AnnotatedQueue {
    /// Reads a queue and its state file.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or is damaged.
    pub fn read(path: &Path) -> Result<AnnotatedQueue, AnnotationFileError> {
        let queue = AnnotationQueue::read(path)?;
        let log = state_path(path);
        let contents = read_log(&log)?;
        let validations = contents.header.as_ref().map_or(1, |header| header.validations);
        let (state, ignored) = replay(&queue, &log, &contents, validations)?;
        Ok(AnnotatedQueue { queue, state, ignored })
    }

    /// Returns the lines of the export for entries with one of these statuses.
    pub fn lines<'a>(
        &'a self,
        statuses: &'a [AnnotationStatus],
    ) -> impl Iterator<Item = ExportedAnnotation<'a>> + use<'a> {
        let validations = self.state.validations;
        let entries = self.queue.entries.iter().zip(&self.state.entries);
        entries
            .filter(move |(_, state)| statuses.contains(&state.status(validations)))
            .map(move |(entry, state)| ExportedAnnotation::of(entry, state, validations))
    }

    /// Returns the summary.
    pub fn summary(&self) -> AnnotationSummary {
        summary(&self.queue, &self.state)
    }
}

/// Summarises the entries of a queue.
pub fn summary(queue: &AnnotationQueue, state: &AnnotationState) -> AnnotationSummary {
    AnnotationSummary::of(state, &|entry, number, question| {
        let suggestions = queue.entries.get(entry).map(|entry| &entry.suggestions);
        suggestions.and_then(|texts| texts.get(number)).is_some_and(|text| text == question)
    })
}

/// Returns the states of a queue's entries after the events of its log, and the number of ignored events.
///
/// # Errors
/// Returns an error if an event does not follow from those before.
pub(super) fn replay(
    queue: &AnnotationQueue,
    log: &Path,
    contents: &LogContents,
    validations: u8,
) -> Result<(AnnotationState, usize), LogError> {
    let digests: Vec<String> = queue.entries.iter().map(super::queue::QueueEntry::digest).collect();
    let mut state = AnnotationState::new(queue.entries.len(), validations);
    let mut ignored = 0;
    // The first line is the header.
    for (line, event) in (2..).zip(&contents.events) {
        let known = |event: &AnnotationEvent| {
            queue.index_of(&event.entry).filter(|index| digests.get(*index) == Some(&event.query))
        };
        let Some(index) = known(event) else {
            ignored += 1;
            continue;
        };
        state.apply(index, event).map_err(|why| LogError::Unfit {
            path: log.to_owned(),
            line,
            message: format!("the event does not fit those before ({why:?}): restore the file, or remove the line"),
        })?;
    }
    Ok((state, ignored))
}

impl AnnotatedQueue {
    /// Returns the state of an entry by its id.
    pub fn entry(&self, id: &str) -> Option<&EntryState> {
        self.state.entries.get(self.queue.index_of(id)?)
    }
}
