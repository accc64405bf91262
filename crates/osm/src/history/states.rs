//! Stores of the states at some moments. A state is built when it is first used and equals a load of the history up to
//! that moment. It is in an unnamed temporary file, which disappears with the last user of the state.
//!
//! States are built by separate threads, one at a time. If a query reaches its time limit while it waits, the state is
//! still built and is available to the next query. A state belongs to no query, therefore building one has its own
//! budget.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rayon::ThreadPoolBuilder;
use terrapin_base::external_sort::Scratch;
use terrapin_budget::{self as budget, Budget, Exceeded, Limits, Stopped};
use terrapin_snapshot::{Counts, Error, Snapshot, Writer};

use super::Kept;
use super::changes::changed;
use crate::build::{BuildError, Tables, write_state};
use crate::radix;
use crate::state_settings::{KEPT, StateSettings};
use crate::store::Osm;
use crate::tags::KeyTable;
use crate::types::ElementType;

/// Sorting may use the memory for building a state divided by this before it spills to temporary files. The rest is for
/// tables and encoded pages.
const SORTING: u64 = 2;
/// Bytes of decoded pages while the tables are read.
const SMALL_CACHE: u64 = 1 << 20;
/// The prefixes of the names of the sections that a state shares with its snapshot.
const SHARED: [&str; 3] = ["tags.values", "users", "roles"];
/// The time that a query waits before it checks its budget.
const PAUSE: Duration = Duration::from_millis(20);
/// Steps that one waiting interval costs in a query's budget: enough to make it check its limits.
const WAITING_STEPS: usize = 1 << 20;

/// The reason why the state of a moment is not available.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The snapshot is damaged.
    #[error(transparent)]
    Damaged(Arc<Error>),
    /// The files of the state cannot be written or read.
    #[error("cannot write temporary files in {}: {source}", folder.display())]
    Temporary {
        /// The folder.
        folder: PathBuf,
        /// The error reported by the system.
        source: Arc<io::Error>,
    },
    /// Building the state exceeds its memory limit.
    #[error("making the state of the date: {0}")]
    Exceeded(Exceeded),
    /// No thread can be started.
    #[error("no thread to make the state of the date: {0}")]
    Thread(Arc<io::Error>),
}

type Made = Result<Arc<Osm>, StateError>;

/// A state, once it is made.
#[derive(Default)]
struct Slot {
    made: Mutex<Option<Made>>,
    ready: Condvar,
}

/// The data that all states share.
struct Origin {
    snapshot: Arc<Snapshot>,
    counts: Counts,
    data_time: i64,
    settings: StateSettings,
}

impl Origin {
    /// Returns the error for a failed operation on the state's own files.
    fn temporary(&self, source: io::Error) -> StateError {
        StateError::Temporary { folder: self.settings.folder.clone(), source: Arc::new(source) }
    }

    /// Converts an error of the snapshot file. Its sections are memory-mapped, so an I/O error is about a file being
    /// written.
    fn failed(&self, error: Error) -> StateError {
        match error {
            Error::Io { source, .. } => self.temporary(source),
            damage => StateError::Damaged(Arc::new(damage)),
        }
    }

    /// Returns the reason why the sections of a state could not be written.
    fn unwritten(&self, error: BuildError) -> StateError {
        match error {
            BuildError::Snapshot(error) => self.failed(error),
            BuildError::Temporary(error) => self.temporary(error.source),
            other => StateError::Damaged(Arc::new(Error::damaged("history", other.to_string()))),
        }
    }
}

/// The states of a store.
pub(super) struct States {
    origin: Arc<Origin>,
    /// The most recently used states, the last one at the end.
    kept: Mutex<Vec<(i64, Arc<Slot>)>>,
}

/// Locks a mutex, even if a thread panicked while it had the lock.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl States {
    /// Creates an empty collection of states.
    pub(super) fn new(osm: &Osm) -> States {
        let origin = Origin {
            snapshot: Arc::clone(&osm.snapshot),
            counts: osm.counts(),
            data_time: osm.data_time(),
            settings: osm.states(),
        };
        States { origin: Arc::new(origin), kept: Mutex::default() }
    }

    /// Returns the state of a moment.
    pub(super) fn get(&self, moment: i64) -> Made {
        let slot = self.slot(moment);
        loop {
            let made = locked(&slot.made);
            let (made, _) = slot
                .ready
                .wait_timeout_while(made, PAUSE, |made| made.is_none())
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(made) = &*made {
                if made.is_err() {
                    locked(&self.kept).retain(|(_, kept)| !Arc::ptr_eq(kept, &slot));
                }
                return made.clone();
            }
            drop(made);
            budget::checkpoints(WAITING_STEPS);
        }
    }

    /// Returns the slot of a state. The first call for a moment starts building it.
    fn slot(&self, moment: i64) -> Arc<Slot> {
        let mut kept = locked(&self.kept);
        if let Some(at) = kept.iter().position(|(of, _)| *of == moment) {
            let last = kept.remove(at);
            let slot = Arc::clone(&last.1);
            kept.push(last);
            return slot;
        }
        // The slot outlives the query that first needs it, therefore its memory is not charged to that query.
        let slot = budget::unwatched(Arc::<Slot>::default);
        if kept.len() as u64 >= KEPT {
            kept.remove(0);
        }
        kept.push((moment, Arc::clone(&slot)));
        let (origin, filled) = (Arc::clone(&self.origin), Arc::clone(&slot));
        let thread = std::thread::Builder::new().name("state".to_owned());
        let spawned = thread.spawn(move || {
            let made = make(&origin, moment);
            *locked(&filled.made) = Some(made.map(Arc::new));
            filled.ready.notify_all();
        });
        if let Err(error) = spawned {
            *locked(&slot.made) = Some(Err(StateError::Thread(Arc::new(error))));
        }
        slot
    }
}

/// Returns the keys and their pairs, without lists.
fn keys(osm: &Osm) -> KeyTable {
    let keys = 0..osm.key_count();
    let ends = keys.clone().map(|key| osm.pairs_of(key).end);
    let name = |key| {
        budget::checkpoint();
        osm.key_name(key).to_owned()
    };
    KeyTable {
        names: keys.clone().map(name).collect(),
        first_pairs: std::iter::once(0).chain(ends).collect(),
        lists: Vec::new(),
    }
}

/// Builds a state within its memory limit.
fn make(origin: &Origin, moment: i64) -> Result<Osm, StateError> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = locked(&ONE_AT_A_TIME);
    let limits = Limits { memory: Some(origin.settings.memory), ..Limits::default() };
    let made = budget::watched(&Arc::new(Budget::new(&limits)), || {
        let current = budget::current();
        // Dedicated threads: those of queries may all be waiting for the states built here. Their memory is also
        // counted.
        let threads = ThreadPoolBuilder::new().thread_name(|n| format!("state {n}"));
        let built = threads.build_scoped(
            |thread| current.share(|| thread.run()),
            |pool| pool.install(|| current.share(|| build(origin, moment))),
        );
        built.unwrap_or_else(|error| Err(StateError::Thread(Arc::new(io::Error::other(error)))))
    });
    made.unwrap_or_else(|stopped| {
        Err(match stopped {
            Stopped::Exceeded(bound) => StateError::Exceeded(bound),
            Stopped::Panicked(_) => {
                StateError::Damaged(Arc::new(Error::damaged("history", "its versions make no state")))
            }
        })
    })
}

/// Writes the sections of a state and opens them.
fn build(origin: &Origin, moment: i64) -> Result<Osm, StateError> {
    let StateSettings { folder, memory, cache } = &origin.settings;
    let failed = |error| origin.failed(error);
    let scratch = Scratch::new(folder, memory / SORTING);
    let current = Osm::of(Arc::clone(&origin.snapshot), origin.counts, origin.data_time, SMALL_CACHE);
    let tables = Tables { keys: keys(&current), users: current.user_count(), roles: current.role_count() };
    current.check().map_err(failed)?;
    let mut writer = Writer::create(&folder.join("state")).map_err(failed)?;
    let counts = write_state(&origin.snapshot, tables, origin.counts, moment, &scratch, &mut writer)
        .map_err(|error| origin.unwritten(error))?;
    let all = origin.snapshot.manifest().map(|manifest| manifest.sections.as_slice()).unwrap_or_default();
    for section in all.iter().filter(|section| SHARED.iter().any(|name| section.name.starts_with(name))) {
        writer.section(&section.name, origin.snapshot.unchecked(&section.name)).map_err(failed)?;
    }
    // The areas of every date are those of today: no query reads them from a state.
    crate::areas::Found::default().write(&mut writer).map_err(failed)?;
    let (file, sections) = writer.so_far().map_err(failed)?;
    let partial = Snapshot::partial(&file, &sections).map_err(|error| origin.temporary(error))?;
    let state = Osm::of(Arc::new(partial), counts, origin.data_time, cache / KEPT);
    let ids = changed(&current, moment, i64::MAX);
    let ordinals = |kind| radix::set(ids[kind as usize].iter().filter_map(|&id| state.find(kind, id)).collect());
    let later = ElementType::ALL.map(ordinals);
    current.check().map_err(failed)?;
    state.check().map_err(failed)?;
    state.beside(|| Kept { history: None, later });
    Ok(state)
}
