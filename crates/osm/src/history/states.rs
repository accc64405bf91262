//! The stores of some moments: each is made when it is first asked for, as a load of the history up to then would make
//! it, in an unnamed temporary file that is gone with the last who has it.
//!
//! They are made by threads of their own, one at a time: a query that cannot wait any longer ends, and what it waited
//! for is there for the next one.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};
use terrapin_base::external_sort::Scratch;
use terrapin_budget as budget;
use terrapin_snapshot::{Counts, Error, Snapshot, Writer};

use super::Kept;
use super::changes::changed;
use crate::build::{BuildError, Tables, write_state};
use crate::radix;
use crate::store::Osm;
use crate::tags::KeyTable;
use crate::types::ElementType;

/// How many are kept for the next who asks.
const KEPT: usize = 8;
/// The part of a store's memory for decoded pages that each has: one of so many.
const CACHE: u64 = 32;
/// Bytes that making one may take before it spills.
const MEMORY: u64 = 256 << 20;
/// Bytes of decoded pages while the tables are read.
const SMALL_CACHE: u64 = 1 << 20;
/// How the names of the sections begin that a state has from its snapshot.
const SHARED: [&str; 3] = ["tags.values", "users", "roles"];
/// How long a query waits before it looks at its budget.
const PAUSE: Duration = Duration::from_millis(20);
/// What waiting so long counts for in a query's budget: enough that it looks.
const WAITING_STEPS: usize = 1 << 20;

type Made = Result<Arc<Osm>, Arc<Error>>;

/// A state, once it is made.
#[derive(Default)]
struct Slot {
    made: Mutex<Option<Made>>,
    ready: Condvar,
}

/// What all states have in common.
struct Origin {
    snapshot: Arc<Snapshot>,
    counts: Counts,
    data_time: i64,
    cache: u64,
}

/// The states of a store.
pub(super) struct States {
    origin: Arc<Origin>,
    /// Those last asked for, the last one at the end.
    kept: Mutex<Vec<(i64, Arc<Slot>)>>,
}

/// What a lock holds, whoever panicked with it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl States {
    /// None made yet.
    pub(super) fn new(osm: &Osm) -> States {
        let origin = Origin {
            snapshot: Arc::clone(&osm.snapshot),
            counts: osm.counts(),
            data_time: osm.data_time(),
            cache: osm.cache_bytes() / CACHE,
        };
        States { origin: Arc::new(origin), kept: Mutex::default() }
    }

    /// The state of a moment.
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

    /// The place of a state; who asks first has it made.
    fn slot(&self, moment: i64) -> Arc<Slot> {
        let mut kept = locked(&self.kept);
        if let Some(at) = kept.iter().position(|(of, _)| *of == moment) {
            let last = kept.remove(at);
            let slot = Arc::clone(&last.1);
            kept.push(last);
            return slot;
        }
        // What outlives the query that asks first is nobody's.
        let slot = budget::unwatched(Arc::<Slot>::default);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((moment, Arc::clone(&slot)));
        let (origin, filled) = (Arc::clone(&self.origin), Arc::clone(&slot));
        let thread = std::thread::Builder::new().name("state".to_owned());
        let spawned = thread.spawn(move || {
            let made = std::panic::catch_unwind(|| make(&origin, moment));
            let made = made.unwrap_or_else(|_| Err(Error::damaged("history", "its versions make no state")));
            *locked(&filled.made) = Some(made.map(Arc::new).map_err(Arc::new));
            filled.ready.notify_all();
        });
        if let Err(error) = spawned {
            *locked(&slot.made) = Some(Err(Arc::new(Error::io(Path::new("a thread"), error))));
        }
        slot
    }
}

/// Threads for nothing else: those of queries may all wait for what these make.
fn pool() -> Result<&'static ThreadPool, Error> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let pool = POOL.get_or_init(|| ThreadPoolBuilder::new().thread_name(|n| format!("state {n}")).build().ok());
    pool.as_ref().ok_or_else(|| Error::io(Path::new("threads"), std::io::ErrorKind::WouldBlock.into()))
}

/// The keys and their pairs, without lists.
fn keys(osm: &Osm) -> KeyTable {
    let keys = 0..osm.key_count();
    let ends = keys.clone().map(|key| osm.pairs_of(key).end);
    KeyTable {
        names: keys.clone().map(|key| osm.key_name(key).to_owned()).collect(),
        first_pairs: std::iter::once(0).chain(ends).collect(),
        lists: Vec::new(),
    }
}

/// Makes a state.
fn make(origin: &Origin, moment: i64) -> Result<Osm, Error> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = locked(&ONE_AT_A_TIME);
    let folder = std::env::temp_dir();
    let scratch = Scratch::new(&folder, MEMORY);
    let current = Osm::of(Arc::clone(&origin.snapshot), origin.counts, origin.data_time, SMALL_CACHE);
    let tables = Tables {
        keys: keys(&current),
        users: u32::try_from(origin.counts.users + 1).unwrap_or(u32::MAX),
        roles: u32::try_from(current.role_count()).unwrap_or(u32::MAX),
    };
    current.check()?;
    let mut writer = Writer::create(&folder.join("state"))?;
    let counts = pool()?
        .install(|| write_state(&origin.snapshot, tables, origin.counts, moment, &scratch, &mut writer))
        .map_err(|error| match error {
            BuildError::Snapshot(error) => error,
            other => Error::io(&folder, std::io::Error::other(other)),
        })?;
    let all = origin.snapshot.manifest().map(|manifest| manifest.sections.as_slice()).unwrap_or_default();
    for section in all.iter().filter(|section| SHARED.iter().any(|name| section.name.starts_with(name))) {
        writer.section(&section.name, origin.snapshot.unchecked(&section.name))?;
    }
    // areas are those of today: nobody asks a state for them
    crate::areas::Found::default().write(&mut writer)?;
    let (file, sections) = writer.so_far()?;
    let partial = Snapshot::partial(&file, &sections).map_err(|e| Error::io(&folder, e))?;
    let state = Osm::of(Arc::new(partial), counts, origin.data_time, origin.cache);
    let ids = pool()?.install(|| changed(&current, moment, i64::MAX));
    let ordinals = |kind| radix::set(ids[kind as usize].iter().filter_map(|&id| state.find(kind, id)).collect());
    let later = ElementType::ALL.map(ordinals);
    current.check()?;
    state.check()?;
    state.beside(|| Kept { history: None, later });
    Ok(state)
}
