//! Stores of the states at some moments. A state is built when it is first used and equals a load of the history up to
//! that moment. It is in an unnamed temporary file, which disappears with the last user of the state.
//!
//! States are built by separate threads, one at a time. If a query reaches its time limit while it waits, the state is
//! still built and is available to the next query. A state belongs to no query, therefore building one has its own
//! budget.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rayon::ThreadPoolBuilder;
use terrapin_base::external_sort::SpillScratch;
use terrapin_budget::{self as budget, Budget, ExceededLimit, Limits, StopReason};
use terrapin_snapshot::{ElementCounts, Error, Snapshot, SnapshotWriter};

use super::StoreHistory;
use super::changes::changed;
use super::disk::{DiskShare, StateDisk};
use crate::build::{ElementBuildError, Tables, write_state};
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
    /// The files of the states in use have no room for another one.
    #[error("the files of states of dates take more than {most} bytes")]
    Full {
        /// Maximum bytes of all files together.
        most: u64,
    },
    /// Building the state exceeds its memory limit.
    #[error("making the state of the date: {0}")]
    Exceeded(ExceededLimit),
    /// No thread can be started.
    #[error("no thread to make the state of the date: {0}")]
    Thread(Arc<io::Error>),
}

type Made = Result<Arc<Osm>, StateError>;

/// A state, once it is built.
#[derive(Default)]
struct StateSlot {
    made: Mutex<Option<Made>>,
    ready: Condvar,
}

/// The cached states and the queue of states to build.
#[derive(Default)]
struct StateTable {
    /// Built states and the one in progress, the most recently used last.
    slots: Vec<(i64, Arc<StateSlot>)>,
    /// States to build, in order. A state leaves the queue when no query waits for it.
    queue: VecDeque<QueuedState>,
    /// Whether a thread builds states.
    is_making: bool,
}

/// A state to build, with the number of queries that wait for it.
struct QueuedState {
    moment: i64,
    slot: Arc<StateSlot>,
    waiting: usize,
}

impl StateTable {
    /// Returns the slot of a state. If it is not built, adds it to the queue, or one more waiting query to its entry.
    fn request(&mut self, moment: i64) -> Arc<StateSlot> {
        if let Some((_, slot)) = self.slots.iter().find(|(of, _)| *of == moment) {
            return Arc::clone(slot);
        }
        if let Some(queued) = self.queue.iter_mut().find(|queued| queued.moment == moment) {
            queued.waiting += 1;
            return Arc::clone(&queued.slot);
        }
        let slot: Arc<StateSlot> = Arc::default();
        self.queue.push_back(QueuedState { moment, slot: Arc::clone(&slot), waiting: 1 });
        slot
    }

    /// Evicts the least recently used states. Queries that use one keep it alive.
    fn evict(&mut self) {
        let more = (self.slots.len() as u64).saturating_sub(KEPT);
        self.slots.drain(..usize::try_from(more).unwrap_or_default());
    }

    /// Evicts the least recently used of the states that no query uses. Returns `false` if there is none.
    fn evict_unused(&mut self) -> bool {
        let is_unused =
            |slot: &StateSlot| matches!(&*locked(&slot.made), Some(Ok(state)) if Arc::strong_count(state) == 1);
        let unused = self.slots.iter().position(|(_, slot)| is_unused(slot));
        unused.map(|at| self.slots.remove(at)).is_some()
    }
}

/// The data that all states share.
struct StateOrigin {
    snapshot: Arc<Snapshot>,
    counts: ElementCounts,
    data_time: i64,
    settings: StateSettings,
    disk: Arc<StateDisk>,
}

impl StateOrigin {
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
    fn unwritten(&self, error: ElementBuildError) -> StateError {
        match error {
            ElementBuildError::Snapshot(error) => self.failed(error),
            ElementBuildError::Temporary(error) => self.temporary(error.source),
            other => StateError::Damaged(Arc::new(Error::damaged("history", other.to_string()))),
        }
    }
}

/// The states of a store.
pub(super) struct StateCache {
    origin: Arc<StateOrigin>,
    table: Arc<Mutex<StateTable>>,
}

/// Locks a mutex, even if a thread panicked while it had the lock.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StateCache {
    /// Creates an empty collection of states.
    pub(super) fn new(osm: &Osm) -> StateCache {
        let settings = osm.states();
        let origin = StateOrigin {
            snapshot: Arc::clone(&osm.snapshot),
            counts: osm.counts(),
            data_time: osm.data_time(),
            disk: StateDisk::new(settings.disk),
            settings,
        };
        StateCache { origin: Arc::new(origin), table: Arc::default() }
    }

    /// Returns the state of a moment.
    pub(super) fn get(&self, moment: i64) -> Made {
        if let Some(made) = self.made(moment) {
            return made;
        }
        budget::before_waiting();
        let slot = self.request(moment);
        // Given up when dropped: also when the query's budget ends its waiting.
        let _waiter = StateWaiter { table: &self.table, slot: &slot };
        loop {
            let made = locked(&slot.made);
            let (made, _) = slot
                .ready
                .wait_timeout_while(made, PAUSE, |made| made.is_none())
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(made) = &*made {
                return made.clone();
            }
            drop(made);
            budget::checkpoints(WAITING_STEPS);
        }
    }

    /// Returns a built state, and makes it the most recently used one.
    fn made(&self, moment: i64) -> Option<Made> {
        let mut table = locked(&self.table);
        let at = table.slots.iter().position(|(of, _)| *of == moment)?;
        let made = locked(&table.slots[at].1.made).clone()?;
        table.slots[at..].rotate_left(1);
        Some(made)
    }

    /// Returns the slot of a state, and starts the building thread if none runs.
    fn request(&self, moment: i64) -> Arc<StateSlot> {
        // The slot outlives the query that first needs it, so its memory is not charged to that query.
        budget::unwatched(|| {
            let mut table = locked(&self.table);
            let slot = table.request(moment);
            if table.is_making || table.queue.is_empty() {
                return slot;
            }
            let (origin, shared) = (Arc::clone(&self.origin), Arc::clone(&self.table));
            let thread = std::thread::Builder::new().name("state".to_owned());
            match thread.spawn(move || make_all(&origin, &shared)) {
                Ok(_) => table.is_making = true,
                Err(error) => {
                    table.queue.clear();
                    *locked(&slot.made) = Some(Err(StateError::Thread(Arc::new(error))));
                }
            }
            slot
        })
    }
}

/// A query that waits for a state. When dropped, it waits no longer.
struct StateWaiter<'a> {
    table: &'a Mutex<StateTable>,
    slot: &'a Arc<StateSlot>,
}

impl Drop for StateWaiter<'_> {
    fn drop(&mut self) {
        let mut table = locked(self.table);
        let Some(at) = table.queue.iter().position(|queued| Arc::ptr_eq(&queued.slot, self.slot)) else { return };
        table.queue[at].waiting -= 1;
        if table.queue[at].waiting == 0 {
            table.queue.remove(at);
        }
    }
}

/// Builds the queued states in order, until the queue is empty. A state in progress is finished even if no query waits
/// for it.
fn make_all(origin: &StateOrigin, table: &Mutex<StateTable>) {
    loop {
        let (moment, slot) = {
            let mut table = locked(table);
            let Some(next) = table.queue.pop_front() else {
                table.is_making = false;
                return;
            };
            table.slots.push((next.moment, Arc::clone(&next.slot)));
            table.evict();
            (next.moment, next.slot)
        };
        let made = make(origin, moment, &|| locked(table).evict_unused()).map(Arc::new);
        if made.is_err() {
            // It may go better next time.
            locked(table).slots.retain(|(_, kept)| !Arc::ptr_eq(kept, &slot));
        }
        *locked(&slot.made) = Some(made);
        slot.ready.notify_all();
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

/// Builds a state within its memory limit. `make_room` removes the file of another state, if it can.
fn make(origin: &StateOrigin, moment: i64, make_room: &(dyn Fn() -> bool + Sync)) -> Result<Osm, StateError> {
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
            |pool| pool.install(|| current.share(|| build(origin, moment, make_room))),
        );
        built.unwrap_or_else(|error| Err(StateError::Thread(Arc::new(io::Error::other(error)))))
    });
    made.unwrap_or_else(|stopped| {
        Err(match stopped {
            StopReason::Exceeded(bound) => StateError::Exceeded(bound),
            StopReason::Panicked(_) => {
                StateError::Damaged(Arc::new(Error::damaged("history", "its versions make no state")))
            }
        })
    })
}

/// Counts the file of a state. Its size is known once it is written.
fn disk_share(
    origin: &StateOrigin,
    bytes: u64,
    make_room: &(dyn Fn() -> bool + Sync),
) -> Result<DiskShare, StateError> {
    loop {
        if let Some(share) = origin.disk.take(bytes) {
            return Ok(share);
        }
        if !make_room() {
            return Err(StateError::Full { most: origin.disk.most() });
        }
    }
}

/// Writes the sections of a state and opens them.
fn build(origin: &StateOrigin, moment: i64, make_room: &(dyn Fn() -> bool + Sync)) -> Result<Osm, StateError> {
    let StateSettings { folder, memory, cache, .. } = &origin.settings;
    let failed = |error| origin.failed(error);
    let scratch = SpillScratch::new(folder, memory / SORTING);
    let current = Osm::of(Arc::clone(&origin.snapshot), origin.counts, origin.data_time, SMALL_CACHE);
    let tables = Tables { keys: keys(&current), users: current.user_count(), roles: current.role_count() };
    current.check().map_err(failed)?;
    let mut writer = SnapshotWriter::create(&folder.join("state")).map_err(failed)?;
    let counts = write_state(&origin.snapshot, tables, origin.counts, moment, &scratch, &mut writer)
        .map_err(|error| origin.unwritten(error))?;
    let all = origin.snapshot.manifest().map(|manifest| manifest.sections.as_slice()).unwrap_or_default();
    for section in all.iter().filter(|section| SHARED.iter().any(|name| section.name.starts_with(name))) {
        writer.section(&section.name, origin.snapshot.unchecked(&section.name)).map_err(failed)?;
    }
    // The areas of every date are those of today: no query reads them from a state.
    crate::areas::AreaList::default().write(&mut writer).map_err(failed)?;
    let (file, sections) = writer.so_far().map_err(failed)?;
    let bytes = file.metadata().map_err(|error| origin.temporary(error))?.len();
    let share = disk_share(origin, bytes, make_room)?;
    let partial = Snapshot::partial(&file, &sections).map_err(|error| origin.temporary(error))?;
    let state = Osm::of(Arc::new(partial), counts, origin.data_time, cache / KEPT);
    let ids = changed(&current, moment, i64::MAX);
    let ordinals = |kind| radix::set(ids[kind as usize].iter().filter_map(|&id| state.find(kind, id)).collect());
    let later = ElementType::ALL.map(ordinals);
    current.check().map_err(failed)?;
    state.check().map_err(failed)?;
    state.beside(|| StoreHistory { history: None, later, _disk: Some(share) });
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_no_query_waits_for_any_more_is_not_made() {
        let table: Mutex<StateTable> = Mutex::default();
        let request = |moment| locked(&table).request(moment);
        let waiter = |slot| StateWaiter { table: &table, slot };
        let (first, again, other) = (request(1), request(1), request(2));
        assert!(Arc::ptr_eq(&first, &again) && !Arc::ptr_eq(&first, &other));
        let moments = || locked(&table).queue.iter().map(|queued| queued.moment).collect::<Vec<_>>();
        assert_eq!(moments(), [1, 2]);
        drop(waiter(&first));
        assert_eq!(moments(), [1, 2], "one of two queries waits on");
        drop(waiter(&again));
        assert_eq!(moments(), [2]);
        // One that times out while it waits.
        let budget = Arc::new(Budget::new(&Limits { deadline: Some(std::time::Instant::now()), ..Limits::default() }));
        let stopped = budget::watched(&budget, || {
            let _waiter = waiter(&other);
            budget::checkpoints(WAITING_STEPS);
        });
        assert!(matches!(stopped, Err(StopReason::Exceeded(ExceededLimit::Time(_)))));
        assert_eq!(moments(), [0; 0]);
    }
}
