//! The default folder for the temporary files of queries.

use std::path::{Path, PathBuf};

/// The folder for temporary files: `$TMPDIR`, or else `/var/tmp`, which is on disk where `/tmp` is often in memory, or else
/// the system's.
pub fn folder() -> PathBuf {
    let on_disk = Path::new("/var/tmp");
    if std::env::var_os("TMPDIR").is_none() && on_disk.is_dir() { on_disk.to_owned() } else { std::env::temp_dir() }
}
