//! What running both OverpassQL queries of an instance gave.

use serde::{Deserialize, Serialize};

use super::class::ErrorClass;

/// What running both OverpassQL queries of an instance gave.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Execution {
    /// How many elements the gold gave, or its count; -1 or -2 for an error; `null` where it was not run because the
    /// prediction could not be prepared.
    pub ref_n: Option<i64>,
    /// The same of the prediction; `null` where the gold could not be prepared.
    pub pred_n: Option<i64>,
    /// The prediction's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorClass>,
    /// What the error said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// The gold's error: it should have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_error: Option<ErrorClass>,
    /// What the gold's error said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_error_text: Option<String>,
    /// Whether the results are the same and not empty.
    pub ex: u8,
    /// The share of common elements in the larger result.
    pub ex_soft: f64,
    /// Stricter than published: whether the results are the same multiset, where nothing was cut by a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiset: Option<u8>,
    /// Stricter than published: F1 over matched results, where nothing was cut by a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f1: Option<f64>,
    /// Whether a limit cut the results of either query: which elements it left depends on their ids only, so the
    /// stricter scores are not given.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limited: bool,
    /// The first elements that the prediction lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The first elements that only the prediction has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<String>,
}
