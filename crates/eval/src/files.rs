//! Writes files atomically.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

/// The error of a file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub source: io::Error,
}

/// Writes JSON lines.
pub fn write_lines<T: Serialize>(path: &Path, rows: &[T]) -> Result<(), WriteError> {
    write_whole(path, |out| {
        for row in rows {
            serde_json::to_writer(&mut *out, row)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })
}

/// Writes one indented JSON object.
pub fn write_object<T: Serialize>(path: &Path, object: &T) -> Result<(), WriteError> {
    write_whole(path, |out| {
        serde_json::to_writer_pretty(&mut *out, object)?;
        out.write_all(b"\n")
    })
}

/// Writes a text.
pub fn write_text(path: &Path, text: &str) -> Result<(), WriteError> {
    write_whole(path, |out| out.write_all(text.as_bytes()))
}

/// Writes a temporary file in the same folder, syncs it and renames it, so that readers find the old or the new
/// content.
fn write_whole(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    let write = || {
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::Builder::new().prefix(".terrapin-").tempfile_in(folder)?;
        let mut out = BufWriter::new(file.as_file_mut());
        content(&mut out)?;
        out.flush()?;
        drop(out);
        readable_by_all(file.as_file())?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|source| WriteError { path: path.to_owned(), source })
}

/// Temporary files are private; results get the usual permissions.
#[cfg(unix)]
fn readable_by_all(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_all(_: &std::fs::File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep").join("results.jsonl");
        write_lines(&path, &[1, 2]).unwrap();
        assert!(write_whole(&path, |_| Err(io::Error::other("full"))).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n2\n");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
