//! Older versions of elements, if a load kept them: the state at a moment, the changes in a period, and the authors of
//! versions.
//!
//! The current state does not depend on them. For a requested moment, a store of its own is built; some of these are
//! kept (`states.rs`). All other queries read the sections of versions directly.

mod changes;
mod disk;
mod states;

use std::sync::Arc;

use rayon::prelude::*;
use terrapin_base::external_sort::SortRows;
use terrapin_budget as budget;
use terrapin_snapshot::{Error, PagedSection, Snapshot};

use super::build::{Version as Row, decode_versions};
use super::layout;
pub use super::state_settings::StateSettings;
use super::store::Osm;
use super::types::{ElementType, Ordinal};
use disk::DiskShare;
use states::StateCache;
pub use states::StateError;

/// Steps that reading a page of versions costs in a query's budget.
const PAGE_STEPS: usize = 4096;
/// Bytes of an entry of the directory of pages.
const ENTRY: usize = 16;

/// The versions of a snapshot.
pub struct History {
    states: StateCache,
}

/// The data about versions that is kept with a store.
struct StoreHistory {
    /// The versions, if the snapshot has any.
    history: Option<History>,
    /// For a state, the elements that have changed since, by type and ascending.
    later: [Vec<Ordinal>; 3],
    /// For a state, the bytes of its file, which are released with it.
    _disk: Option<DiskShare>,
}

impl StoreHistory {
    fn beside(osm: &Osm) -> &StoreHistory {
        osm.beside(|| {
            let kept = History::is_in(&osm.snapshot).then(|| History { states: StateCache::new(osm) });
            StoreHistory { history: kept, later: Default::default(), _disk: None }
        })
    }
}

/// Returns the elements of a type that have changed since the moment of a state, ascending; empty for the current
/// state.
pub fn changed_since(osm: &Osm, kind: ElementType) -> &[Ordinal] {
    &StoreHistory::beside(osm).later[kind as usize]
}

/// A version of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementVersion {
    /// Its number.
    pub version: u32,
    /// The time of the version, in seconds since 1970.
    pub timestamp: i64,
    /// The changeset.
    pub changeset: i64,
    /// Its author, by place of the name.
    pub user: u32,
    /// Whether it is more than the note that the element was deleted.
    pub visible: bool,
}

/// The directory's entry for a page.
struct PageEntry {
    first: i64,
    oldest: u32,
    newest: u32,
}

impl History {
    /// Returns whether a snapshot has versions.
    pub fn is_in(snapshot: &Snapshot) -> bool {
        snapshot.place(layout::VERSION_TIMES).is_some()
    }

    /// Returns the versions of a store; `None` if no versions were kept.
    pub fn of(osm: &Osm) -> Option<&History> {
        StoreHistory::beside(osm).history.as_ref()
    }

    /// Returns the time of the last change up to a moment: all moments up to the next change have the same state.
    /// `None` is the current state, -1 a moment before the first change.
    pub fn last_change(&self, osm: &Osm, moment: i64) -> Option<i64> {
        let times = times(osm);
        let time = |at: usize| i64::from(u32::from_le_bytes(times[at]));
        let place = times.partition_point(|&time| i64::from(u32::from_le_bytes(time)) <= moment);
        (place < times.len()).then(|| place.checked_sub(1).map_or(-1, time))
    }

    /// Returns the store as it was at a moment; `None` if that is the current store.
    ///
    /// # Errors
    /// Returns an error if the snapshot is damaged, which [`Osm::check`] reports from then on, if temporary files
    /// cannot be written, or if building the state exceeds its memory limit.
    pub fn state(&self, osm: &Osm, moment: i64) -> Result<Option<Arc<Osm>>, StateError> {
        let Some(moment) = self.last_change(osm, moment) else { return Ok(None) };
        let made = self.states.get(moment);
        if let Err(StateError::Damaged(damage)) = &made
            && let Error::Damaged { section, reason } = &**damage
        {
            osm.report(section, reason);
        }
        made.map(Some)
    }

    /// Returns all versions of an element, in order.
    pub fn versions(&self, osm: &Osm, kind: ElementType, id: i64) -> Vec<ElementVersion> {
        let directory = directory(osm, kind);
        let Some(page) = directory.partition_point(|page| page.first <= id).checked_sub(1) else { return Vec::new() };
        let rows = read(osm, kind, page);
        rows.records.iter().filter(|row| row.id == id).map(version).collect()
    }

    /// Returns the ids of the elements of a type of which one of these users wrote a version, ascending. Users are
    /// given by the place of their names, ascending.
    pub fn touched(&self, osm: &Osm, kind: ElementType, users: &[u32]) -> Vec<i64> {
        each_page(
            osm,
            kind,
            |_| true,
            |rows| {
                let mut ids: Vec<i64> = rows
                    .records
                    .iter()
                    .filter(|row| users.binary_search(&row.user).is_ok())
                    .map(|row| row.id)
                    .collect();
                ids.dedup();
                ids
            },
        )
    }
}

fn version(row: &Row) -> ElementVersion {
    ElementVersion {
        version: row.version,
        timestamp: row.timestamp.into(),
        changeset: row.changeset,
        user: row.user,
        visible: !row.is_deleted(),
    }
}

/// Returns the times of all changes, ascending: little-endian numbers, read in place.
fn times(osm: &Osm) -> &[[u8; 4]] {
    osm.or_fault(osm.snapshot.section(layout::VERSION_TIMES), || &[]).as_chunks().0
}

/// Returns the directory of the pages of a type.
fn directory(osm: &Osm, kind: ElementType) -> Vec<PageEntry> {
    let bytes = osm.or_fault(osm.snapshot.section(layout::version_pages(kind)), || &[]);
    let entry = |entry: &[u8]| {
        let (first, times) = entry.split_at_checked(8)?;
        let (oldest, newest) = times.split_at_checked(4)?;
        Some(PageEntry {
            first: i64::from_le_bytes(first.try_into().ok()?),
            oldest: u32::from_le_bytes(oldest.try_into().ok()?),
            newest: u32::from_le_bytes(newest.try_into().ok()?),
        })
    };
    bytes.chunks_exact(ENTRY).filter_map(entry).collect()
}

/// Reads a page of versions; empty if it is damaged.
fn read(osm: &Osm, kind: ElementType, page: usize) -> SortRows<Row> {
    budget::checkpoints(PAGE_STEPS);
    let name = layout::versions(kind);
    let read = PagedSection::open(&osm.snapshot, name, &osm.fault).and_then(|pages| pages.read(page as u64));
    let rows = read.and_then(|bytes| {
        decode_versions(kind, &bytes)
            .ok_or_else(|| Error::damaged(name, format!("page {page} is not what this format writes")))
    });
    osm.or_fault(rows, SortRows::default)
}

/// Returns the results of `make` for the pages of a type that `wanted` selects, in order.
fn each_page<T: Send>(
    osm: &Osm,
    kind: ElementType,
    wanted: impl Fn(&PageEntry) -> bool,
    make: impl Fn(&SortRows<Row>) -> Vec<T> + Sync,
) -> Vec<T> {
    let wanted: Vec<usize> =
        directory(osm, kind).iter().enumerate().filter(|(_, page)| wanted(page)).map(|(page, _)| page).collect();
    let current = budget::current();
    wanted.par_iter().flat_map_iter(|&page| current.share(|| make(&read(osm, kind, page)))).collect()
}
