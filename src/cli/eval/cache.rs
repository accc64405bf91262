//! Where a run keeps results of queries for later runs.

use std::path::{Path, PathBuf};

use super::super::Error;
#[cfg(not(feature = "cache"))]
use super::super::stdout;
use crate::eval::cache::{Cache, Counts, NoCache};
use crate::size;

/// Where results of queries are kept.
#[derive(Debug, clap::Args)]
pub(super) struct CacheArgs {
    /// Where results of queries are kept for later runs over the same snapshot [default: beside the snapshot, the name
    /// of its file with .cache behind it]
    #[arg(long, value_name = "DIR", env = "TERRAPIN_CACHE")]
    cache: Option<PathBuf>,
    /// How many bytes they may take; the oldest go first
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = size::parse, env = "TERRAPIN_CACHE_SIZE")]
    cache_size: u64,
    /// Run every query, and keep nothing
    #[arg(long)]
    no_cache: bool,
}

impl CacheArgs {
    /// Opens the cache of a run over a snapshot, if any.
    pub(super) fn open(&self, snapshot: Option<&Path>) -> Result<Box<dyn Cache>, Error> {
        let beside = |snapshot: &Path| {
            let mut path = snapshot.as_os_str().to_owned();
            path.push(".cache");
            PathBuf::from(path)
        };
        // Where nothing is run, nothing is to be kept.
        let folder = snapshot.map(|snapshot| self.cache.clone().unwrap_or_else(|| beside(snapshot)));
        match folder {
            Some(folder) if !self.no_cache && self.cache_size > 0 => self.open_in(&folder),
            _ => Ok(Box::new(NoCache)),
        }
    }

    #[cfg(feature = "cache")]
    fn open_in(&self, folder: &Path) -> Result<Box<dyn Cache>, Error> {
        let cache = crate::eval::cache::DbCache::open(folder, self.cache_size.max(1 << 20));
        Ok(Box::new(cache.map_err(|foreign| Error::input("cache-foreign", foreign))?))
    }

    #[cfg(not(feature = "cache"))]
    fn open_in(&self, _: &Path) -> Result<Box<dyn Cache>, Error> {
        if self.cache.is_some() {
            stdout::tell(
                "warning: --cache needs the feature `cache`, which this build lacks: no results are kept; build it with `cargo build --release`",
            );
        }
        Ok(Box::new(NoCache))
    }
}

/// A line on how a cache was used; `None` where it was not.
pub(super) fn use_of(cache: &dyn Cache) -> Option<String> {
    let Counts { hits, misses } = cache.counts()?;
    let all = hits + misses;
    let share = 100.0 * hits as f64 / all.max(1) as f64;
    Some(format!("{} of {} results ({share:.0} %)", size::count(hits), size::count(all)))
}
