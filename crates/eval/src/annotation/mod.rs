//! Annotation: people write a question for each query of a queue, and others validate it.
//!
//! - `queue` reads the file of queries.
//! - `event` describes a line of the state file, `log` appends such lines and reads them again.
//! - `state` derives the state of an entry from its events.
//! - `export` writes annotated entries as a benchmark's pairs.
//! - `agreement` summarises the work: counts, annotators, agreement.
//! - `annotated` reads a queue with the work on it.
//! - `desk` gives entries to annotators and takes their work, for several threads at once.
//!
//! The state file is next to the queue. A line is written and synced before the work is confirmed, so that a kill loses
//! nothing that was confirmed.

mod agreement;
mod annotated;
mod desk;
mod event;
mod export;
mod log;
mod queue;
mod state;

pub use agreement::{AnnotationSummary, AnnotatorCounts, StatusCounts, fleiss_kappa};
pub use annotated::{AnnotatedQueue, AnnotationFileError};
pub use desk::{
    AnnotationDesk, AnnotationError, AnnotationTask, DeskSettings, OpenedDesk, ShownRound, TaskKind, TaskProgress,
    VerdictOnQuestion, WantedTask, WrittenQuestion, is_annotator_name,
};
pub use event::{AnnotationAction, AnnotationEvent, LogHeader, Verdict};
pub use export::{ExportedAnnotation, ExportedRound, ExportedVerdict};
pub use log::{LogError, state_path};
pub use queue::{AnnotationQueue, QueueEntry};
pub use state::{AnnotationState, AnnotationStatus, EntryState, GivenVerdict, QuestionRound};
