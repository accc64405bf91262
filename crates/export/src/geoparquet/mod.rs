//! Exports the elements of a snapshot as GeoParquet 1.1 (<https://geoparquet.org/releases/v1.1.0/>) for distributed
//! query engines. One folder per type has files of neighbouring elements, with row groups along the Hilbert curve.
//! Their bounding boxes show which ones a query needs.
//!
//! The same snapshot gives the same bytes, independent of the number of threads.

mod geometry;
mod part;
mod rows;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use terrapin_base::LoadProgress;
use terrapin_osm::{ElementType, Osm};

/// The sizes of files and row groups.
#[derive(Debug, Clone, Copy)]
pub struct GeoParquetOptions {
    /// The approximate number of elements per file.
    pub file: u64,
    /// The approximate number of elements per row group.
    pub group: u64,
}

impl Default for GeoParquetOptions {
    fn default() -> GeoParquetOptions {
        GeoParquetOptions { file: 4 << 20, group: 1 << 16 }
    }
}

/// The files written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WrittenFiles {
    /// The number of files.
    pub files: u64,
    /// The number of rows by type.
    pub rows: [u64; 3],
    /// The length of all files in bytes.
    pub bytes: u64,
}

/// The errors of the export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GeoParquetError {
    /// The snapshot is damaged.
    #[error(transparent)]
    Snapshot(#[from] terrapin_snapshot::Error),
    /// A file cannot be written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The rows cannot be encoded.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// The encoder's error.
        source: parquet::errors::ParquetError,
    },
    /// The folder is not empty.
    #[error("{}: not an empty folder; files of two snapshots must not mix", .0.display())]
    NotEmpty(PathBuf),
}

/// A file to write: a range of pages of one type.
struct ParquetFilePart {
    kind: ElementType,
    path: PathBuf,
    pages: std::ops::Range<u32>,
}

/// Writes all elements into an empty folder, which is created if missing: `type=node`, `type=way` and
/// `type=relation`, with files `part-00000.parquet` and so on.
///
/// # Errors
/// The folder is not empty, the disk is full, or the snapshot is damaged. Incomplete files have no final name.
pub fn write(
    osm: &Osm,
    folder: &Path,
    options: GeoParquetOptions,
    progress: &dyn LoadProgress,
) -> Result<WrittenFiles, GeoParquetError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| GeoParquetError::File { path, source }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    if fs::read_dir(folder).map_err(failed(folder))?.next().is_some() {
        return Err(GeoParquetError::NotEmpty(folder.to_owned()));
    }
    let mut parts = Vec::new();
    for kind in ElementType::ALL.into_iter().filter(|&kind| osm.count(kind) > 0) {
        let folder = folder.join(format!("type={}", kind.name()));
        fs::create_dir(&folder).map_err(failed(&folder))?;
        let (count, each) = (osm.page_count(kind), pages(osm, kind, options.file));
        for (number, first) in (0..count).step_by(each as usize).enumerate() {
            let pages = first..count.min(first.saturating_add(each));
            parts.push(ParquetFilePart { kind, path: folder.join(format!("part-{number:05}.parquet")), pages });
        }
    }
    progress.phase("writing GeoParquet", parts.iter().map(|part| u64::from(part.pages.end - part.pages.start)).sum());
    let write = |part: &ParquetFilePart| part::write(osm, part, pages(osm, part.kind, options.group), progress);
    let sizes: Vec<(ElementType, u64, u64)> = parts.par_iter().map(write).collect::<Result<_, GeoParquetError>>()?;
    osm.check()?;
    let mut written = WrittenFiles { files: parts.len() as u64, ..WrittenFiles::default() };
    for (kind, rows, bytes) in sizes {
        written.rows[kind as usize] += rows;
        written.bytes += bytes;
    }
    Ok(written)
}

/// Returns the number of pages with about this many elements; at least one.
fn pages(osm: &Osm, kind: ElementType, elements: u64) -> u32 {
    u32::try_from(elements / osm.page_size(kind).max(1)).unwrap_or(u32::MAX).max(1)
}
