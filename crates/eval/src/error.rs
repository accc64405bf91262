//! Errors of a benchmark's files and a run's folder.

use std::path::PathBuf;

use super::files::WriteError;
use super::input::InputError;

/// An error of a benchmark's file or a run's folder.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A line is malformed.
    #[error("{}: line {line}: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The reason.
        source: serde_json::Error,
    },
    /// The runs do not match.
    #[error("{0}")]
    Unfit(String),
}
