//! The snapshot file: one immutable, memory-mapped file of checksummed sections. This crate does not know what
//! the sections mean.
//!
//! ```text
//! offset 0      ┌──────────────────────────────────────────────────────────┐
//!               │ header, 64 bytes                                         │
//!               │   0  magic "TERRAPIN"                                    │
//!               │   8  format version, u32                                 │
//!               │  12  length of the writer's name, u32 (at most 40)       │
//!               │  16  the writer's name and version, zero-padded          │
//!               │  56  first 8 bytes of the BLAKE3 of bytes 0..56          │
//! offset 64     ├──────────────────────────────────────────────────────────┤
//!               │ sections, each starting at a multiple of 64, zero-padded │
//!               │   nodes.core, nodes.core.starts, nodes.tags, ...         │
//!               ├──────────────────────────────────────────────────────────┤
//!               │ manifest: sources, counts, box, times, area report, and  │
//!               │ the table of sections (name, offset, length, BLAKE3);    │
//!               │ counts of triples, if there are any; the content digest  │
//!               ├──────────────────────────────────────────────────────────┤
//!               │ names: first 8 bytes of the BLAKE3 of the rest, then the │
//!               │ names of the sources                                     │
//! length − 64   ├──────────────────────────────────────────────────────────┤
//!               │ footer, 64 bytes                                         │
//!               │   0  manifest's offset, u64    8  its length, u64        │
//!               │  16  SHA-256 of the manifest: the snapshot's name        │
//!               │  48  first 8 bytes of the BLAKE3 of bytes 0..48          │
//!               │  56  magic "NIPARRET"                                    │
//!               └──────────────────────────────────────────────────────────┘
//! ```
//!
//! All numbers are little-endian. The manifest has every section's checksum, so its SHA-256 covers every byte of the
//! file except the names of the sources. It does not depend on the machine, the clock or paths: the same inputs and
//! version give the same digest, and with the same names the same bytes.
//!
//! Format 3 is the first that a release writes. Formats 1 and 2 are not read.
//!
//! Opening checks header, footer, manifest and the bounds of the sections. Compressed pages have a checksum each;
//! sections read in place have one per 16 KiB, verified on first access. The amount read and checked depends on the
//! query, not on the length of the file. [`verify`] checks every byte.
//!
//! Sections have one of a few layouts: zstd pages (`paged.rs`), columns of integers (`column.rs`), texts
//! (`texts.rs`), boxes (`boxes.rs`) and words with lists of numbers (`words.rs`). The last four build on bytes read
//! in place (`checked.rs`).

mod arrival;
mod boxes;
mod checked;
mod column;
mod error;
pub mod facts;
mod manifest;
mod near;
mod paged;
mod part;
mod read;
mod texts;
mod words;
mod write;

pub use arrival::Arrival;
pub use boxes::{BoxSection, BoxesWriter, Corners};
pub use checked::{CheckedSection, CheckedWriter, Fault};
pub use column::{ColumnCursor, ColumnWriter, SectionColumn, ordered, signed};
pub use error::Error;
pub use manifest::{AreaReport, ElementCounts, Manifest, ManifestSection, ManifestSource, TIMES, TripleCounts};
pub use paged::{PageWriter, PagedSection, compress};
pub use part::{UnfinishedFile, abandon};
pub use read::{Snapshot, verify};
pub use texts::{TextSection, TextsWriter};
pub use words::{IndexWord, WordIndex, WordSections, write_words};
pub use write::SnapshotWriter;

/// The format version that this build writes.
pub const FORMAT_VERSION: u32 = 3;
/// The oldest format version that it reads.
pub const OLDEST_FORMAT: u32 = 3;

const HEADER_LEN: u64 = 64;
const FOOTER_LEN: u64 = 64;
const ALIGNMENT: u64 = 64;
const MAGIC: &[u8; 8] = b"TERRAPIN";
const END_MAGIC: &[u8; 8] = b"NIPARRET";

/// Returns the writer's name for header and manifest.
pub fn writer_name() -> String {
    format!("terrapin {}", env!("CARGO_PKG_VERSION"))
}

/// Returns the first eight bytes of the BLAKE3 hash of `bytes`.
fn short_checksum(bytes: &[u8]) -> [u8; 8] {
    let mut short = [0; 8];
    short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..8]);
    short
}

/// Formats bytes as lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
