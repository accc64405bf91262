//! Evidence that two queries with equal results on one snapshot differ.

use serde::{Deserialize, Serialize};

/// The results of both queries on a snapshot of a suite on which they differ.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counterexample {
    /// The file name of the snapshot.
    pub name: String,
    /// The snapshot's digest.
    pub snapshot: String,
    /// The number of gold results, or the count.
    pub ref_n: Option<i64>,
    /// The same for the prediction; negative or missing for an error.
    pub pred_n: Option<i64>,
    /// The class of the prediction's failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The first elements or rows that only the gold query has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The first elements or rows that only the prediction has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<String>,
}
