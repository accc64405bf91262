//! Annotated entries as lines that the readers of `terrapin benchmark` and `terrapin eval` take.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::event::{Verdict, time};
use super::queue::{EntryLabels, QueueEntry};
use super::state::{AnnotationStatus, EntryState, GivenVerdict, QuestionRound};

/// A line of the export.
#[derive(Debug, Clone, Serialize)]
pub struct ExportedAnnotation<'a> {
    /// The id of the entry.
    pub id: &'a str,
    /// The question; missing if the entry has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nl: Option<&'a str>,
    /// The query.
    pub gold: &'a str,
    /// The language of the query.
    pub lang: &'static str,
    /// The bounding box for `{{bbox}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bbox: Option<&'a str>,
    /// The geocoded places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<&'a Value>,
    /// Split, template and complexity of the entry.
    #[serde(flatten)]
    pub labels: &'a EntryLabels,
    /// The context of the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<&'a str>,
    /// The status.
    pub status: AnnotationStatus,
    /// The author of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotator: Option<&'a str>,
    /// Those who agreed with the question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub validators: Vec<&'a str>,
    /// All questions of the entry, in order, with their verdicts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<ExportedRound<'a>>,
    /// How often each annotator skipped the entry.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub skips: std::collections::BTreeMap<&'a str, u32>,
}

/// A question of an entry.
#[derive(Debug, Clone, Serialize)]
pub struct ExportedRound<'a> {
    /// The question.
    pub question: &'a str,
    /// Its author.
    pub by: &'a str,
    /// The time.
    #[serde(serialize_with = "time::serialize")]
    pub at: Timestamp,
    /// Seconds since the author received the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u32>,
    /// The suggestion that the question began with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<&'a str>,
    /// Whether it corrects the question before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub correction: bool,
    /// The verdicts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<ExportedVerdict<'a>>,
}

/// A verdict on a question.
#[derive(Debug, Clone, Serialize)]
pub struct ExportedVerdict<'a> {
    /// The annotator.
    pub by: &'a str,
    /// The time.
    #[serde(serialize_with = "time::serialize")]
    pub at: Timestamp,
    /// Seconds since the annotator received the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u32>,
    /// The verdict.
    pub verdict: Verdict,
    /// The corrected question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<&'a str>,
    /// The reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}

impl<'a> ExportedAnnotation<'a> {
    /// Returns the line of an entry.
    pub fn of(entry: &'a QueueEntry, state: &'a EntryState, validations: usize) -> ExportedAnnotation<'a> {
        let current = state.current(validations);
        let agreed = |round: &'a QuestionRound| {
            let verdicts = round.verdicts.iter().filter(|given| given.verdict == Verdict::Agree);
            verdicts.map(|given| given.by.as_str()).collect()
        };
        ExportedAnnotation {
            id: &entry.id,
            nl: current.map(|round| round.question.as_str()),
            gold: &entry.query,
            lang: entry.lang,
            bbox: entry.bbox.as_deref(),
            places: entry.places.as_ref(),
            labels: &entry.labels,
            context: entry.context.as_deref(),
            status: state.status(validations),
            annotator: current.map(|round| round.by.as_str()),
            validators: current.map(agreed).unwrap_or_default(),
            rounds: state.rounds.iter().map(|round| ExportedRound::of(entry, round)).collect(),
            skips: state.skips.iter().map(|(by, (count, _))| (by.as_str(), *count)).collect(),
        }
    }
}

impl<'a> ExportedRound<'a> {
    fn of(entry: &'a QueueEntry, round: &'a QuestionRound) -> ExportedRound<'a> {
        ExportedRound {
            question: &round.question,
            by: &round.by,
            at: round.at,
            seconds: round.seconds,
            suggestion: round.suggestion.and_then(|number| entry.suggestions.get(number)).map(String::as_str),
            correction: round.is_correction,
            verdicts: round.verdicts.iter().map(ExportedVerdict::of).collect(),
        }
    }
}

impl<'a> ExportedVerdict<'a> {
    fn of(given: &'a GivenVerdict) -> ExportedVerdict<'a> {
        ExportedVerdict {
            by: &given.by,
            at: given.at,
            seconds: given.seconds,
            verdict: given.verdict,
            question: given.question.as_deref(),
            reason: given.reason.as_deref(),
        }
    }
}
