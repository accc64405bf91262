//! The cache of query results for later runs.

use std::path::{Path, PathBuf};

use super::super::CommandError;
#[cfg(not(feature = "cache"))]
use super::super::stdout;
use crate::eval::cache::{CacheCounts, NoCache, ResultCache};
use crate::size;

/// Options of the cache of query results.
#[derive(Debug, clap::Args)]
pub(super) struct CacheArgs {
    /// Cache of query results for later runs over the same snapshot [default: the snapshot's file name with .cache
    /// appended]
    #[arg(long, value_name = "DIR", env = "TERRAPIN_CACHE")]
    cache: Option<PathBuf>,
    /// Maximum size of the cache; the oldest results are removed first
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = size::parse, env = "TERRAPIN_CACHE_SIZE")]
    cache_size: u64,
    /// Disable the cache: run every query
    #[arg(long)]
    no_cache: bool,
}

impl CacheArgs {
    /// Opens the cache of a run, if it has one.
    pub(super) fn open(&self, snapshot: Option<&Path>) -> Result<Box<dyn ResultCache>, CommandError> {
        let beside = |snapshot: &Path| {
            let mut path = snapshot.as_os_str().to_owned();
            path.push(".cache");
            PathBuf::from(path)
        };
        // A run without a snapshot runs no queries and needs no cache.
        let folder = snapshot.map(|snapshot| self.cache.clone().unwrap_or_else(|| beside(snapshot)));
        match folder {
            Some(folder) if !self.no_cache && self.cache_size > 0 => self.open_in(&folder),
            _ => Ok(Box::new(NoCache)),
        }
    }

    #[cfg(feature = "cache")]
    fn open_in(&self, folder: &Path) -> Result<Box<dyn ResultCache>, CommandError> {
        let cache = crate::eval::cache::DbCache::open(folder, self.cache_size.max(1 << 20));
        Ok(Box::new(cache.map_err(|foreign| CommandError::input("cache-foreign", foreign))?))
    }

    #[cfg(not(feature = "cache"))]
    fn open_in(&self, _: &Path) -> Result<Box<dyn ResultCache>, CommandError> {
        if self.cache.is_some() {
            stdout::tell(
                "warning: --cache needs the feature `cache`, which this build lacks: results are not cached; build it with `cargo build --release`",
            );
        }
        Ok(Box::new(NoCache))
    }
}

/// Formats the use of a cache; `None` if it was not used.
pub(super) fn use_of(cache: &dyn ResultCache) -> Option<String> {
    let CacheCounts { hits, misses } = cache.counts()?;
    let all = hits + misses;
    let share = 100.0 * hits as f64 / all.max(1) as f64;
    Some(format!("{} of {} results ({share:.0} %)", size::count(hits), size::count(all)))
}
