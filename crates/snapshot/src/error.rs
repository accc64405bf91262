//! The errors of a snapshot file.

use std::path::PathBuf;

use super::{FORMAT_VERSION, OLDEST_FORMAT};

/// An error of a snapshot file. Its text names the file or the section and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system failed.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file does not begin like a snapshot.
    #[error("{path}: not a Terrapin snapshot ({reason}); make one with `terrapin load`", path = path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// This build does not read the snapshot's format.
    #[error(
        "{path}: snapshot format {found}, written by {writer}; this build reads {formats}; load the extract again",
        path = path.display(),
        formats = readable_formats()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The file's format version.
        found: u32,
        /// The name and version of the program that wrote it.
        writer: String,
    },
    /// Bytes do not match their checksum, or lie outside the file.
    #[error(
        "damaged snapshot: section {section}: {reason}; check the file with `terrapin verify`, then fetch or load it again"
    )]
    Damaged {
        /// The section: `header`, `footer`, `manifest`, or a section's name.
        section: String,
        /// The reason.
        reason: String,
    },
}

impl Error {
    /// Returns the error of damage in `section`.
    pub fn damaged(section: impl Into<String>, reason: impl Into<String>) -> Error {
        Error::Damaged { section: section.into(), reason: reason.into() }
    }

    /// Returns an error of the operating system for `path`.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Error {
        Error::Io { path: path.into(), source }
    }
}

/// Returns the format versions that this build reads, for an error.
pub(super) fn readable_formats() -> String {
    match OLDEST_FORMAT {
        FORMAT_VERSION => format!("format {FORMAT_VERSION}"),
        oldest => format!("formats {oldest} to {FORMAT_VERSION}"),
    }
}
