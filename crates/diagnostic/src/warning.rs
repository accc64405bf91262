//! Warnings about queries.

use std::fmt;

/// A probable mistake in a query that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
pub struct QueryWarning {
    /// The code, for programs.
    pub code: &'static str,
    /// The message.
    pub message: String,
    /// The nearest existing alternatives, with counts.
    pub nearest: Vec<String>,
    /// The name that the warning is about, with its usual prefix, if it is about one name of a SPARQL query.
    #[cfg_attr(feature = "json", serde(skip))]
    pub name: Option<String>,
}

impl QueryWarning {
    /// Creates a warning about no name, without alternatives.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        QueryWarning { code, message: message.into(), nearest: Vec::new(), name: None }
    }
}

/// Prints one line of text.
impl fmt::Display for QueryWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.nearest.is_empty() {
            write!(f, "; there is {}", self.nearest.join(", "))?;
        }
        Ok(())
    }
}
