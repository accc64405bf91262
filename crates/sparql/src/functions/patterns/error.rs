//! Errors in a pattern, its flags or a replacement string.

use std::fmt;

/// The error for a pattern, its flags or a replacement string that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatternError {
    /// Whether the construct is valid but not supported here; otherwise it is invalid.
    pub unsupported: bool,
    /// The description of the error.
    message: String,
}

impl PatternError {
    /// Creates an error for invalid syntax.
    pub fn wrong(message: impl Into<String>) -> PatternError {
        PatternError { unsupported: false, message: message.into() }
    }

    /// Creates an error for an unsupported construct.
    pub fn unsupported(message: impl Into<String>) -> PatternError {
        PatternError { unsupported: true, message: message.into() }
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
