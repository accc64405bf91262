//! The disk that the files of states take together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the bytes of files up to a limit.
pub(super) struct StateDisk {
    most: u64,
    taken: AtomicU64,
}

impl StateDisk {
    /// Creates a counter with a limit.
    pub(super) fn new(most: u64) -> Arc<StateDisk> {
        Arc::new(StateDisk { most, taken: AtomicU64::new(0) })
    }

    /// Returns the limit.
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// Counts the bytes of a file, unless they exceed the limit.
    pub(super) fn take(self: &Arc<Self>, bytes: u64) -> Option<DiskShare> {
        let more = |taken: u64| taken.checked_add(bytes).filter(|taken| *taken <= self.most);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(DiskShare { disk: Arc::clone(self), bytes })
    }
}

/// The bytes of a file, which are released on drop.
pub(super) struct DiskShare {
    disk: Arc<StateDisk>,
    bytes: u64,
}

impl Drop for DiskShare {
    fn drop(&mut self) {
        self.disk.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_together_have_at_most_the_limit() {
        let disk = StateDisk::new(10);
        let first = disk.take(6);
        assert!(first.is_some() && disk.take(5).is_none() && disk.take(u64::MAX).is_none());
        let second = disk.take(4);
        assert!(second.is_some() && disk.take(1).is_none());
        drop(first);
        assert!(disk.take(7).is_none() && disk.take(6).is_some());
    }
}
