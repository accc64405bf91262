//! The file of a snapshot that is being written. If the file system supports it, the file has no name until it is
//! complete and disappears with the process. Otherwise it has a temporary name and is removed when the writer is
//! dropped, by [`abandon`] when a signal ends the process, or by the next writer in the folder.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// The prefix of the names of unfinished files.
const PREFIX: &str = ".terrapin-";
const SUFFIX: &str = ".part";

/// The files that this process is writing.
struct Unfinished {
    /// The writers by number, with the name of the file, if it has one.
    files: BTreeMap<u64, Option<PathBuf>>,
    next: u64,
    /// The number of finished snapshots.
    finished: u64,
}

static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished { files: BTreeMap::new(), next: 0, finished: 0 });

fn unfinished() -> MutexGuard<'static, Unfinished> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the unfinished files of this process and prevents it from finishing any; the process must end afterwards.
/// Reports whether a snapshot was finished before.
pub fn abandon() -> bool {
    let unfinished = unfinished();
    for path in unfinished.files.values().flatten() {
        let _ = std::fs::remove_file(path);
    }
    let finished = unfinished.finished > 0;
    std::mem::forget(unfinished);
    finished
}

enum PartFile {
    /// A file without a name.
    #[cfg(target_os = "linux")]
    Unnamed(File),
    /// A file with a temporary name.
    Named(NamedTempFile),
}

/// An unfinished file, which gets its name when it is complete.
pub struct UnfinishedFile {
    place: PartFile,
    number: u64,
}

impl UnfinishedFile {
    /// Creates a file in the folder of its final name.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created or renamed.
    pub fn create(folder: &Path) -> io::Result<UnfinishedFile> {
        sweep(folder);
        // Locked before the file exists, so that `abandon` misses none.
        let mut unfinished = unfinished();
        let place = place(folder)?;
        let name = match &place {
            #[cfg(target_os = "linux")]
            PartFile::Unnamed(_) => None,
            PartFile::Named(file) => Some(file.path().to_owned()),
        };
        let number = unfinished.next;
        unfinished.next += 1;
        unfinished.files.insert(number, name);
        Ok(UnfinishedFile { place, number })
    }

    /// Returns the file.
    pub fn file(&self) -> &File {
        match &self.place {
            #[cfg(target_os = "linux")]
            PartFile::Unnamed(file) => file,
            PartFile::Named(file) => file.as_file(),
        }
    }

    /// Seeks to the start of the file.
    pub(super) fn rewind(&mut self) -> io::Result<()> {
        self.file().seek(SeekFrom::Start(0)).map(|_| ())
    }

    /// Renames the file atomically, replacing an existing one.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created or renamed.
    pub fn persist(mut self, path: &Path) -> io::Result<()> {
        let mut unfinished = unfinished();
        match &mut self.place {
            #[cfg(target_os = "linux")]
            PartFile::Unnamed(file) => link(file, path)?,
            // `self` has a `Drop`, so the file cannot be moved out; a copy of the name suffices.
            PartFile::Named(file) => {
                std::fs::rename(file.path(), path)?;
                file.disable_cleanup(true);
            }
        }
        unfinished.finished += 1;
        unfinished.files.remove(&self.number);
        drop(unfinished);
        Ok(())
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        unfinished().files.remove(&self.number);
    }
}

impl Write for UnfinishedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn place(folder: &Path) -> io::Result<PartFile> {
    match unnamed(folder) {
        Ok(file) => Ok(PartFile::Unnamed(file)),
        // Not every file system supports files without names, and the errors differ. An error of the folder itself
        // shows in the second attempt.
        Err(_) => named(folder).map(PartFile::Named),
    }
}

#[cfg(not(target_os = "linux"))]
fn place(folder: &Path) -> io::Result<PartFile> {
    named(folder).map(PartFile::Named)
}

/// Creates a file without a name that can be named later.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(open(folder, flags, Mode::RUSR | Mode::WUSR)?);
    // The file is named through this link, which needs /proc.
    std::fs::symlink_metadata(link_to(&file))?;
    Ok(file)
}

#[cfg(target_os = "linux")]
fn link_to(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    let give = |name: &Path| Ok::<_, io::Error>(linkat(CWD, link_to(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?);
    match give(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => return other,
    }
    // A link cannot replace a file and a rename needs a name, so the file is linked to a temporary name first.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let named = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).make_in(folder, give)?;
    named.persist(path).map(|_| ()).map_err(|error| error.error)
}

/// Creates a file with a temporary name, locked while it is written.
fn named(folder: &Path) -> io::Result<NamedTempFile> {
    loop {
        let file = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(folder)?;
        // If files cannot be locked, no process sweeps. If they can, another process may have removed this file
        // before it was locked.
        if file.as_file().lock().is_err() || file.path().exists() {
            return Ok(file);
        }
    }
}

/// Removes the files of killed writers from the folder. The lock of a living writer protects its file.
fn sweep(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let unfinished = name.starts_with(PREFIX) && name.ends_with(SUFFIX);
        if unfinished
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            // A file that cannot be removed does not prevent writing.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_killed_writer_left_is_swept_and_a_live_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".terrapin-killed.part"), b"half").unwrap();
        std::fs::write(folder.path().join("notes.part"), b"mine").unwrap();
        let live = named(folder.path()).unwrap();
        let part = UnfinishedFile::create(folder.path()).unwrap();
        let left = names(folder.path());
        assert!(left.contains(&"notes.part".to_owned()) && !left.contains(&".terrapin-killed.part".to_owned()));
        assert!(live.path().exists());
        drop((live, part));
        assert_eq!(names(folder.path()), ["notes.part"]);
    }

    /// Tests files with a temporary name and without a name.
    #[test]
    fn a_file_gets_its_name_in_place_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.terrapin");
        let ways: [fn(&Path) -> io::Result<PartFile>; 2] = [place, |folder| named(folder).map(PartFile::Named)];
        for make in ways {
            for text in ["first", "second"] {
                let mut part = UnfinishedFile { place: make(folder.path()).unwrap(), number: u64::MAX };
                part.write_all(text.as_bytes()).unwrap();
                part.persist(&path).unwrap();
                assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
                assert_eq!(names(folder.path()), ["a.terrapin"]);
            }
            std::fs::remove_file(&path).unwrap();
        }
    }
}
