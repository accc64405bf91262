//! What running both SPARQL queries of an instance gave.

use serde::{Deserialize, Serialize};

use super::failure::FailureClass;

/// What running both SPARQL queries of an instance gave.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Strict {
    /// Rows of the gold's answer, where it has one.
    pub ref_n: Option<u64>,
    /// Rows of the prediction's.
    pub pred_n: Option<u64>,
    /// Why the prediction has no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<FailureClass>,
    /// What was wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// Why the gold has no answer: it should have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_error: Option<FailureClass>,
    /// What was wrong with the gold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_error_text: Option<String>,
    /// Whether the prediction is a query in the language, 0 or 1.
    pub syntax: u8,
    /// Common rows over all rows, 0 to 1.
    pub jaccard: f64,
    /// Common rows over the smaller answer's, 0 to 1.
    pub overlap: f64,
    /// Twice the common rows over the sum of both answers', 0 to 1.
    pub dice: f64,
    /// Stricter: whether the answers have as many columns and the same rows; not given where a limit cut one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiset: Option<u8>,
    /// Stricter: F1 over rows matched one to one; not given where a limit cut one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f1: Option<f64>,
    /// Stricter: whether the rows are also in the same order, where the gold asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered: Option<u8>,
    /// Whether a limit without an order cut either answer: which rows it left is nobody's choice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limited: bool,
    /// The first rows that the prediction lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The first rows that only the prediction has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<String>,
}

impl Strict {
    /// What is kept of an instance that scoring panicked on, which says nothing of the prediction's syntax.
    pub fn failed(message: String) -> Strict {
        Strict {
            error: Some(FailureClass::Internal),
            error_text: Some(message),
            syntax: 1,
            multiset: Some(0),
            f1: Some(0.0),
            ..Strict::default()
        }
    }
}
