//! What can be wrong with a snapshot file.

use std::path::PathBuf;

/// An error of a snapshot file; its text names the file or the section and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system's.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file does not begin as a snapshot does.
    #[error("{path}: not a Terrapin snapshot ({reason}); make one with `terrapin load`", path = path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What shows it.
        reason: String,
    },
    /// A snapshot of a format that this build does not read.
    #[error(
        "{path}: snapshot format {found}, written by {writer}; this build reads formats up to {expected}. Use {writer} or load the extract again",
        path = path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The file's format version.
        found: u32,
        /// The newest one read here.
        expected: u32,
        /// The name and version of the program that wrote it.
        writer: String,
    },
    /// Bytes are not what their checksum says, or lie outside the file.
    #[error(
        "damaged snapshot: section {section}: {reason}; check the file with `terrapin verify`, then fetch or load it again"
    )]
    Damaged {
        /// The section: `header`, `footer`, `manifest`, or a section's name.
        section: String,
        /// What is wrong.
        reason: String,
    },
}

impl Error {
    /// Damage in `section`.
    pub fn damaged(section: impl Into<String>, reason: impl Into<String>) -> Error {
        Error::Damaged { section: section.into(), reason: reason.into() }
    }

    /// An error of the operating system at `path`.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Error {
        Error::Io { path: path.into(), source }
    }
}
