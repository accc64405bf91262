//! Failures of the grammar interpreter.

/// The reason why a step failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseStop {
    /// The expression does not match here; an alternative may.
    Unfit,
    /// The whole text is rejected.
    Broken,
}
