//! The files that scoring reads and writes: folders of runs, lines of benchmarks, and the digests of both.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::super::{CommandError, stdout};
use crate::eval::error::RunError;
use crate::eval::files::WriteError;
use crate::eval::input::{self, InputError};
use crate::eval::runs::EvalRun;

/// Writes a run's folder and prints its summary.
pub fn write_and_print(run: &EvalRun, out: &Path, json: bool) -> Result<(), CommandError> {
    let summary = run.write(out).map_err(unwritten)?;
    if json { stdout::print_json(&summary) } else { stdout::print(&summary.to_string()) }
}

/// Converts an error of an output file to the error of a command.
pub fn unwritten(error: WriteError) -> CommandError {
    CommandError::system("output", error)
}

/// Converts an error of a run's folder to the error of a command.
pub fn unusable(error: RunError) -> CommandError {
    match error {
        RunError::Write(error) => unwritten(error),
        RunError::Unfit(message) => CommandError::input("run-unfit", message),
        RunError::Input(error) => unread(error),
        other => CommandError::input("lines-unreadable", other),
    }
}

/// Converts an error of a benchmark's file to the error of a command.
pub fn unread(error: InputError) -> CommandError {
    match error {
        InputError::OtherForm { .. } => CommandError::input("other-form", error),
        other => CommandError::input("lines-unreadable", other),
    }
}

/// Reads the folder of a run.
pub fn read_run(folder: &Path) -> Result<EvalRun, CommandError> {
    EvalRun::read(folder).map_err(unusable)
}

/// Reads the lines of a benchmark's file.
pub fn read_lines(path: &Path) -> Result<Vec<String>, CommandError> {
    input::read_lines(path).map_err(unread)
}

/// Returns the SHA-256 of a file, or of the names and digests of the files in a folder and below it.
pub fn digest_of(path: &Path) -> Result<String, CommandError> {
    if !path.is_dir() {
        return digest(path);
    }
    let unreadable = |e: std::io::Error| CommandError::input("lines-unreadable", format!("{}: {e}", path.display()));
    let mut entries =
        std::fs::read_dir(path).map_err(unreadable)?.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    let mut all = Sha256::new();
    for entry in entries {
        // Symbolic links are not followed.
        if entry.file_type().map_err(unreadable)?.is_symlink() {
            continue;
        }
        all.update(format!("{}  {}\n", digest_of(&entry.path())?, entry.file_name().to_string_lossy()));
    }
    Ok(all.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the SHA-256 of a file.
pub fn digest(path: &Path) -> Result<String, CommandError> {
    let bytes =
        std::fs::read(path).map_err(|e| CommandError::input("lines-unreadable", format!("{}: {e}", path.display())))?;
    Ok(Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}
