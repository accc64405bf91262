//! The default folder for the temporary files of queries.

use std::path::{Path, PathBuf};

/// Returns the folder for temporary files: `$TMPDIR`; otherwise `/var/tmp`, which is on disk while `/tmp` is often in
/// memory; otherwise the system's default.
pub fn folder() -> PathBuf {
    let on_disk = Path::new("/var/tmp");
    if std::env::var_os("TMPDIR").is_none() && on_disk.is_dir() { on_disk.to_owned() } else { std::env::temp_dir() }
}
