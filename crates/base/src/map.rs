//! Maps files into memory. No other code does so.

use std::fs::File;

use memmap2::{Advice, Mmap, MmapOptions};

/// Maps the whole of a file for reading. An empty file gives an empty map.
///
/// # Errors
/// Returns an error if the file cannot be mapped.
#[allow(unsafe_code)]
pub fn map_read_only(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the map is only read. Snapshots are immutable files that are renamed into place and never written again,
    // and temporary files of the loader belong to its process alone; somebody who truncates one under a reader breaks
    // the contract that the README states, and gets a bus error as with any mapped file.
    let map = unsafe { MmapOptions::new().map(file)? };
    // Pages are picked all over the file; reading ahead would only displace others. Advice is no promise: ignore it.
    let _ = map.advise(Advice::Random);
    Ok(map)
}
