//! Stores answers until their clients have read them: some pieces in memory, the rest in unnamed temporary files. Both
//! have a limit for all answers together.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The limits of stored answers.
#[derive(Debug, Clone)]
pub struct SpoolLimits {
    /// Maximum bytes of all streaming answers in memory. Beyond it, answers go to files at once.
    pub memory: u64,
    /// Maximum bytes of one answer in its file; 0 turns files off.
    pub answer: u64,
    /// Maximum bytes of all answers in files.
    pub total: u64,
    /// The folder of the files. They have no names in it and disappear with the process.
    pub folder: PathBuf,
}

/// The unused part of both limits.
#[derive(Debug)]
pub struct AnswerSpool {
    limits: SpoolLimits,
    memory: AtomicU64,
    disk: AtomicU64,
    complained: AtomicBool,
}

impl AnswerSpool {
    /// Creates an empty spool.
    pub fn new(limits: SpoolLimits) -> Arc<Self> {
        let (memory, disk) = (AtomicU64::new(limits.memory), AtomicU64::new(limits.total));
        Arc::new(AnswerSpool { limits, memory, disk, complained: AtomicBool::new(false) })
    }

    /// Returns the bytes in files.
    pub fn on_disk(&self) -> u64 {
        self.limits.total - self.disk.load(Ordering::Relaxed).min(self.limits.total)
    }

    /// Returns the bytes of answers in memory.
    pub fn memory_taken(&self) -> u64 {
        self.limits.memory.saturating_sub(self.memory.load(Ordering::Relaxed))
    }

    pub(super) fn take_memory(&self, bytes: usize) -> bool {
        take(&self.memory, bytes as u64)
    }

    pub(super) fn give_memory(&self, bytes: usize) {
        self.memory.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn complain(&self, error: &io::Error) {
        if !self.complained.swap(true, Ordering::Relaxed) {
            let folder = self.limits.folder.display();
            tracing::warn!(%folder, %error, "answers cannot be spilled to files: queries of slow clients wait instead");
        }
    }
}

fn take(from: &AtomicU64, bytes: u64) -> bool {
    from.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
}

/// The file of one answer. Only its engine writes to it, and only its client's connection reads from it.
pub struct Aside {
    spool: Arc<AnswerSpool>,
    file: Option<Arc<File>>,
    /// Bytes reserved from the limit, released on drop.
    taken: u64,
    /// Set after an error: this answer uses no file any more.
    useless: bool,
}

impl Aside {
    /// Creates the state; the file is created on first use.
    pub fn new(spool: Arc<AnswerSpool>) -> Self {
        Aside { spool, file: None, taken: 0, useless: false }
    }

    /// Writes at an offset. Returns false if a limit is reached or on an error.
    pub fn write(&mut self, bytes: &[u8], at: u64) -> bool {
        let end = at + bytes.len() as u64;
        if self.useless || end > self.spool.limits.answer {
            return false;
        }
        let more = end.saturating_sub(self.taken);
        if !take(&self.spool.disk, more) {
            return false;
        }
        self.taken += more;
        let written = self.file().and_then(|file| write_at(&file, bytes, at));
        if let Err(error) = &written {
            self.spool.complain(error);
            self.useless = true;
        }
        written.is_ok()
    }

    /// Returns the file, which is created on first use.
    pub fn file(&mut self) -> io::Result<Arc<File>> {
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(tempfile::tempfile_in(&self.spool.limits.folder)?);
        self.file = Some(Arc::clone(&file));
        Ok(file)
    }

    /// Truncates the file and releases its bytes, after all of it was read.
    pub fn empty(&mut self) {
        if let Some(file) = &self.file
            && self.taken > 0
            && file.set_len(0).is_ok()
        {
            self.spool.disk.fetch_add(std::mem::take(&mut self.taken), Ordering::Relaxed);
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.spool.disk.fetch_add(self.taken, Ordering::Relaxed);
    }
}

/// Reads exactly `bytes` bytes of the file from an offset.
#[cfg(unix)]
pub fn read_at(file: &File, at: u64, bytes: usize) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; bytes];
    std::os::unix::fs::FileExt::read_exact_at(file, &mut buffer, at)?;
    Ok(buffer)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

/// Returns an error: this system cannot read and write one file at independent offsets.
#[cfg(not(unix))]
pub fn read_at(_: &File, _: u64, _: usize) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn write_at(_: &File, _: &[u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
