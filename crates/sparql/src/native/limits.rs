//! How large a program may be.

/// Most slots of a block: sets of them are kept as bits.
pub const MOST_SLOTS: usize = 128;
/// Most steps of a program: each may be a level of recursion.
pub const MOST_STEPS: usize = 512;
