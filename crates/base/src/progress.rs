//! Reports the progress of long operations.

/// Hears how far a load is.
pub trait LoadProgress: Sync {
    /// A phase begins; `total` is in units of its own (bytes of the source, pages), 0 where unknown.
    fn phase(&self, name: &str, total: u64);
    /// Reports that this amount of the phase has been completed.
    fn advance(&self, amount: u64);
}

/// Ignores all reports.
pub struct Quiet;

impl LoadProgress for Quiet {
    fn phase(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
}
