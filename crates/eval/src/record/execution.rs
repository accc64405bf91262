//! The results of an instance's OverpassQL queries.

use serde::{Deserialize, Serialize};

use super::class::ErrorClass;

/// The results of an instance's OverpassQL queries.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Execution {
    /// The number of the gold query's elements, or its count; -1 or -2 for an error; `null` if it did not run because
    /// the prediction could not be prepared.
    pub ref_n: Option<i64>,
    /// The number of the prediction's elements, or its count; -1 or -2 for an error; `null` if it did not run because
    /// the gold query could not be prepared.
    pub pred_n: Option<i64>,
    /// The prediction's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorClass>,
    /// The text of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// The gold query's error; it should have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_error: Option<ErrorClass>,
    /// The text of the gold query's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_error_text: Option<String>,
    /// 1 if the results are equal and not empty.
    pub ex: u8,
    /// The share of common elements in the larger result.
    pub ex_soft: f64,
    /// Stricter: 1 if the results are equal multisets; missing if a limit cut them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiset: Option<u8>,
    /// Stricter: F1 over matched results; missing if a limit cut them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f1: Option<f64>,
    /// A limit cut the results of either query. The remaining elements depend only on their ids, so the stricter
    /// scores are missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limited: bool,
    /// The first elements missing from the prediction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The first elements only in the prediction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<String>,
}
