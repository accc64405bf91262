//! What ends work with a benchmark's files or a run's folder.

use std::path::PathBuf;

use super::files::WriteError;
use super::input::InputError;

/// A benchmark's file or a run's folder that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A line is not what it should be.
    #[error("{}: line {line}: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// Runs that do not belong together.
    #[error("{0}")]
    Unfit(String),
}
