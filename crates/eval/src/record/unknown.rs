//! The identifiers of a prediction that the snapshot lacks.

use serde::{Deserialize, Serialize};

/// The unknown identifiers of a prediction.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UnknownIdentifiers {
    /// The number of different identifiers.
    pub of: usize,
    /// The number of unknown ones.
    pub unknown: usize,
    /// The first of them: a key, `key=value`, or a shortened IRI.
    pub first: Vec<String>,
}
