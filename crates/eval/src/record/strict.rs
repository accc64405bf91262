//! The results of an instance's SPARQL queries.

use serde::{Deserialize, Serialize};

use super::failure::FailureClass;

/// The results of an instance's SPARQL queries.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StrictResults {
    /// The rows of the gold answer, if it has one.
    pub ref_n: Option<u64>,
    /// The rows of the predicted answer.
    pub pred_n: Option<u64>,
    /// The reason why the prediction has no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<FailureClass>,
    /// The error text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// The reason why the gold query has no answer; it should have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_error: Option<FailureClass>,
    /// The gold query's error text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_error_text: Option<String>,
    /// 1 if the prediction is a query in the language, else 0.
    pub syntax: u8,
    /// The common rows divided by all rows, 0 to 1.
    pub jaccard: f64,
    /// The common rows divided by those of the smaller answer, 0 to 1.
    pub overlap: f64,
    /// Twice the common rows divided by the sum of both answers', 0 to 1.
    pub dice: f64,
    /// Stricter: 1 if the answers have the same number of columns and the same rows; missing if a limit cut one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiset: Option<u8>,
    /// Stricter: F1 over rows matched one to one; missing if a limit cut one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f1: Option<f64>,
    /// Stricter: 1 if the rows also have the same order; missing if the gold query sets none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered: Option<u8>,
    /// A limit without an order cut either answer, so that its rows are arbitrary.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limited: bool,
    /// The first rows missing from the prediction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The first rows only in the prediction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<String>,
}

impl StrictResults {
    /// Returns the result of an instance after a panic during scoring. The syntax of the prediction counts as valid.
    pub fn failed(message: String) -> StrictResults {
        StrictResults {
            error: Some(FailureClass::Internal),
            error_text: Some(message),
            syntax: 1,
            multiset: Some(0),
            f1: Some(0.0),
            ..StrictResults::default()
        }
    }
}
