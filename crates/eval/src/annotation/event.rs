//! A line of the state file: what an annotator did with an entry.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The version of the state file.
pub const VERSION: u32 = 1;

/// The first line of a state file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogHeader {
    /// The version of the format.
    pub annotations: u32,
    /// How many people validate each question, at least 1.
    pub validations: u8,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnnotationEvent {
    /// The id of the entry.
    pub entry: String,
    /// The digest of the entry's query ([`super::QueueEntry::digest`]).
    pub query: String,
    /// The annotator.
    pub by: String,
    /// The time.
    #[serde(with = "time")]
    pub at: Timestamp,
    /// The action.
    #[serde(flatten)]
    pub action: AnnotationAction,
}

/// What an annotator did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum AnnotationAction {
    /// Received the entry; no other annotator gets it until then.
    Lease {
        /// The end of the lease.
        #[serde(with = "time")]
        until: Timestamp,
    },
    /// Wrote a question.
    Question {
        /// The question.
        question: String,
        /// The suggestion that it began with, from 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suggestion: Option<usize>,
        /// Seconds since the annotator received the entry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<u32>,
    },
    /// Validated a question.
    Verdict {
        /// The number of the question among those of the entry, from 1.
        number: usize,
        /// The verdict.
        verdict: Verdict,
        /// The corrected question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<String>,
        /// The reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Seconds since the annotator received the entry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<u32>,
    },
    /// Skipped the entry.
    Skip {
        /// The reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// The verdict of a validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The question is right.
    Agree,
    /// Another question is right.
    Correct,
    /// The question is wrong.
    Reject,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Verdict; 3] = [Verdict::Agree, Verdict::Correct, Verdict::Reject];

    /// Parses a name.
    pub fn named(name: &str) -> Option<Verdict> {
        match name {
            "agree" => Some(Verdict::Agree),
            "correct" => Some(Verdict::Correct),
            "reject" => Some(Verdict::Reject),
            _ => None,
        }
    }
}

/// Writes times as RFC 3339 in UTC with milliseconds.
pub(super) mod time {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{time:.3}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| D::Error::custom(format!("{text:?} is not a time")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_back_as_they_were() {
        for line in [
            r#"{"entry":"a","query":"00ff","by":"ann","at":"2026-01-02T03:04:05.678Z","event":"lease","until":"2026-01-02T03:19:05.678Z"}"#,
            r#"{"entry":"a","query":"00ff","by":"ann","at":"2026-01-02T03:04:05.000Z","event":"question","question":"Which?","suggestion":0,"seconds":31}"#,
            r#"{"entry":"a","query":"00ff","by":"bob","at":"2026-01-02T03:04:05.000Z","event":"verdict","number":1,"verdict":"reject","reason":"no box"}"#,
            r#"{"entry":"a","query":"00ff","by":"bob","at":"2026-01-02T03:04:05.000Z","event":"skip"}"#,
        ] {
            let event: AnnotationEvent = serde_json::from_str(line).unwrap();
            assert_eq!(serde_json::to_string(&event).unwrap(), line);
        }
    }
}
