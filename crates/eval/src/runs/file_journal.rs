//! A journal in a file: a line that identifies the run, then a line per finished instance. An incomplete last line
//! was left by a kill and is overwritten.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;

use super::journal::Journal;
use crate::record::StoredOutcome;

/// The journal of one run.
#[derive(Debug)]
pub(super) struct FileJournal {
    file: Mutex<File>,
    known: BTreeMap<usize, StoredOutcome>,
}

impl FileJournal {
    /// Opens or begins the journal of the run `run`. The journal of another run is deleted.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or written.
    pub(super) fn open(path: &Path, run: &str) -> io::Result<FileJournal> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let name = format!("{run}\n");
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let mut known = BTreeMap::new();
        let mut good = 0;
        if bytes.starts_with(name.as_bytes()) {
            good = name.len();
            for line in bytes.get(good..).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
                let Some(outcome) =
                    line.strip_suffix(b"\n").and_then(|l| serde_json::from_slice::<StoredOutcome>(l).ok())
                else {
                    break;
                };
                known.insert(outcome.record.line, outcome);
                good += line.len();
            }
        }
        file.set_len(good as u64)?;
        file.seek(SeekFrom::Start(good as u64))?;
        if good == 0 {
            file.write_all(name.as_bytes())?;
        }
        file.sync_data()?;
        Ok(FileJournal { file: Mutex::new(file), known })
    }
}

impl Journal for FileJournal {
    fn known(&self) -> BTreeMap<usize, StoredOutcome> {
        self.known.clone()
    }

    fn append(&self, outcomes: &[StoredOutcome]) -> io::Result<()> {
        let mut lines = Vec::new();
        for outcome in outcomes {
            serde_json::to_writer(&mut lines, outcome)?;
            lines.push(b'\n');
        }
        let mut file = self.file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        file.write_all(&lines)?;
        file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::ResultRecord;

    fn outcome(line: usize) -> StoredOutcome {
        StoredOutcome {
            record: ResultRecord { line, pred: "x".repeat(line), ..ResultRecord::default() },
            ..StoredOutcome::default()
        }
    }

    #[test]
    fn a_line_that_a_kill_cut_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let journal = FileJournal::open(&path, "run").unwrap();
        journal.append(&[outcome(1), outcome(2), outcome(3)]).unwrap();
        drop(journal);
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 7]).unwrap();
        let journal = FileJournal::open(&path, "run").unwrap();
        assert_eq!(journal.known().into_keys().collect::<Vec<_>>(), [1, 2]);
        journal.append(&[outcome(3)]).unwrap();
        drop(journal);
        assert_eq!(FileJournal::open(&path, "run").unwrap().known().len(), 3);
        assert!(FileJournal::open(&path, "other").unwrap().known().is_empty());
    }
}
