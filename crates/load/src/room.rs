//! Estimates the disk space of a load before it begins, so that it fails early if the disk is too small.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::LoadOptions;

/// The maximum disk space of the load and its snapshot at their peak, in tenths of the source's length as PBF;
/// measured for extracts of 270 MB to 1.1 GB.
const MOST: u64 = 60;
/// The minimum disk space if memory does not hold everything, in the same unit.
const LEAST: u64 = 30;
/// The disk space of the snapshot alone, in the same unit.
const SNAPSHOT: u64 = 14;
/// The memory that holds a source, as a multiple of its length as PBF.
const IN_MEMORY: u64 = 16;

/// The free and the needed space of a file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// A folder on the file system.
    pub folder: PathBuf,
    /// The maximum number of bytes the load uses there at its peak, including the snapshot.
    pub most: u64,
    /// The minimum number of bytes.
    pub least: u64,
    /// The number of free bytes.
    pub free: u64,
}

/// Estimates the space that a load of `bytes` of PBF needs on each file system. Covers neither triples nor systems
/// that do not report free space.
pub(super) fn needed(options: &LoadOptions, bytes: u64) -> Vec<Room> {
    let target = folder_of(&options.out);
    let temporary = options.temporary.clone().unwrap_or_else(|| target.clone());
    let tenths = |tenths: u64| bytes.saturating_mul(tenths) / 10;
    let spills = bytes.saturating_mul(IN_MEMORY) > options.memory;
    let (most, least) = if spills { (MOST, LEAST) } else { (SNAPSHOT, SNAPSHOT) };
    let shares = if same_file_system(&target, &temporary) {
        vec![(target, tenths(most), tenths(least))]
    } else {
        // Sections that are not next in the snapshot are temporary files first.
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

/// Estimates the length of a snapshot's elements as PBF.
pub(super) fn of_snapshot(path: &Path) -> io::Result<u64> {
    Ok(std::fs::metadata(path)?.len().saturating_mul(10) / SNAPSHOT)
}

/// Estimates the length of a source as PBF; XML is longer, compressed or not.
pub(super) fn as_pbf(path: &Path) -> io::Result<u64> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        // Opening a named pipe would block until a writer appears.
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let (file, bytes) = (File::open(path)?, metadata.len());
    let mut first = Vec::new();
    file.take(2).read_to_end(&mut first)?;
    Ok(match first.as_slice() {
        [0x1f, 0x8b] => bytes * 2 / 3,
        b"BZ" => bytes,
        // Every other format must be PBF.
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

/// Returns the folder of a file.
pub fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}
