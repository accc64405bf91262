//! What the code of a benchmark's authors computes.

use serde::{Deserialize, Serialize};

use super::class::ErrorClass;
use super::failed::Failed;

/// What the code of a benchmark's authors computes for one instance: the scores of Instruct-to-SPARQL, and of OverpassNL
/// the errors of queries that run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Compat {
    /// Whether the queries are the same text, 0 or 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub em: Option<u8>,
    /// CodeBLEU of the queries, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codebleu: Option<f64>,
    /// Whether rdflib parses both; else CodeBLEU compares the texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parsed: Option<bool>,
    /// 0 where the endpoint refuses the prediction's syntax, else 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syntax: Option<u8>,
    /// Common values over the smaller column's, mean over matched columns; not given where none match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<f64>,
    /// Common values over all, mean over matched columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jaccard: Option<f64>,
    /// Twice the common values over the sum of both columns', mean over matched columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dice: Option<f64>,
    /// Why the published code leaves the instance out of every mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<String>,
    /// The error that the published code makes of a prediction that runs: it prepares the text, not the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorClass>,
    /// What that error says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// The same of a gold query that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_error: Option<ErrorClass>,
    /// What that error says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_error_text: Option<String>,
}

impl Compat {
    /// The errors that the published code makes of queries that run; `None` without any.
    pub fn of_errors(gold: Option<Failed<ErrorClass>>, pred: Option<Failed<ErrorClass>>) -> Option<Compat> {
        let split = |failed: Option<Failed<ErrorClass>>| failed.map(|failed| (failed.class, failed.text)).unzip();
        let ((error, error_text), (ref_error, ref_error_text)) = (split(pred), split(gold));
        let compat = Compat { error, error_text, ref_error, ref_error_text, ..Compat::default() };
        compat.has_error().then_some(compat)
    }

    /// Whether the published code makes an error of a query that runs.
    pub fn has_error(&self) -> bool {
        self.error.is_some() || self.ref_error.is_some()
    }

    /// A score that counts: that of an instance which is not left out.
    pub fn counted<T>(&self, score: impl Fn(&Compat) -> Option<T>) -> Option<T> {
        self.dropped.is_none().then(|| score(self)).flatten()
    }
}
