//! Writing answers: a file a format. Each streams; none holds the answer in memory.

/// Where `out` writes.
pub trait Answer {}
