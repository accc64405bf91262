//! Settings for states at other dates: the folder in which they are built, and their memory limits.

use std::path::PathBuf;

use terrapin_base::temporary;

/// Number of states that are kept for later queries.
pub(crate) const KEPT: u64 = 8;
/// The default page cache of each state is the store's page cache divided by this.
const CACHE: u64 = 32;
/// Bytes that making one may hold by default.
const MEMORY: u64 = 512 << 20;

/// The folder and the memory for building states of other dates.
#[derive(Debug, Clone)]
pub struct StateSettings {
    /// The folder for their files, which have no names in it.
    pub folder: PathBuf,
    /// Bytes that making one may hold. One is made at a time.
    pub memory: u64,
    /// Bytes of decoded pages that all kept states may hold together.
    pub cache: u64,
    /// Bytes that the files of all states may have together: of kept ones and of those that queries use.
    pub disk: u64,
}

impl StateSettings {
    /// Returns settings for a folder, the bytes of its files, and the memory that a process has for states: half for
    /// building one, half for those that are kept.
    pub fn within(folder: PathBuf, disk: u64, memory: u64) -> StateSettings {
        StateSettings { folder, memory: memory / 2, cache: memory / 2, disk }
    }

    /// Returns the defaults for a store whose page cache has this number of bytes.
    pub(crate) fn of_cache(bytes: u64) -> StateSettings {
        StateSettings { folder: temporary::folder(), memory: MEMORY, cache: bytes / CACHE * KEPT, disk: u64::MAX }
    }
}
