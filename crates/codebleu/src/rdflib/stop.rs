//! Why a text is not read on.

/// Why a step failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It does not fit here; another may.
    Unfit,
    /// The whole text cannot be read.
    Broken,
}
