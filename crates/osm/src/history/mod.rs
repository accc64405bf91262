//! Older versions of elements, where a load kept them: what was there at a moment, what changed when, who wrote what.
//!
//! The current state knows nothing of them. A moment that is asked for is made into a store of its own, of which some
//! are kept (`states.rs`); the rest is read from the sections of versions directly.

mod changes;
mod states;

use std::sync::Arc;

use rayon::prelude::*;
use terrapin_base::external_sort::Rows;
use terrapin_budget as budget;
use terrapin_snapshot::{Error, Pages, Snapshot};

use super::build::{Version as Row, decode_versions};
use super::layout;
pub use super::state_settings::StateSettings;
use super::store::Osm;
use super::types::{ElementType, Ordinal};
pub use states::StateError;
use states::States;

/// What looking at a page of versions counts for in a query's budget.
const PAGE_STEPS: usize = 4096;
/// Bytes of an entry of the directory of pages.
const ENTRY: usize = 16;

/// The versions of a snapshot.
pub struct History {
    states: States,
}

/// What is kept beside a store.
struct Kept {
    /// Of a snapshot that has versions.
    history: Option<History>,
    /// Of a state: the elements that have changed since, by type and ascending.
    later: [Vec<Ordinal>; 3],
}

impl Kept {
    fn beside(osm: &Osm) -> &Kept {
        osm.beside(|| {
            let kept = History::is_in(&osm.snapshot).then(|| History { states: States::new(osm) });
            Kept { history: kept, later: Default::default() }
        })
    }
}

/// The elements of a type that have changed since the moment of a state, ascending; none of what is the current state.
pub fn changed_since(osm: &Osm, kind: ElementType) -> &[Ordinal] {
    &Kept::beside(osm).later[kind as usize]
}

/// A version of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// Its number.
    pub version: u32,
    /// When it was made, seconds since 1970.
    pub timestamp: i64,
    /// The changeset.
    pub changeset: i64,
    /// Its author, by place of the name.
    pub user: u32,
    /// Whether it is more than the note that the element was deleted.
    pub visible: bool,
}

/// What the directory says of a page.
struct PageEntry {
    first: i64,
    oldest: u32,
    newest: u32,
}

impl History {
    /// Whether a snapshot has versions.
    pub fn is_in(snapshot: &Snapshot) -> bool {
        snapshot.place(layout::VERSION_TIMES).is_some()
    }

    /// The versions that belong to a store; `None` where none were kept.
    pub fn of(osm: &Osm) -> Option<&History> {
        Kept::beside(osm).history.as_ref()
    }

    /// The last change up to a moment: all moments up to the next change have the same state. `None` where that is the store
    /// itself, -1 before the first change.
    pub fn last_change(&self, osm: &Osm, moment: i64) -> Option<i64> {
        let times = times(osm);
        let time = |at: usize| i64::from(u32::from_le_bytes(times[at]));
        let place = times.partition_point(|&time| i64::from(u32::from_le_bytes(time)) <= moment);
        (place < times.len()).then(|| place.checked_sub(1).map_or(-1, time))
    }

    /// The store as it was at a moment; `None` where that is the store itself.
    ///
    /// # Errors
    /// The snapshot is damaged, which [`Osm::check`] reports from then on; temporary files cannot be written; the state
    /// needs more memory than there is for making one.
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

    /// All versions of an element, in order.
    pub fn versions(&self, osm: &Osm, kind: ElementType, id: i64) -> Vec<Version> {
        let directory = directory(osm, kind);
        let Some(page) = directory.partition_point(|page| page.first <= id).checked_sub(1) else { return Vec::new() };
        let rows = read(osm, kind, page);
        rows.records.iter().filter(|row| row.id == id).map(version).collect()
    }

    /// The ids of the elements of a type of which one of these users, by place of their names and ascending, wrote a
    /// version; ascending.
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

fn version(row: &Row) -> Version {
    Version {
        version: row.version,
        timestamp: row.timestamp.into(),
        changeset: row.changeset,
        user: row.user,
        visible: !row.is_deleted(),
    }
}

/// When anything changed, ascending: little-endian numbers, read in place.
fn times(osm: &Osm) -> &[[u8; 4]] {
    osm.or_fault(osm.snapshot.section(layout::VERSION_TIMES), || &[]).as_chunks().0
}

/// What is known of the pages of a type.
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

/// A page of versions; none where it is damaged.
fn read(osm: &Osm, kind: ElementType, page: usize) -> Rows<Row> {
    budget::checkpoints(PAGE_STEPS);
    let name = layout::versions(kind);
    let read = Pages::open(&osm.snapshot, name, &osm.fault).and_then(|pages| pages.read(page as u64));
    let rows = read.and_then(|bytes| {
        decode_versions(kind, &bytes)
            .ok_or_else(|| Error::damaged(name, format!("page {page} is not what this format writes")))
    });
    osm.or_fault(rows, Rows::default)
}

/// What is made of the pages of a type that `wanted` takes, in order.
fn each_page<T: Send>(
    osm: &Osm,
    kind: ElementType,
    wanted: impl Fn(&PageEntry) -> bool,
    make: impl Fn(&Rows<Row>) -> Vec<T> + Sync,
) -> Vec<T> {
    let wanted: Vec<usize> =
        directory(osm, kind).iter().enumerate().filter(|(_, page)| wanted(page)).map(|(page, _)| page).collect();
    let current = budget::current();
    wanted.par_iter().flat_map_iter(|&page| current.share(|| make(&read(osm, kind, page)))).collect()
}
