//! Limits on the size of a program.

/// Maximum number of slots of a block, because sets of slots are stored as bits.
pub const MOST_SLOTS: usize = 128;
/// Maximum number of steps of a program, because each may be a level of recursion.
pub const MOST_STEPS: usize = 512;
