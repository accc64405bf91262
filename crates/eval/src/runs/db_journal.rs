//! A journal in a RocksDB: its log has a checksum for every write, so that half of one is never taken for a whole.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use rocksdb::{DB, IteratorMode, Options, WriteBatch, WriteOptions};

use super::journal::Journal;
use crate::record::Outcome;

const RUN: &[u8] = b"run";

/// The journal of one run.
pub struct DbJournal {
    db: DB,
    known: BTreeMap<usize, Outcome>,
}

impl DbJournal {
    /// Opens the journal of the run that is called `run`, or begins it. What another run left there, or what is
    /// damaged, is thrown away.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn open(folder: &Path, run: &str) -> io::Result<DbJournal> {
        let mut options = Options::default();
        options.create_if_missing(true);
        super::db_cache::quiet(&mut options);
        if let Ok(db) = DB::open(&options, folder)
            && db.get(RUN).ok().flatten().is_some_and(|name| name == run.as_bytes())
        {
            let known = known(&db);
            return Ok(DbJournal { db, known });
        }
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let db = DB::open(&options, folder).map_err(io::Error::other)?;
        db.put_opt(RUN, run, &synced()).map_err(io::Error::other)?;
        Ok(DbJournal { db, known: BTreeMap::new() })
    }
}

/// What can be read; the rest is scored again.
fn known(db: &DB) -> BTreeMap<usize, Outcome> {
    let values = db.iterator(IteratorMode::Start).map_while(Result::ok);
    let outcomes = values.filter_map(|(_, value)| serde_json::from_slice::<Outcome>(&value).ok());
    outcomes.map(|outcome| (outcome.record.line, outcome)).collect()
}

fn synced() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.set_sync(true);
    options
}

impl Journal for DbJournal {
    fn known(&self) -> BTreeMap<usize, Outcome> {
        self.known.clone()
    }

    fn append(&self, outcomes: &[Outcome]) -> io::Result<()> {
        let mut batch = WriteBatch::default();
        for outcome in outcomes {
            let line = (outcome.record.line as u64).to_be_bytes();
            batch.put([b"line".as_slice(), line.as_slice()].concat(), serde_json::to_vec(outcome)?);
        }
        self.db.write_opt(batch, &synced()).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;

    fn outcome(line: usize) -> Outcome {
        Outcome { record: Record { line, pred: "x".repeat(line), ..Record::default() }, ..Outcome::default() }
    }

    #[test]
    fn a_damaged_journal_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let journal = DbJournal::open(&path, "run").unwrap();
        (1..=9).for_each(|line| journal.append(&[outcome(line)]).unwrap());
        drop(journal);
        let files: Vec<_> = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).collect();
        let whole: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
        for damaged in &files {
            std::fs::remove_dir_all(&path).unwrap();
            std::fs::create_dir(&path).unwrap();
            for (file, bytes) in files.iter().zip(&whole) {
                let half = bytes.len() / 2;
                std::fs::write(file, if file == damaged { &bytes[..half] } else { bytes }).unwrap();
            }
            let journal = DbJournal::open(&path, "run").unwrap();
            assert!(journal.known().iter().all(|(line, known)| *known == outcome(*line)), "{}", damaged.display());
            journal.append(&[outcome(10)]).unwrap();
            drop(journal);
            assert!(DbJournal::open(&path, "run").unwrap().known().contains_key(&10), "{}", damaged.display());
        }
    }
}
