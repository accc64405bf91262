//! The cache in SQLite, for other runs and processes. Errors never stop a run: if the folder is unusable, the run
//! continues without a cache. It does not know the meaning of the results.
//!
//! | in the folder | contents |
//! |---|---|
//! | `CACHEDIR.TAG` | marks the folder as this program's cache, and tells backups to skip it |
//! | `results-2.sqlite` | the database; the number is the version of its keys and values |
//! | `results-2.sqlite.damaged` | a database that could not be read, moved aside |
//!
//! A key is the BLAKE3 of everything the results depend on. A value is the first 16 bytes of the BLAKE3 of key and
//! compressed results, then the results compressed with zstd, so that damage is a miss and never a wrong result. If the
//! database is full, the oldest results are deleted first.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};

use super::{CacheCounts, CacheKey, ResultCache, program};

/// The first line marks the folder as a cache for all programs, the second for this one.
const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55
# Results of queries, kept by terrapin. The folder may be deleted.
";
const TAG_NAME: &str = "CACHEDIR.TAG";
const RESULTS: &str = "results-2.sqlite";
/// The length of a value's checksum in bytes.
const CHECKSUM: usize = 16;
/// The number of bytes and the age after which pending results are written.
const WRITE_BYTES: usize = 4 << 20;
const WRITE_AFTER: Duration = Duration::from_millis(200);
/// The maximum number of bytes of pending results while other processes write.
const MAX_PENDING: usize = 64 << 20;
/// The time that a query waits for another process, and the time that the end of a run does.
const QUERY_WAIT: Duration = Duration::from_secs(1);
const FINAL_WAIT: Duration = Duration::from_secs(10);

/// The folder is not a cache.
#[derive(Debug, thiserror::Error)]
#[error("{}: not empty, and not a cache of results ({TAG_NAME} is missing): name another folder", path.display())]
pub struct Foreign {
    /// The folder.
    pub path: PathBuf,
}

type Digest = [u8; blake3::OUT_LEN];

/// A cache in a folder, which any number of processes may use at once.
pub struct DbCache {
    folder: PathBuf,
    size: u64,
    /// The digest of the program; empty if results cannot be cached.
    program: String,
    state: Mutex<CacheState>,
    hits: AtomicU64,
    misses: AtomicU64,
}

struct CacheState {
    /// `None` if the database cannot be opened.
    db: Option<Connection>,
    /// Compressed results that are not yet written.
    pending: HashMap<Digest, Vec<u8>>,
    pending_bytes: usize,
    written: Instant,
    /// The number of results that did not fit.
    lost: usize,
    notices: Vec<String>,
}

impl DbCache {
    /// Opens or creates a folder. `size` is the approximate maximum size of the results in bytes.
    ///
    /// # Errors
    /// Returns an error if the folder is not a cache. [`DbCache::finish`] reports all other problems.
    pub fn open(folder: &Path, size: u64) -> Result<DbCache, Foreign> {
        if is_foreign(folder) {
            return Err(Foreign { path: folder.to_owned() });
        }
        let mut cache = DbCache {
            folder: folder.to_owned(),
            size,
            program: String::new(),
            state: Mutex::new(CacheState {
                db: None,
                pending: HashMap::new(),
                pending_bytes: 0,
                written: Instant::now(),
                lost: 0,
                notices: Vec::new(),
            }),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        };
        if let Err(reason) = cache.start() {
            cache.program.clear();
            cache.state().notices.push(format!("{}: results are not kept: {reason}", folder.display()));
        }
        Ok(cache)
    }

    fn start(&mut self) -> Result<(), String> {
        self.program = program().map_err(|e| format!("this program cannot be read: {e}"))?.to_owned();
        let unusable = |e: std::io::Error| e.to_string();
        std::fs::create_dir_all(&self.folder).map_err(unusable)?;
        std::fs::write(self.folder.join(TAG_NAME), TAG).map_err(unusable)?;
        let mut state = self.state();
        match connect(&self.folder.join(RESULTS)) {
            Ok(db) => state.db = Some(db),
            Err(error) if is_damage(&error) => self.replace(&mut state, &error),
            Err(error) => return Err(error.to_string()),
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves a damaged database aside and begins a new one.
    fn replace(&self, state: &mut CacheState, damage: &rusqlite::Error) {
        state.db = None;
        let path = self.folder.join(RESULTS);
        let aside = self.folder.join(format!("{RESULTS}.damaged"));
        let _ = std::fs::remove_file(self.folder.join(format!("{RESULTS}-journal")));
        let moved = std::fs::rename(&path, &aside).map_err(|error| error.to_string());
        match moved.and_then(|()| connect(&path).map_err(|error| error.to_string())) {
            Ok(db) => {
                state.db = Some(db);
                state
                    .notices
                    .push(format!("{}: cached results were damaged ({damage}) and moved aside", aside.display()));
            }
            Err(error) => state.notices.push(format!(
                "{}: results are not kept: they are damaged ({damage}) and cannot be moved aside: {error}",
                path.display()
            )),
        }
    }

    /// Handles an error of the database; reports one error that is no damage, since others usually repeat it.
    fn report(&self, state: &mut CacheState, error: &rusqlite::Error) {
        if is_damage(error) {
            self.replace(state, error);
            return;
        }
        let notice = format!("{}: some results are not kept: ", self.folder.display());
        if !state.notices.iter().any(|other| other.starts_with(&notice)) {
            state.notices.push(notice + &error.to_string());
        }
    }

    fn digest(&self, key: &CacheKey<'_>) -> Digest {
        let mut hasher = blake3::Hasher::new();
        for part in [key.snapshot, &self.program, key.language, key.query] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// Returns the value of a key, checked but compressed.
    fn value(&self, key: &Digest) -> Option<Vec<u8>> {
        let mut state = self.state();
        if let Some(value) = state.pending.get(key) {
            return Some(value.clone());
        }
        let found = state
            .db
            .as_ref()?
            .prepare_cached("SELECT value FROM results WHERE key = ?1")
            .and_then(|mut select| select.query_row([key.as_slice()], |row| row.get::<_, Vec<u8>>(0)).optional());
        match found {
            Ok(value) => value,
            Err(error) if is_busy(&error) => None,
            Err(error) => {
                self.report(&mut state, &error);
                None
            }
        }
    }

    /// Writes the pending results and deletes the oldest ones over the limit. Keeps them pending if another process
    /// writes for too long.
    fn write(&self, state: &mut CacheState) {
        state.written = Instant::now();
        if state.pending.is_empty() {
            return;
        }
        let Some(db) = &mut state.db else { return };
        match write(db, &state.pending, self.size) {
            Ok(()) => {
                state.pending.clear();
                state.pending_bytes = 0;
            }
            Err(error) if is_busy(&error) => {}
            Err(error) => {
                self.report(state, &error);
                // A new database can take them; any other error repeats.
                if !is_damage(&error) {
                    state.pending.clear();
                    state.pending_bytes = 0;
                }
            }
        }
    }
}

impl ResultCache for DbCache {
    fn get(&self, key: &CacheKey<'_>) -> Option<Vec<u8>> {
        let digest = self.digest(key);
        let found = self.value(&digest).and_then(|value| unpack(&digest, &value, self.size));
        let count = if found.is_some() { &self.hits } else { &self.misses };
        count.fetch_add(1, Ordering::Relaxed);
        found
    }

    fn put(&self, key: &CacheKey<'_>, results: Vec<u8>) {
        if results.len() as u64 > longest(self.size) || self.program.is_empty() {
            return;
        }
        let digest = self.digest(key);
        let Ok(value) = pack(&digest, &results) else { return };
        let mut state = self.state();
        if state.db.is_none() || state.pending_bytes + value.len() > MAX_PENDING {
            state.lost += 1;
            return;
        }
        state.pending_bytes += value.len();
        state.pending.insert(digest, value);
        if state.pending_bytes >= WRITE_BYTES || state.written.elapsed() >= WRITE_AFTER {
            self.write(&mut state);
        }
    }

    fn counts(&self) -> Option<CacheCounts> {
        Some(CacheCounts { hits: self.hits.load(Ordering::Relaxed), misses: self.misses.load(Ordering::Relaxed) })
    }

    fn finish(&self) -> Vec<String> {
        let mut state = self.state();
        if let Some(db) = &state.db {
            let _ = db.busy_timeout(FINAL_WAIT);
        }
        self.write(&mut state);
        let lost = std::mem::take(&mut state.lost) + state.pending.len();
        if lost > 0 && state.db.is_some() {
            let notice = format!("{}: {lost} results are not kept: another process is writing", self.folder.display());
            state.notices.push(notice);
        }
        std::mem::take(&mut state.notices)
    }
}

/// Writes the pending results of a failed run.
impl Drop for DbCache {
    fn drop(&mut self) {
        self.write(&mut self.state());
    }
}

/// Opens or creates the database.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    // Without the flag for URIs, so that a folder may be called `file:cache`.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(QUERY_WAIT)?;
    // A killed process leaves a journal, which the next process uses for recovery. After a power failure, checksums
    // identify the intact results.
    db.execute_batch(
        "PRAGMA auto_vacuum = INCREMENTAL;
         PRAGMA journal_mode = TRUNCATE;
         PRAGMA synchronous = OFF;
         PRAGMA cell_size_check = ON;
         CREATE TABLE IF NOT EXISTS results (key BLOB NOT NULL UNIQUE, value BLOB NOT NULL);",
    )?;
    Ok(db)
}

/// Writes results and deletes the oldest ones over the limit, in one transaction.
fn write(db: &mut Connection, results: &HashMap<Digest, Vec<u8>>, size: u64) -> rusqlite::Result<()> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let mut insert = transaction.prepare_cached("INSERT OR REPLACE INTO results (key, value) VALUES (?1, ?2)")?;
        for (key, value) in results {
            insert.execute(params![key.as_slice(), value])?;
        }
    }
    let pragma = |name: &str| {
        transaction.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
    };
    let used = (pragma("page_count")?.saturating_sub(pragma("freelist_count")?)).saturating_mul(pragma("page_size")?);
    if used > size {
        // A sixteenth more than necessary, so that not every transaction deletes.
        let surplus = (used - size).saturating_add(size / 16);
        let mut freed = 0;
        let mut last = 0_i64;
        let mut oldest = transaction.prepare_cached("SELECT rowid, length(value) FROM results ORDER BY rowid")?;
        let mut rows = oldest.query([])?;
        while let Some(row) = rows.next()?
            && freed < surplus
        {
            last = row.get(0)?;
            freed += row.get::<_, i64>(1)?.unsigned_abs();
        }
        drop(rows);
        drop(oldest);
        transaction.execute("DELETE FROM results WHERE rowid <= ?1", [last])?;
    }
    transaction.commit()?;
    if used > size {
        db.execute_batch("PRAGMA incremental_vacuum")?;
    }
    Ok(())
}

/// Returns the maximum length in bytes of the results of a query: a few longer ones would evict everything else.
fn longest(size: u64) -> u64 {
    size / 16
}

/// Compresses results and puts their checksum before them.
fn pack(key: &Digest, results: &[u8]) -> std::io::Result<Vec<u8>> {
    let compressed = zstd::bulk::compress(results, 1)?;
    Ok([&checksum(key, &compressed)[..], &compressed].concat())
}

/// Returns the results of a value; `None` if it is damaged or longer than a cache of `size` bytes takes.
fn unpack(key: &Digest, value: &[u8], size: u64) -> Option<Vec<u8>> {
    let (sum, compressed) = value.split_first_chunk::<CHECKSUM>()?;
    if *sum != checksum(key, compressed) {
        return None;
    }
    let mut results = Vec::new();
    let mut decoder = zstd::stream::read::Decoder::new(compressed).ok()?.take(longest(size) + 1);
    decoder.read_to_end(&mut results).ok()?;
    (results.len() as u64 <= longest(size)).then_some(results)
}

fn checksum(key: &Digest, compressed: &[u8]) -> [u8; CHECKSUM] {
    let mut sum = [0; CHECKSUM];
    blake3::Hasher::new().update(key).update(compressed).finalize_xof().fill(&mut sum);
    sum
}

/// Reports whether another process writes.
fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Reports whether the file is not a database of this program, so that retrying cannot succeed.
fn is_damage(error: &rusqlite::Error) -> bool {
    // The statements are constants: an unknown error means that the table has other columns.
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown))
        || matches!(error, rusqlite::Error::InvalidColumnType(..))
}

/// Reports whether a non-empty folder is not our cache. A tag truncated by a kill is ours.
fn is_foreign(folder: &Path) -> bool {
    let Ok(mut entries) = std::fs::read_dir(folder) else { return folder.exists() && !folder.is_dir() };
    let tagged = std::fs::read(folder.join(TAG_NAME)).is_ok_and(|tag| TAG.as_bytes().starts_with(&tag));
    !tagged && entries.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 2 << 20;

    fn key(query: &str) -> CacheKey<'_> {
        CacheKey { snapshot: "s", language: "l", query }
    }

    /// Returns incompressible text.
    fn noise(seed: usize) -> Vec<u8> {
        let mut bytes = vec![0; 20_000];
        blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
        bytes
    }

    fn bytes_in(folder: &Path) -> u64 {
        std::fs::metadata(folder.join(RESULTS)).unwrap().len()
    }

    #[test]
    fn what_is_put_is_there_in_another_run() {
        let folder = tempfile::tempdir().unwrap();
        let cache = DbCache::open(folder.path(), SIZE).unwrap();
        assert_eq!(cache.get(&key("a")), None);
        cache.put(&key("a"), b"1".to_vec());
        assert_eq!(cache.get(&key("a")), Some(b"1".to_vec()));
        assert_eq!(cache.counts(), Some(CacheCounts { hits: 1, misses: 1 }));
        assert_eq!(cache.finish(), [""; 0]);
        drop(cache);
        let cache = DbCache::open(folder.path(), SIZE).unwrap();
        assert_eq!(cache.get(&key("a")), Some(b"1".to_vec()));
        for other in [CacheKey { snapshot: "t", ..key("a") }, CacheKey { language: "m", ..key("a") }, key("b")] {
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
    fn two_processes_read_and_write_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = DbCache::open(folder.path(), SIZE).unwrap();
        first.put(&key("a"), b"1".to_vec());
        first.finish();
        let second = DbCache::open(folder.path(), SIZE).unwrap();
        assert_eq!(second.get(&key("a")), Some(b"1".to_vec()));
        second.put(&key("b"), b"2".to_vec());
        assert_eq!(second.finish(), [""; 0]);
        assert_eq!(first.get(&key("b")), Some(b"2".to_vec()));
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
        (30..40).for_each(|i| cache.put(&key(&i.to_string()), noise(i)));
        cache.finish();
        drop(cache);
        let whole = std::fs::read(original.path().join(RESULTS)).unwrap();
        let mut found = Vec::new();
        for place in 0..16 {
            for cut in [false, true] {
                let folder = tempfile::tempdir().unwrap();
                std::fs::write(folder.path().join(TAG_NAME), TAG).unwrap();
                let mut bytes = whole.clone();
                let at = whole.len() * place / 16;
                if cut {
                    bytes.truncate(at);
                } else {
                    bytes.iter_mut().skip(at).take(8).for_each(|byte| *byte ^= 0x55);
                }
                std::fs::write(folder.path().join(RESULTS), bytes).unwrap();
                let mut cache = DbCache::open(folder.path(), SIZE).ok();
                let mut here = 0;
                for i in 0..40 {
                    if let Some(bytes) = cache.as_ref().unwrap().get(&key(&i.to_string())) {
                        assert!(bytes == noise(i), "{place} {cut}");
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
                    assert!(kept.is_some() || run == 1 && !said.is_empty(), "{place} {cut}: {said:?}");
                }
            }
        }
        assert!(found.iter().any(|n| *n >= 39) && found.iter().any(|n| *n < 39), "{found:?}");
    }
}
