//! How alike the queries of an instance are.

use serde::{Deserialize, Serialize};

/// The scores of one line, each 0 to 1. The names are those of the published results.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Similarity {
    /// Common character n-grams.
    pub chrf: f64,
    /// Common keys and values.
    pub kvs: f64,
    /// Common subtrees.
    pub trees: f64,
    /// The mean of the three.
    pub oqs: f64,
    /// Whether the queries are the same but for output format, time limit and white space.
    pub em: u8,
}
