//! The resources of commands that read or write whole snapshots: memory, threads, temporary files.

use std::path::{Path, PathBuf};

use super::CommandError;
use crate::size;
use crate::stack::STACK;

/// Options of a command that makes a snapshot.
#[derive(Debug, clap::Args)]
pub struct WorkArgs {
    /// Memory limit; larger sorts spill to temporary files
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size::parse)]
    pub memory: u64,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Folder for temporary files [default: the folder of --out]
    #[arg(long, value_name = "DIR")]
    pub temp: Option<PathBuf>,
    /// Print a summary as one JSON object, and no progress
    #[arg(long)]
    pub json: bool,
}

/// Returns a pool of `threads` threads with the stack that queries need; 0 takes one per core.
pub fn pool(threads: usize) -> Result<rayon::ThreadPool, CommandError> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK);
    builder.build().map_err(|error| CommandError::system("threads", error))
}

/// Rejects an output file that is the snapshot to read.
pub fn not_itself(snapshot: &Path, out: &Path) -> Result<(), CommandError> {
    if is_same(snapshot, out) {
        let message = format!("{} is the snapshot itself: choose another output file", out.display());
        return Err(CommandError::usage(message));
    }
    Ok(())
}

/// Returns whether two paths are the same existing file.
pub fn is_same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
