//! What the code of Instruct-to-SPARQL's authors computes.

use serde::{Deserialize, Serialize};

/// The published scores of one instance.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Compat {
    /// Whether the queries are the same text, 0 or 1.
    pub em: u8,
    /// CodeBLEU of the queries, 0 to 1.
    pub codebleu: f64,
    /// Whether rdflib parses both; else CodeBLEU compares the texts.
    pub parsed: bool,
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
}

impl Compat {
    /// A score that counts: that of an instance which is not left out.
    pub fn counted<T>(&self, score: impl Fn(&Compat) -> Option<T>) -> Option<T> {
        self.dropped.is_none().then(|| score(self)).flatten()
    }
}
