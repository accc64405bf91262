//! Selects the state of the data that statements see. If the snapshot has older versions, this is the state at the
//! query's date, at a moment of `[diff:]`, or in a block of `retro`. Otherwise there is only one state, and
//! [`super::date`] tests timestamps.
//!
//! Ordinals belong to a state, therefore sets are converted between states by ids. As in the reference, the areas made
//! from relations are the current ones at every date.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::RunContext;
use crate::set::{AreaOrdinal, ElementSet};
use crate::sorted;
use crate::syntax::{SetName, Timestamp};
use crate::{DiagnosticClass, OverpassCode, OverpassDiagnostic, OverpassFailure};
use terrapin_osm::history::{ElementVersion, History, StateError};
use terrapin_osm::{ElementType, Ordinal, Osm};
use terrapin_snapshot::Error;

/// Sets with their content in another state.
pub(super) type Outside<'a> = BTreeMap<SetName, (Arc<ElementSet>, &'a Osm)>;

/// Two moments, and the ids of the elements that changed between them, by type.
pub(super) type ChangedIds = ((i64, i64), [Vec<i64>; 3]);

/// Maximum number of open states of a query. Each has a file, and tables in memory.
const MOST_OPEN: usize = 256;
/// Number of open states that keep decoded pages. The others decode a page again when it is needed.
const MOST_WARM: usize = 4;

/// The states that a query has opened. They stay open until it ends.
#[derive(Default)]
pub struct MomentStates {
    first: OnceCell<Box<OpenMoment>>,
}

struct OpenMoment {
    /// The time of the last change in it.
    change: i64,
    osm: Arc<Osm>,
    rest: MomentStates,
}

impl MomentStates {
    /// Keeps the state of a change open; `None` where too many are.
    fn keep(&self, change: i64, osm: Arc<Osm>) -> Option<&Osm> {
        let number = self.all().count();
        if number >= MOST_OPEN {
            return None;
        }
        if let Some(cold) = number.checked_sub(MOST_WARM) {
            self.all().nth(cold).into_iter().for_each(|opened| opened.osm.forget_pages());
        }
        let last = self.all().last().map_or(self, |opened| &opened.rest);
        Some(&last.first.get_or_init(|| Box::new(OpenMoment { change, osm, rest: MomentStates::default() })).osm)
    }

    /// The state of a change, if it is open.
    fn open(&self, change: i64) -> Option<&Osm> {
        self.all().find(|opened| opened.change == change).map(|opened| &*opened.osm)
    }

    /// The states in the order in which they were opened.
    fn all(&self) -> impl Iterator<Item = &OpenMoment> {
        let first = self.first.get().map(|opened| &**opened);
        std::iter::successors(first, |opened| opened.rest.first.get().map(|opened| &**opened))
    }

    /// Checks that all data read so far was undamaged. A state is built from its snapshot, so damage of one is damage
    /// of the other; `current` reports it from then on.
    ///
    /// # Errors
    /// Returns the first damage found.
    pub fn check(&self, current: &Osm) -> Result<(), Error> {
        for opened in self.all() {
            if let Err(damage) = opened.osm.check() {
                if let Error::Damaged { section, reason } = &damage {
                    current.report(section, reason);
                }
                return Err(damage);
            }
        }
        Ok(())
    }
}

impl<'a> RunContext<'a> {
    /// Returns the history of the data, if it has several versions of elements.
    pub(super) fn history(&self) -> Option<&'a History> {
        History::of(self.current)
    }

    /// Returns the state at a moment, or the current one for `None`.
    pub(super) fn state(&self, date: Option<Timestamp>) -> Result<&'a Osm, OverpassFailure> {
        let (Some(history), Some(moment)) = (self.history(), date) else { return Ok(self.current) };
        let Some(change) = history.last_change(self.current, moment) else { return Ok(self.current) };
        if let Some(open) = self.states.open(change) {
            return Ok(open);
        }
        match history.state(self.current, change) {
            Ok(None) => Ok(self.current),
            Ok(Some(osm)) => self.states.keep(change, osm).ok_or_else(|| {
                let message = format!("more than {MOST_OPEN} states of the data in one query");
                let help = "Split the query: each date of retro, [diff:] and [date:] is a state.";
                failure(OverpassCode::Memory, message, Some(help.to_owned()))
            }),
            Err(StateError::Damaged(damage)) => Err(damaged(&damage)),
            Err(StateError::Exceeded(bound)) => Err(self.budget.exceeded(bound)),
            Err(StateError::Temporary { folder, source }) => Err(unwritable(&folder, &source)),
            Err(StateError::Full { most }) => Err(full(most)),
            Err(error) => Err(failure(OverpassCode::Internal, error.to_string(), None)),
        }
    }

    /// Changes to another date. Returns the previous one.
    pub(super) fn look_at(&mut self, date: Option<Timestamp>) -> Result<Option<Timestamp>, OverpassFailure> {
        let osm = self.state(date)?;
        if !std::ptr::eq(osm, self.osm) {
            self.osm = osm;
            self.reader = None;
        }
        Ok(std::mem::replace(&mut self.date, date))
    }

    /// Converts all sets from a state to the visible one. Elements that do not exist there are removed.
    pub(super) fn carry(&mut self, from: &'a Osm) {
        if std::ptr::eq(from, self.osm) {
            return;
        }
        for (name, set) in &mut self.sets {
            let carried = Arc::new(carried(set, from, self.osm));
            let set = std::mem::replace(set, carried);
            self.outside.entry(name.clone()).or_insert((set, from));
        }
    }

    /// Returns a set for output, and the state that it belongs to. A set from another date is returned in its original
    /// state.
    pub(super) fn shown(&self, name: &str) -> (Arc<ElementSet>, &'a Osm) {
        self.outside.get(name).cloned().unwrap_or_else(|| (self.set(name), self.osm))
    }

    /// Converts current relations that areas are made from to the visible state.
    pub(super) fn as_seen(&self, relations: Vec<Ordinal>) -> Vec<Ordinal> {
        elsewhere(ElementType::Relation, &relations, self.current, self.osm).unwrap_or(relations)
    }

    /// Returns the areas made from relations of the visible state.
    pub(super) fn areas_made_of(&self, relations: &[Ordinal]) -> Vec<AreaOrdinal> {
        let current = elsewhere(ElementType::Relation, relations, self.osm, self.current);
        super::filters::area::areas_of(self, current.as_deref().unwrap_or(relations))
    }

    /// Returns the elements of a type that changed after `since` and not after `until`.
    pub(super) fn changed(&self, history: &History, kind: ElementType, since: i64, until: i64) -> Vec<Ordinal> {
        let mut kept = self.changed.borrow_mut();
        if kept.as_ref().is_none_or(|(span, _)| *span != (since, until)) {
            *kept = None;
        }
        let (_, ids) = kept.get_or_insert_with(|| ((since, until), history.changed(self.current, since, until)));
        with_ids(self.osm, kind, &ids[kind as usize])
    }

    /// Returns the version that records an element's deletion, if it is the last one up to a moment.
    pub(super) fn deletion(&self, kind: ElementType, id: i64, until: Option<Timestamp>) -> Option<ElementVersion> {
        let versions = self.history()?.versions(self.current, kind, id);
        let last = versions.into_iter().rfind(|version| until.is_none_or(|until| version.timestamp <= until));
        last.filter(|version| !version.visible)
    }
}

/// Returns the error for temporary files that cannot be written. The help names the folder; it is written to the log,
/// the shell and feedback, but not to the interpreter's page.
fn unwritable(folder: &Path, source: &std::io::Error) -> OverpassFailure {
    let help = format!(
        "The state of a date is made in {}: {source}. Choose another folder with --spool-dir for a server and TMPDIR for a \
         command, or free some of its disk.",
        folder.display()
    );
    failure(OverpassCode::Temporary, format!("cannot write temporary files: {}", source.kind()), Some(help))
}

/// Returns the error for files of states that reach their limit of bytes. For the client it is a full disk.
fn full(most: u64) -> OverpassFailure {
    let kind = std::io::ErrorKind::StorageFull;
    let help = format!(
        "The states of the dates of all running queries take at most {most} bytes. Raise --spool-total of the server, or \
         use fewer dates in one query."
    );
    failure(OverpassCode::Temporary, format!("cannot write temporary files: {kind}"), Some(help))
}

fn failure(code: OverpassCode, message: String, help: Option<String>) -> OverpassFailure {
    OverpassDiagnostic { help, ..OverpassDiagnostic::new(DiagnosticClass::Runtime, code, message) }.into()
}

/// Returns the existing elements of a type with these ids.
pub(super) fn with_ids(osm: &Osm, kind: ElementType, ids: &[i64]) -> Vec<Ordinal> {
    sorted::from_unsorted(ids.iter().filter_map(|&id| osm.find(kind, id)).collect())
}

/// Converts elements to another state. Returns `None` if the states are the same.
pub(super) fn elsewhere(kind: ElementType, list: &[Ordinal], from: &Osm, to: &Osm) -> Option<Vec<Ordinal>> {
    (!std::ptr::eq(from, to)).then(|| with_ids(to, kind, &from.ids(kind, list)))
}

/// Converts a set to another state.
pub(super) fn carried(set: &ElementSet, from: &Osm, to: &Osm) -> ElementSet {
    let mut carried = set.clone();
    for kind in ElementType::ALL {
        if let Some(list) = elsewhere(kind, set.part(kind), from, to) {
            *carried.part_mut(kind) = list;
        }
    }
    carried
}

/// Returns the error for a damaged snapshot.
pub fn damaged(error: &terrapin_snapshot::Error) -> OverpassFailure {
    let error = OverpassDiagnostic::new(DiagnosticClass::Runtime, OverpassCode::Damaged, error.to_string());
    error.help("Run `terrapin verify` on the snapshot and load it again.").into()
}
