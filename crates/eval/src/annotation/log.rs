//! The state file: a header line, then a line for each event. Lines are only appended. A last line without its end was
//! left by a kill; it was never confirmed, and is removed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::event::{AnnotationEvent, LogHeader, VERSION};

/// Maximum size of a state file in bytes.
const LARGEST: u64 = 1 << 30;

/// Returns the path of a queue's state file: `queue.annotations.jsonl` for `queue.jsonl`.
pub fn state_path(queue: &Path) -> PathBuf {
    queue.with_extension("annotations.jsonl")
}

/// An error of a state file.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Another server uses the file.
    #[error("{}: another server uses this file: stop it, or annotate a copy of the queue", .0.display())]
    Locked(PathBuf),
    /// The file is damaged, or of another version or setting.
    #[error("{}: line {line}: {message}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The reason.
        message: String,
    },
}

/// The contents of a state file.
#[derive(Debug, Clone, PartialEq)]
pub struct LogContents {
    /// The header; `None` if the file is missing or empty.
    pub header: Option<LogHeader>,
    /// The events.
    pub events: Vec<AnnotationEvent>,
    /// Bytes of an incomplete last line.
    pub torn: usize,
}

/// Reads a state file without locking it, so that it may be in use. A missing file has no events.
///
/// # Errors
/// Returns an error if the file cannot be read or is damaged before its last line.
pub fn read_log(path: &Path) -> Result<LogContents, LogError> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => parse(path, &bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(LogContents { header: None, events: Vec::new(), torn: 0 })
        }
        Err(source) => Err(LogError::Io { path: path.to_owned(), source }),
    }
}

fn parse(path: &Path, bytes: &[u8]) -> Result<LogContents, LogError> {
    let unfit = |line: usize, message: String| LogError::Unfit { path: path.to_owned(), line, message };
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (whole, torn) = bytes.split_at(end);
    let mut lines = (1..).zip(whole.split_inclusive(|byte| *byte == b'\n'));
    let Some((_, first)) = lines.next() else {
        return Ok(LogContents { header: None, events: Vec::new(), torn: torn.len() });
    };
    let header: LogHeader = serde_json::from_slice(first)
        .map_err(|e| unfit(1, format!("this is not a file of annotations: {e}: move it to another place")))?;
    if header.annotations != VERSION {
        return Err(unfit(1, format!("version {} is not supported: expected {VERSION}", header.annotations)));
    }
    let event = |(number, line): (usize, &[u8])| {
        serde_json::from_slice(line)
            .map_err(|e| unfit(number, format!("the line is damaged: {e}: restore the file, or remove the line")))
    };
    let events = lines.map(event).collect::<Result<Vec<AnnotationEvent>, LogError>>()?;
    Ok(LogContents { header: Some(header), events, torn: torn.len() })
}

/// Whether a line must survive a crash of the machine. Every written line survives a kill of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It is synced before [`EventLog::append`] returns.
    Synced,
    /// It is only written.
    Written,
}

/// A state file that this process appends to. It is locked until it is dropped.
#[derive(Debug)]
pub struct EventLog {
    path: PathBuf,
    file: File,
    length: u64,
    /// Whether the contents of the file are unknown after an error.
    is_broken: bool,
}

impl EventLog {
    /// Opens or creates a state file, locks it, and removes an incomplete last line. Returns it with its contents.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or written, is locked or damaged, or was begun with another number of
    /// validations.
    pub fn open(path: &Path, validations: u8) -> Result<(EventLog, LogContents), LogError> {
        let io = |source| LogError::Io { path: path.to_owned(), source };
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LogError::Locked(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let contents = parse(path, &bytes)?;
        let length = (bytes.len() - contents.torn) as u64;
        let mut log = EventLog { path: path.to_owned(), file, length, is_broken: false };
        log.reset().map_err(io)?;
        match &contents.header {
            Some(header) if header.validations != validations => {
                let message = format!(
                    "the annotations were begun with {} validations for each question, not {validations}: pass \
                     --annotate-validations {}",
                    header.validations, header.validations
                );
                return Err(LogError::Unfit { path: path.to_owned(), line: 1, message });
            }
            Some(_) => {}
            None => {
                log.write(&LogHeader { annotations: VERSION, validations }, Durability::Synced).map_err(io)?;
                sync_folder(path).map_err(io)?;
            }
        }
        Ok((log, contents))
    }

    /// Appends an event. After an error, the file is as before, or takes no more events.
    ///
    /// # Errors
    /// Returns an error if the line cannot be written or synced, or the file is full.
    pub fn append(&mut self, event: &AnnotationEvent, durability: Durability) -> io::Result<()> {
        self.write(event, durability)
    }

    fn write(&mut self, line: &impl serde::Serialize, durability: Durability) -> io::Result<()> {
        if self.is_broken {
            let message = format!("{} could not be written before: restart the server", self.path.display());
            return Err(io::Error::other(message));
        }
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        if self.length + bytes.len() as u64 > LARGEST {
            return Err(io::Error::other(format!("{} has its maximum size of {LARGEST} bytes", self.path.display())));
        }
        let written = self.file.write_all(&bytes);
        if let Err(error) = written {
            self.is_broken = self.reset().is_err();
            return Err(error);
        }
        if durability == Durability::Synced
            && let Err(error) = self.file.sync_data()
        {
            // After a failed sync the kernel may have dropped the pages.
            self.is_broken = true;
            return Err(error);
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Removes everything after the last complete line.
    fn reset(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::Start(self.length)).map(|_| ())
    }
}

/// Syncs the folder of a new file, so that its name survives a crash.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::event::AnnotationAction;
    use super::*;

    fn event(entry: &str) -> AnnotationEvent {
        let at = jiff::Timestamp::from_second(1_700_000_000).unwrap();
        let (entry, query, by) = (entry.to_owned(), "00".to_owned(), "ann".to_owned());
        AnnotationEvent { entry, query, by, at, action: AnnotationAction::Skip { reason: None } }
    }

    #[test]
    fn an_incomplete_last_line_is_removed_at_every_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = state_path(&folder.path().join("queue.jsonl"));
        assert_eq!(path.file_name().unwrap(), "queue.annotations.jsonl");
        let (mut log, _) = EventLog::open(&path, 1).unwrap();
        log.append(&event("a"), Durability::Synced).unwrap();
        log.append(&event("b"), Durability::Written).unwrap();
        drop(log);
        let bytes = std::fs::read(&path).unwrap();
        let last = bytes[..bytes.len() - 1].iter().rposition(|b| *b == b'\n').unwrap() + 1;
        for length in last..bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            assert_eq!(read_log(&path).unwrap().torn, length - last);
            let (mut log, contents) = EventLog::open(&path, 1).unwrap();
            assert_eq!((contents.events.len(), contents.torn), (1, length - last));
            log.append(&event("c"), Durability::Synced).unwrap();
            drop(log);
            assert_eq!(read_log(&path).unwrap().events[1].entry, "c", "{length}");
        }
        // A torn header is written again.
        std::fs::write(&path, "{\"annot").unwrap();
        assert_eq!(EventLog::open(&path, 1).unwrap().1.torn, 7);
        assert!(read_log(&path).unwrap().header.is_some());
    }

    #[test]
    fn a_file_that_cannot_be_used_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let first = EventLog::open(&path, 2).unwrap();
        assert!(matches!(EventLog::open(&path, 2), Err(LogError::Locked(_))));
        drop(first);
        let refused = |text: Option<&str>, validations| {
            if let Some(text) = text {
                std::fs::write(&path, text).unwrap();
            }
            EventLog::open(&path, validations).unwrap_err().to_string()
        };
        assert!(refused(None, 1).contains("--annotate-validations 2"));
        let header = "{\"annotations\":1,\"validations\":1}\n";
        assert!(refused(Some("{\"id\": 1}\n"), 1).contains("not a file of annotations"));
        assert!(refused(Some("{\"annotations\":9,\"validations\":1}\n"), 1).contains("version 9"));
        assert!(refused(Some(&format!("{header}{{}}\n")), 1).contains("line 2: the line is damaged"));
    }
}
