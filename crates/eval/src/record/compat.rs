//! The scores of a benchmark authors' code.

use serde::{Deserialize, Serialize};

use super::class::ErrorClass;
use super::failed::FailedQuery;

/// The scores of the authors' code for one instance: those of Instruct-to-SPARQL, and for OverpassNL the errors of
/// queries that run here.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Compat {
    /// Equality of the query texts, 0 or 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub em: Option<u8>,
    /// CodeBLEU of the queries, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codebleu: Option<f64>,
    /// rdflib parses both queries; otherwise CodeBLEU compares the texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parsed: Option<bool>,
    /// 0 if the endpoint rejects the prediction's syntax, else 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syntax: Option<u8>,
    /// The common values divided by those of the smaller column, as a mean over matched columns; missing if no
    /// columns match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<f64>,
    /// The common values divided by all values, as a mean over matched columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jaccard: Option<f64>,
    /// Twice the common values divided by the sum of both columns' values, as a mean over matched columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dice: Option<f64>,
    /// The reason why the published code skips the instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<String>,
    /// The published code's error for a prediction that runs here: it prepares the text, not the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorClass>,
    /// The text of that error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// The published code's error for a gold query that runs here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_error: Option<ErrorClass>,
    /// The text of that error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_error_text: Option<String>,
}

impl Compat {
    /// Returns the published code's errors for queries that run here; `None` without any.
    pub fn of_errors(gold: Option<FailedQuery<ErrorClass>>, pred: Option<FailedQuery<ErrorClass>>) -> Option<Compat> {
        let split = |failed: Option<FailedQuery<ErrorClass>>| failed.map(|failed| (failed.class, failed.text)).unzip();
        let ((error, error_text), (ref_error, ref_error_text)) = (split(pred), split(gold));
        let compat = Compat { error, error_text, ref_error, ref_error_text, ..Compat::default() };
        compat.has_error().then_some(compat)
    }

    /// Reports whether the published code fails on a query that runs here.
    pub fn has_error(&self) -> bool {
        self.error.is_some() || self.ref_error.is_some()
    }

    /// Returns a score, unless the instance is skipped.
    pub fn counted<T>(&self, score: impl Fn(&Compat) -> Option<T>) -> Option<T> {
        self.dropped.is_none().then(|| score(self)).flatten()
    }
}
