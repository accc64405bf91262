//! The journal in a run's folder: a subfolder with a file and a lock that exists until the run is finished.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::file_journal::FileJournal;
use super::folder::ABOUT;
use super::journal::Journal;
use crate::about::About;
use crate::cache::program;
use crate::files;
use crate::lock::Lock;
use crate::record::{Instance, StoredOutcome};

/// The journal in a run's folder, locked by this process.
pub struct RunJournal {
    folder: PathBuf,
    journal: FileJournal,
    _lock: Option<Lock>,
}

impl RunJournal {
    /// Opens or begins the journal of a run in `folder`, which is created if missing. The journal of another run is
    /// deleted.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read or written, or another process is running there.
    pub fn open(folder: &Path, about: &About, instances: &[Instance]) -> io::Result<RunJournal> {
        std::fs::create_dir_all(folder)?;
        let lock = match Lock::take(&folder.join("lock")) {
            Ok(None) => return Err(io::Error::other("another process is scoring into this folder")),
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::Unsupported => None,
            Err(error) => return Err(error),
        };
        let run = run_name(about, instances)?;
        let journal = FileJournal::open(&folder.join("lines"), &run)?;
        files::write_object(&folder.join(ABOUT), about).map_err(|error| error.source)?;
        Ok(RunJournal { folder: folder.to_owned(), journal, _lock: lock })
    }

    /// Deletes the journal, once the run's files are written.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be deleted.
    pub fn remove(self) -> io::Result<()> {
        let RunJournal { folder, journal, _lock } = self;
        drop(journal);
        std::fs::remove_dir_all(folder)
    }
}

impl Journal for RunJournal {
    fn known(&self) -> BTreeMap<usize, StoredOutcome> {
        self.journal.known()
    }

    fn append(&self, outcomes: &[StoredOutcome]) -> io::Result<()> {
        self.journal.append(outcomes)
    }
}

/// Returns the identity of a run: a digest of all inputs of its results. Unfinished runs of another build do not match.
fn run_name(about: &About, instances: &[Instance]) -> io::Result<String> {
    let mut hash = Sha256::new();
    hash.update(program().unwrap_or_default());
    hash.update(serde_json::to_vec(about)?);
    for instance in instances {
        hash.update(serde_json::to_vec(instance)?);
    }
    Ok(terrapin_snapshot::hex(&hash.finalize()))
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
    fn one_process_at_a_time_and_one_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let instances: Vec<Instance> = (1..=3).map(|line| Instance { line, ..Instance::default() }).collect();
        let open = |engine: &str| {
            RunJournal::open(&path, &About { engine: engine.to_owned(), ..About::default() }, &instances)
        };
        let journal = open("a").unwrap();
        journal.append(&[outcome(1)]).unwrap();
        journal.append(&[outcome(3)]).unwrap();
        assert!(open("a").is_err_and(|e| e.to_string().contains("another process")));
        drop(journal);
        assert_eq!(open("a").unwrap().known().into_values().collect::<Vec<_>>(), [outcome(1), outcome(3)]);
        assert!(open("b").unwrap().known().is_empty());
        open("b").unwrap().remove().unwrap();
        assert!(!path.exists());
    }
}
