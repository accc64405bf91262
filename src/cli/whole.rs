//! Output of a command: standard output, or a file that appears only when it is complete.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::progress::Shown;
use super::{CommandError, diagnose, stop};
use crate::snapshot::{self, UnfinishedFile};

/// The name of standard output.
const STDOUT: &str = "-";

/// An output.
pub enum OutputTarget {
    /// Standard output.
    Stdout(BufWriter<io::Stdout>),
    /// An unfinished file.
    File(BufWriter<UnfinishedFile>, PathBuf),
}

/// Returns whether a path means standard output.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == STDOUT
}

impl OutputTarget {
    /// Opens the output; `-` is standard output.
    pub fn create(path: &Path) -> Result<OutputTarget, CommandError> {
        if is_stdout(path) {
            return Ok(OutputTarget::Stdout(BufWriter::with_capacity(1 << 20, io::stdout())));
        }
        let failed = |error: io::Error| failed(path, &error);
        match std::fs::metadata(path) {
            Ok(about) if about.is_dir() => return Err(failed(io::ErrorKind::IsADirectory.into())),
            // Only regular files are replaced, never pipes or devices.
            Ok(about) if !about.is_file() => {
                return Err(failed(io::Error::other("not a regular file; - writes to standard output")));
            }
            _ => {}
        }
        let part = UnfinishedFile::create(folder(path)).map_err(failed)?;
        Ok(OutputTarget::File(BufWriter::with_capacity(1 << 20, part), path.to_owned()))
    }

    /// Finishes the output and renames the file into place. Returns the length in bytes, or none for standard output.
    pub fn finish(self) -> Result<Option<u64>, CommandError> {
        match self {
            OutputTarget::Stdout(mut out) => out.flush().map(|()| None).map_err(CommandError::output),
            OutputTarget::File(part, path) => give_name(part, &path).map(Some).map_err(|error| failed(&path, &error)),
        }
    }
}

impl Write for OutputTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            OutputTarget::Stdout(out) => out.write(bytes),
            OutputTarget::File(part, _) => part.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            OutputTarget::Stdout(out) => out.flush(),
            OutputTarget::File(part, _) => part.flush(),
        }
    }
}

fn failed(path: &Path, error: &io::Error) -> CommandError {
    CommandError::system("output", format!("{}: {error}", path.display()))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn give_name(part: BufWriter<UnfinishedFile>, path: &Path) -> io::Result<u64> {
    let part = part.into_inner().map_err(io::IntoInnerError::into_error)?;
    set_readable(part.file())?;
    part.file().sync_all()?;
    let bytes = part.file().metadata()?.len();
    part.persist(path)?;
    Ok(bytes)
}

/// Gives the finished file the usual permissions. Temporary files are private.
#[cfg(unix)]
fn set_readable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn set_readable(_: &File) -> io::Result<()> {
    Ok(())
}

/// Installs handlers so that a signal removes the unfinished file and reports the state of the output.
pub fn stop_on_signal(out: PathBuf, as_json: bool, shown: Option<Arc<Shown>>) -> Result<(), CommandError> {
    stop_on_signal_at(move || out, as_json, shown)
}

/// Installs handlers like [`stop_on_signal`] for several outputs: `current` returns the path of that in work.
pub fn stop_on_signal_at(
    current: impl FnOnce() -> PathBuf + Send + 'static,
    as_json: bool,
    shown: Option<Arc<Shown>>,
) -> Result<(), CommandError> {
    let act = move |signal: stop::Signal| {
        let finished = snapshot::abandon();
        let out = current();
        if let Some(shown) = shown {
            shown.stop();
        }
        let (name, there, shown) = (signal.name, !is_stdout(&out) && out.exists(), out.display());
        let message = if is_stdout(&out) {
            format!("stopped by {name}: the output is incomplete")
        } else if finished {
            format!("stopped by {name} after {shown} was finished")
        } else if there {
            format!("stopped by {name}: {shown} is unchanged")
        } else {
            format!("stopped by {name}: {shown} was not written")
        };
        diagnose::report(&CommandError::stopped(signal.exit, message), as_json);
        std::process::exit(signal.exit as i32);
    };
    stop::on_signal(act).map_err(|e| CommandError::system("signals", e))
}
