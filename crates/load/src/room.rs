//! How much room on disk a load of elements takes, before it begins: a disk that is full after an hour helps nobody.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Options, folder_of};

/// Tenths of the source's bytes, as PBF, that the load and its snapshot take together at their peak, at most: measured
/// for extracts of 270 MB to 1.1 GB.
const MOST: u64 = 60;
/// What they take in any case where memory does not hold all of it.
const LEAST: u64 = 30;
/// What the snapshot alone takes.
const SNAPSHOT: u64 = 14;
/// Memory that holds a source takes this many times its bytes, as PBF.
const IN_MEMORY: u64 = 16;

/// What a file system has, and what is needed of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// A folder in it.
    pub folder: PathBuf,
    /// Bytes that the load takes there at its peak, at most, the snapshot that it makes included.
    pub most: u64,
    /// Bytes that it takes in any case.
    pub least: u64,
    /// Bytes that are free.
    pub free: u64,
}

/// What the load of a source of elements takes of the file systems that it writes to: one of so many bytes, as PBF. Nothing
/// is said of triples, nor where the system does not tell.
pub(super) fn needed(options: &Options, bytes: u64) -> Vec<Room> {
    let target = folder_of(&options.out);
    let temporary = options.temporary.clone().unwrap_or_else(|| target.clone());
    let tenths = |tenths: u64| bytes.saturating_mul(tenths) / 10;
    let spills = bytes.saturating_mul(IN_MEMORY) > options.memory;
    let (most, least) = if spills { (MOST, LEAST) } else { (SNAPSHOT, SNAPSHOT) };
    let shares = if same_file_system(&target, &temporary) {
        vec![(target, tenths(most), tenths(least))]
    } else {
        // What waits for its place in the snapshot is a temporary file before.
        vec![
            (target, tenths(SNAPSHOT), tenths(SNAPSHOT)),
            (temporary, tenths(most - SNAPSHOT), tenths(least - SNAPSHOT)),
        ]
    };
    let room = |(folder, most, least): (PathBuf, u64, u64)| {
        let free = free(&folder).ok()?;
        Some(Room { folder, most, least, free })
    };
    shares.into_iter().filter_map(room).filter(|room| room.most > 0).collect()
}

/// The bytes that a snapshot's elements would have as PBF, about.
pub(super) fn of_snapshot(path: &Path) -> io::Result<u64> {
    Ok(std::fs::metadata(path)?.len().saturating_mul(10) / SNAPSHOT)
}

/// The bytes that a source would have as PBF, about: XML takes more, packed or not.
pub(super) fn as_pbf(path: &Path) -> io::Result<u64> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        // Opening a named pipe waits for whoever writes to it.
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let (file, bytes) = (File::open(path)?, metadata.len());
    let mut first = Vec::new();
    file.take(2).read_to_end(&mut first)?;
    Ok(match first.as_slice() {
        [0x1f, 0x8b] => bytes * 2 / 3,
        b"BZ" => bytes,
        // Bytes of any other format have to be PBF.
        [b'<' | b' ' | b'\n' | 0xef, ..] => bytes / 14,
        _ => bytes,
    })
}

#[cfg(unix)]
fn same_file_system(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| std::fs::metadata(path).map(|m| m.dev()).ok();
    device(one) == device(other)
}

#[cfg(not(unix))]
fn same_file_system(_: &Path, _: &Path) -> bool {
    true
}

#[cfg(unix)]
fn free(folder: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(folder)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free(_: &Path) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}
