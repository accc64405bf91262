//! The cache in RocksDB, for other runs and processes. Errors never stop a run: if the folder is unusable, the run
//! continues without a cache. It does not know the meaning of the results.
//!
//! | in the folder | contents |
//! |---|---|
//! | `CACHEDIR.TAG` | names the owner, and excludes the folder from backups |
//! | `lock` | the process that writes |
//! | `results-1` | the database; the number is the version of its key and value format |
//! | `damaged` | marks the database as damaged, so that the next writing process starts a new one |
//! | `results-1.damaged` | an unreadable database that was set aside |
//!
//! A key is the BLAKE3 of everything the results depend on. If the database is full, it deletes its oldest file
//! first.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rocksdb::{
    BlockBasedOptions, DB, DBCompactionStyle, DBCompressionType, ErrorKind, FifoCompactOptions, Options,
    WaitForCompactOptions,
};

use super::{Cache, Counts, Key, program};
use crate::lock::Lock;

/// The first line marks the folder as a cache for all programs, the second for this one.
const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55
# Results of queries, kept by terrapin. The folder may be deleted.
";
const TAG_NAME: &str = "CACHEDIR.TAG";
const RESULTS: &str = "results-1";
const DAMAGED: &str = "damaged";
/// The maximum length in bytes of a database file, and therefore of a deletion.
const LARGEST_FILE: u64 = 16 << 20;
/// The maximum number of bytes that a process without the lock keeps in memory.
const MOST_PENDING: usize = 64 << 20;
/// The time that such a process finally waits for the lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// The folder is not a cache.
#[derive(Debug, thiserror::Error)]
#[error("{}: not empty, and not a cache of results ({TAG_NAME} is missing): name another folder", path.display())]
pub struct Foreign {
    /// The folder.
    pub path: PathBuf,
}

/// A cache in a folder.
pub struct DbCache {
    folder: PathBuf,
    size: u64,
    /// The digest of the program; empty if results cannot be cached.
    program: String,
    /// `None` if the database cannot be opened.
    db: Option<DB>,
    /// The folder for the log of a database opened for reading.
    logs: Option<tempfile::TempDir>,
    /// The lock of the writing process.
    lock: Option<Lock>,
    /// Results to write once the writing process is done.
    pending: Mutex<Pending>,
    notices: Mutex<Vec<String>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Default)]
struct Pending {
    results: Vec<([u8; blake3::OUT_LEN], Vec<u8>)>,
    bytes: usize,
    /// The number of results that did not fit.
    lost: usize,
}

impl DbCache {
    /// Opens or creates a folder. `size` is the approximate maximum size of the results in bytes.
    ///
    /// # Errors
    /// The folder is not a cache. [`DbCache::finish`] reports all other problems.
    pub fn open(folder: &Path, size: u64) -> Result<DbCache, Foreign> {
        let mut cache = DbCache {
            folder: folder.to_owned(),
            size,
            program: String::new(),
            db: None,
            logs: None,
            lock: None,
            pending: Mutex::default(),
            notices: Mutex::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        };
        if is_foreign(folder) {
            return Err(Foreign { path: folder.to_owned() });
        }
        if let Err(reason) = cache.start() {
            cache.lock = None;
            cache.program.clear();
            cache.note(format!("{}: results are not kept: {reason}", folder.display()));
        }
        Ok(cache)
    }

    fn start(&mut self) -> Result<(), String> {
        self.program = program().map_err(|e| format!("this program cannot be read: {e}"))?.to_owned();
        let unusable = |e: std::io::Error| e.to_string();
        std::fs::create_dir_all(&self.folder).map_err(unusable)?;
        self.lock = Lock::take(&self.folder.join("lock")).map_err(unusable)?;
        if self.lock.is_some() {
            std::fs::write(self.folder.join(TAG_NAME), TAG).map_err(unusable)?;
            self.db = Some(self.own()?);
        } else {
            self.db = self.follow();
        }
        Ok(())
    }

    /// Opens the database for writing. A damaged one is set aside.
    fn own(&self) -> Result<DB, String> {
        let path = self.folder.join(RESULTS);
        let options = options(self.size);
        let damaged = self.folder.join(DAMAGED);
        let opened = if damaged.exists() { None } else { Some(DB::open(&options, &path)) };
        let db = match opened {
            Some(Ok(db)) => db,
            Some(Err(error)) if !is_damage(&error) => return Err(error.to_string()),
            damage => {
                let aside = self.folder.join(format!("{RESULTS}.damaged"));
                let _ = std::fs::remove_dir_all(&aside);
                std::fs::rename(&path, &aside).map_err(|e| format!("what is damaged cannot be set aside: {e}"))?;
                let _ = std::fs::remove_file(damaged);
                let why = damage.and_then(Result::err).map_or_else(String::new, |error| format!(" ({error})"));
                self.note(format!("{}: kept results were damaged{why}, and are set aside", aside.display()));
                DB::open(&options, &path).map_err(|e| e.to_string())?
            }
        };
        // Many short runs leave many small files.
        let small = format!("{{max_table_files_size={};allow_compaction=true;}}", self.size);
        db.set_options(&[("compaction_options_fifo", &small)]).map_err(|e| e.to_string())?;
        Ok(db)
    }

    /// Opens the current database for reading while another process writes.
    fn follow(&mut self) -> Option<DB> {
        let logs = tempfile::tempdir().ok()?;
        let db = DB::open_as_secondary(&options(self.size), &self.folder.join(RESULTS), &logs.path().to_owned()).ok();
        self.logs = Some(logs);
        db
    }

    fn note(&self, notice: String) {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
    }

    /// Reports an error of the database once; a damaged file usually affects many results.
    fn trouble(&self, error: &rocksdb::Error) {
        if is_damage(error) {
            let _ = std::fs::write(self.folder.join(DAMAGED), error.to_string());
        }
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        let notice = format!("{}: some results are not kept: ", self.folder.display());
        if !notices.iter().any(|other| other.starts_with(&notice)) {
            notices.push(notice + error.as_ref());
        }
    }

    fn digest(&self, key: &Key<'_>) -> [u8; blake3::OUT_LEN] {
        let mut hasher = blake3::Hasher::new();
        for part in [key.snapshot, &self.program, key.language, key.query] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// Waits for the writing process, then writes the pending results.
    fn deliver(&self, pending: Pending) -> Result<(), String> {
        let count = pending.results.len();
        let lost = pending.lost;
        let until = Instant::now() + PATIENCE;
        let _lock = loop {
            match Lock::take(&self.folder.join("lock")).map_err(|e| e.to_string())? {
                Some(lock) => break lock,
                None if Instant::now() >= until => {
                    return Err(format!("{} results are not kept: another process writes", count + lost));
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let db = self.own()?;
        for (key, results) in pending.results {
            db.put(key, results).map_err(|e| e.to_string())?;
        }
        settle(&db).map_err(|e| e.to_string())?;
        if lost > 0 {
            return Err(format!("{lost} results are not kept: another process was writing"));
        }
        Ok(())
    }
}

impl Cache for DbCache {
    fn get(&self, key: &Key<'_>) -> Option<Vec<u8>> {
        let found = self.db.as_ref().and_then(|db| match db.get(self.digest(key)) {
            Ok(found) => found,
            // A file deleted by another process is not damage.
            Err(_) if self.lock.is_none() => None,
            Err(error) => {
                self.trouble(&error);
                None
            }
        });
        let count = if found.is_some() { &self.hits } else { &self.misses };
        count.fetch_add(1, Ordering::Relaxed);
        found
    }

    fn put(&self, key: &Key<'_>, results: Vec<u8>) {
        // A few results of this size would evict everything else.
        if results.len() as u64 > self.size / 16 || self.program.is_empty() {
            return;
        }
        let key = self.digest(key);
        if let (Some(_), Some(db)) = (&self.lock, &self.db) {
            if let Err(error) = db.put(key, results) {
                self.trouble(&error);
            }
            return;
        }
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if pending.bytes + results.len() > MOST_PENDING {
            pending.lost += 1;
            return;
        }
        pending.bytes += key.len() + results.len();
        pending.results.push((key, results));
    }

    fn counts(&self) -> Option<Counts> {
        Some(Counts { hits: self.hits.load(Ordering::Relaxed), misses: self.misses.load(Ordering::Relaxed) })
    }

    fn finish(&self) -> Vec<String> {
        let pending = std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        let written = match (&self.lock, &self.db) {
            (Some(_), Some(db)) => {
                if let Err(error) = settle(db) {
                    self.trouble(&error);
                }
                Ok(())
            }
            _ if pending.results.is_empty() => Ok(()),
            _ => self.deliver(pending),
        };
        if let Err(reason) = written {
            self.note(format!("{}: {reason}", self.folder.display()));
        }
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Flushes the memory and deletes files over the limit.
fn settle(db: &DB) -> Result<(), rocksdb::Error> {
    let mut options = WaitForCompactOptions::default();
    options.set_flush(true);
    options.set_timeout(5_000_000);
    match db.wait_for_compact(&options) {
        // The next process continues with it.
        Err(error) if error.kind() == ErrorKind::TimedOut => Ok(()),
        done => done,
    }
}

/// Reports whether retrying cannot succeed.
fn is_damage(error: &rocksdb::Error) -> bool {
    matches!(error.kind(), ErrorKind::Corruption | ErrorKind::InvalidArgument | ErrorKind::NotSupported)
}

/// Reports whether a non-empty folder is not our cache. A tag truncated by a kill is ours.
fn is_foreign(folder: &Path) -> bool {
    let Ok(mut entries) = std::fs::read_dir(folder) else { return folder.exists() && !folder.is_dir() };
    let tagged = std::fs::read(folder.join(TAG_NAME)).is_ok_and(|tag| TAG.as_bytes().starts_with(&tag));
    !tagged && entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != "lock"))
}

fn options(size: u64) -> Options {
    let file = (size / 16).clamp(64 << 10, LARGEST_FILE);
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_compaction_style(DBCompactionStyle::Fifo);
    let mut oldest_out = FifoCompactOptions::default();
    oldest_out.set_max_table_files_size(size);
    options.set_fifo_compaction_options(&oldest_out);
    options.set_write_buffer_size(usize::try_from(file).unwrap_or(usize::MAX));
    // All files are in one level: their number does not show that compaction is behind.
    options.set_level_zero_slowdown_writes_trigger(1 << 20);
    options.set_level_zero_stop_writes_trigger(1 << 20);
    options.set_compression_type(DBCompressionType::Zstd);
    let mut blocks = BlockBasedOptions::default();
    blocks.set_bloom_filter(10.0, false);
    options.set_block_based_table_factory(&blocks);
    quiet(&mut options);
    options
}

/// Keeps the log small and disables statistics.
pub(super) fn quiet(options: &mut Options) {
    options.set_log_level(rocksdb::LogLevel::Warn);
    options.set_keep_log_file_num(2);
    options.set_stats_dump_period_sec(0);
    options.set_stats_persist_period_sec(0);
    options.set_max_background_jobs(2);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 2 << 20;

    fn key(query: &str) -> Key<'_> {
        Key { snapshot: "s", language: "l", query }
    }

    /// Returns incompressible text.
    fn noise(seed: usize) -> Vec<u8> {
        let mut bytes = vec![0; 20_000];
        blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
        bytes
    }

    fn bytes_in(folder: &Path) -> u64 {
        let entries = std::fs::read_dir(folder.join(RESULTS)).unwrap();
        entries.map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
    }

    #[test]
    fn what_is_put_is_there_in_another_run() {
        let folder = tempfile::tempdir().unwrap();
        let cache = DbCache::open(folder.path(), SIZE).unwrap();
        assert_eq!(cache.get(&key("a")), None);
        cache.put(&key("a"), b"1".to_vec());
        assert_eq!(cache.get(&key("a")), Some(b"1".to_vec()));
        assert_eq!(cache.counts(), Some(Counts { hits: 1, misses: 1 }));
        assert_eq!(cache.finish(), [""; 0]);
        drop(cache);
        let cache = DbCache::open(folder.path(), SIZE).unwrap();
        assert_eq!(cache.get(&key("a")), Some(b"1".to_vec()));
        for other in [Key { snapshot: "t", ..key("a") }, Key { language: "m", ..key("a") }, key("b")] {
            assert_eq!(cache.get(&other), None);
        }
    }

    #[test]
    fn the_oldest_go_first_when_it_is_full() {
        let folder = tempfile::tempdir().unwrap();
        for run in 0..10 {
            let cache = DbCache::open(folder.path(), SIZE).unwrap();
            for i in 0..40 {
                let number = run * 40 + i;
                cache.put(&key(&number.to_string()), noise(number));
            }
            assert_eq!(cache.finish(), [""; 0]);
        }
        let cache = DbCache::open(folder.path(), SIZE).unwrap();
        let kept: Vec<usize> = (0..400).filter(|n| cache.get(&key(&n.to_string())) == Some(noise(*n))).collect();
        // All are 8 MB in total, four times the limit.
        assert!(kept.contains(&399) && !kept.contains(&0), "{kept:?}");
        assert!((40..=110).contains(&kept.len()), "{}", kept.len());
        assert!(bytes_in(folder.path()) < SIZE * 3 / 2, "{}", bytes_in(folder.path()));
        // A result as large as the cache is not cached.
        cache.put(&key("large"), vec![7; SIZE as usize]);
        assert_eq!(cache.get(&key("large")), None);
    }

    #[test]
    fn a_second_process_reads_and_adds_its_own_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let first = DbCache::open(folder.path(), SIZE).unwrap();
        first.put(&key("a"), b"1".to_vec());
        first.finish();
        let second = DbCache::open(folder.path(), SIZE).unwrap();
        assert!(second.lock.is_none());
        assert_eq!(second.get(&key("a")), Some(b"1".to_vec()));
        second.put(&key("b"), b"2".to_vec());
        drop(first);
        assert_eq!(second.finish(), [""; 0]);
        drop(second);
        assert_eq!(DbCache::open(folder.path(), SIZE).unwrap().get(&key("b")), Some(b"2".to_vec()));
    }

    #[test]
    fn other_folders_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("thesis.tex"), "x").unwrap();
        assert!(DbCache::open(folder.path(), SIZE).is_err());
        assert!(DbCache::open(&folder.path().join("thesis.tex"), SIZE).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        // A folder that cannot be created is not an error.
        std::fs::write(folder.path().join(TAG_NAME), &TAG[..20]).unwrap();
        let cache = DbCache::open(&folder.path().join("thesis.tex/cache"), SIZE).unwrap();
        cache.put(&key("a"), b"1".to_vec());
        assert_eq!(cache.get(&key("a")), None);
        assert!(cache.finish().concat().contains("results are not kept"));
        assert!(DbCache::open(folder.path(), SIZE).is_ok());
    }

    /// After any damage, a result is either correct or missing.
    #[test]
    fn damage_costs_results_and_never_changes_them() {
        let original = tempfile::tempdir().unwrap();
        let cache = DbCache::open(original.path(), SIZE).unwrap();
        (0..30).for_each(|i| cache.put(&key(&i.to_string()), noise(i)));
        cache.finish();
        // The last ones are only in the log.
        (30..40).for_each(|i| cache.put(&key(&i.to_string()), noise(i)));
        drop(cache);
        let files: Vec<PathBuf> =
            std::fs::read_dir(original.path().join(RESULTS)).unwrap().map(|e| e.unwrap().path()).collect();
        let mut found = Vec::new();
        for damaged in &files {
            for cut in [false, true] {
                let folder = tempfile::tempdir().unwrap();
                std::fs::create_dir(folder.path().join(RESULTS)).unwrap();
                std::fs::write(folder.path().join(TAG_NAME), TAG).unwrap();
                for file in &files {
                    let mut bytes = std::fs::read(file).unwrap();
                    if file == damaged && cut {
                        bytes.truncate(bytes.len() / 2);
                    } else if file == damaged {
                        let middle = bytes.len() / 2;
                        bytes.iter_mut().skip(middle).take(8).for_each(|byte| *byte ^= 0x55);
                    }
                    std::fs::write(folder.path().join(RESULTS).join(file.file_name().unwrap()), bytes).unwrap();
                }
                let mut cache = DbCache::open(folder.path(), SIZE).ok();
                let mut here = 0;
                for i in 0..40 {
                    if let Some(bytes) = cache.as_ref().unwrap().get(&key(&i.to_string())) {
                        assert!(bytes == noise(i), "{}", damaged.display());
                        here += 1;
                    }
                }
                found.push(here);
                // At the latest, the run after the one that found the damage caches results again.
                for run in [1, 2] {
                    let cache =
                        if run == 1 { cache.take().unwrap() } else { DbCache::open(folder.path(), SIZE).unwrap() };
                    cache.put(&key("new"), b"1".to_vec());
                    let kept = cache.get(&key("new"));
                    let said = cache.finish();
                    assert!(kept.is_some() || run == 1 && !said.is_empty(), "{}: {said:?}", damaged.display());
                }
            }
        }
        assert!(found.contains(&40) && found.iter().any(|n| *n < 40), "{found:?}");
    }
}
