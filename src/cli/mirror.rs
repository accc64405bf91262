//! Replication folders on a server.

use std::path::Path;

use super::CommandError;
use crate::load::LoadProgress;

/// Fetches the changes after `since` into a folder, up to `until` or else the newest, in seconds since 1970.
#[cfg(feature = "remote")]
pub fn mirror(
    address: &str,
    folder: &Path,
    since: i64,
    until: Option<i64>,
    progress: &dyn LoadProgress,
) -> Result<(), CommandError> {
    use std::fs::File;
    use std::io;

    use terrapin_loaders::replication;
    use terrapin_remote::Remote;

    let plain = [("allow_http".to_owned(), "true".to_owned())];
    let remote = Remote::open(address, &plain).map_err(|e| CommandError::input("replication", e))?;
    let mut fetch = |name: &str, file: &mut File| remote.fetch(name, file).map_err(io::Error::other);
    let mut begun = false;
    let mut done = |_: u64, all: u64| {
        if !std::mem::replace(&mut begun, true) {
            progress.phase("fetching changes", all);
        }
        progress.advance(1);
    };
    replication::mirror(&mut fetch, folder, since, until, &mut done).map_err(|e| CommandError::input("replication", e))
}

/// Returns the error that this build cannot fetch.
#[cfg(not(feature = "remote"))]
pub fn mirror(_: &str, _: &Path, _: i64, _: Option<i64>, _: &dyn LoadProgress) -> Result<(), CommandError> {
    Err(super::features::missing("--mirror", "remote"))
}
