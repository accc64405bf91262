//! What is wrong with a pattern, a flag or a replacement string.

use std::fmt;

/// Why a pattern, its flags or a replacement string cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatternError {
    /// Whether the construct has a meaning elsewhere and is not supported here. Else it is wrong.
    pub unsupported: bool,
    /// What is wrong.
    message: String,
}

impl PatternError {
    /// An error of the text.
    pub fn wrong(message: impl Into<String>) -> PatternError {
        PatternError { unsupported: false, message: message.into() }
    }

    /// A construct that is not supported.
    pub fn unsupported(message: impl Into<String>) -> PatternError {
        PatternError { unsupported: true, message: message.into() }
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
