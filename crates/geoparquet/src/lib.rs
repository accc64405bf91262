//! The elements of a snapshot as GeoParquet 1.1 (<https://geoparquet.org/releases/v1.1.0/>), for engines that spread work
//! over machines: a folder a type, files of elements that lie side by side, row groups along the Hilbert curve with the
//! boxes that tell which of them a query needs. Knows the store of elements; knows nothing of query languages.
//!
//! The same snapshot gives the same bytes, whatever the number of threads.

mod geometry;
mod part;
mod rows;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use terrapin_base::Progress;
use terrapin_osm::{ElementType, Osm};

/// How large the pieces are.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Elements in a file, about.
    pub file: u64,
    /// Elements in a row group, about.
    pub group: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { file: 4 << 20, group: 1 << 16 }
    }
}

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// How many files.
    pub files: u64,
    /// Their rows, by type.
    pub rows: [u64; 3],
    /// Their bytes.
    pub bytes: u64,
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The snapshot is damaged.
    #[error(transparent)]
    Snapshot(#[from] terrapin_snapshot::Error),
    /// A file cannot be written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The rows cannot be encoded.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the encoder said.
        source: parquet::errors::ParquetError,
    },
    /// The folder has something already.
    #[error("{}: not an empty folder; files of two snapshots must not mix", .0.display())]
    NotEmpty(PathBuf),
}

/// A file to write: elements of one type, on these pages.
struct Part {
    kind: ElementType,
    path: PathBuf,
    pages: std::ops::Range<u32>,
}

/// Writes all elements into a folder, which is made where it is not there and has to be empty: `type=node`, `type=way` and
/// `type=relation`, with files `part-00000.parquet` and so on.
///
/// # Errors
/// A folder that is not empty, a full disk, a damaged snapshot. Files are given their names when they are whole.
pub fn write(osm: &Osm, folder: &Path, options: Options, progress: &dyn Progress) -> Result<Written, Error> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::File { path, source }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    if fs::read_dir(folder).map_err(failed(folder))?.next().is_some() {
        return Err(Error::NotEmpty(folder.to_owned()));
    }
    let mut parts = Vec::new();
    for kind in ElementType::ALL.into_iter().filter(|&kind| osm.count(kind) > 0) {
        let folder = folder.join(format!("type={}", kind.name()));
        fs::create_dir(&folder).map_err(failed(&folder))?;
        let (count, each) = (osm.page_count(kind), pages(osm, kind, options.file));
        for (number, first) in (0..count).step_by(each as usize).enumerate() {
            let pages = first..count.min(first.saturating_add(each));
            parts.push(Part { kind, path: folder.join(format!("part-{number:05}.parquet")), pages });
        }
    }
    progress.phase("writing GeoParquet", parts.iter().map(|part| u64::from(part.pages.end - part.pages.start)).sum());
    let write = |part: &Part| part::write(osm, part, pages(osm, part.kind, options.group), progress);
    let sizes: Vec<(ElementType, u64, u64)> = parts.par_iter().map(write).collect::<Result<_, Error>>()?;
    osm.check()?;
    let mut written = Written { files: parts.len() as u64, ..Written::default() };
    for (kind, rows, bytes) in sizes {
        written.rows[kind as usize] += rows;
        written.bytes += bytes;
    }
    Ok(written)
}

/// How many pages have so many elements, about; one at least.
fn pages(osm: &Osm, kind: ElementType, elements: u64) -> u32 {
    u32::try_from(elements / osm.page_size(kind).max(1)).unwrap_or(u32::MAX).max(1)
}
