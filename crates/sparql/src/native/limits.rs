//! Limits on the size of a program.

/// The number of slots of a block that sets of slots can contain. Further slots are treated as never certainly bound.
pub const SET_SLOTS: usize = 128;
/// Maximum number of steps that follow each other, because each may be a level of recursion.
pub const MOST_DEPTH: usize = 4096;
