//! What of a run is done, so that a killed run goes on where it was.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;

use sha2::{Digest, Sha256};

use super::About;
use crate::eval::record::{Instance, Outcome};

/// Keeps what came out while a run goes on.
pub trait Journal: Sync {
    /// What an earlier attempt at the same run left, by line.
    fn known(&self) -> BTreeMap<usize, Outcome>;
    /// Adds what came out; when it returns, a kill or a power cut loses none of it.
    ///
    /// # Errors
    /// It cannot be written.
    fn append(&self, outcomes: &[Outcome]) -> io::Result<()>;
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoJournal;

impl Journal for NoJournal {
    fn known(&self) -> BTreeMap<usize, Outcome> {
        BTreeMap::new()
    }

    fn append(&self, _: &[Outcome]) -> io::Result<()> {
        Ok(())
    }
}

/// A journal in a file: a line that names the run, then a line for each instance that is done. A line without its end
/// is what a kill left of a write, and is written over.
#[derive(Debug)]
pub struct FileJournal {
    file: Mutex<File>,
    known: BTreeMap<usize, Outcome>,
}

impl FileJournal {
    /// Opens the journal of a run, or begins it. What another run left there is thrown away.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn open(path: &Path, about: &About, instances: &[Instance]) -> io::Result<FileJournal> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let name = format!("{}\n", run_name(about, instances)?);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let mut known = BTreeMap::new();
        let mut good = 0;
        if bytes.starts_with(name.as_bytes()) {
            good = name.len();
            for line in bytes.get(good..).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
                let Some(outcome) = line.strip_suffix(b"\n").and_then(|l| serde_json::from_slice::<Outcome>(l).ok())
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
    fn known(&self) -> BTreeMap<usize, Outcome> {
        self.known.clone()
    }

    fn append(&self, outcomes: &[Outcome]) -> io::Result<()> {
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

/// What tells a run from every other: a digest of all that its results depend on.
fn run_name(about: &About, instances: &[Instance]) -> io::Result<String> {
    let mut hash = Sha256::new();
    hash.update(serde_json::to_vec(about)?);
    for instance in instances {
        hash.update(serde_json::to_vec(instance)?);
    }
    Ok(super::folder::hex(&hash.finalize()))
}
