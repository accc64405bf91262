//! Writes the `out` of a query with two moments: an action for each element that is in the set at only one of them, or
//! that differs between them. The order is by type and id. Limits are ignored.

use super::writer::{ElementWriter, OutScratch, WrittenParts};
use crate::output::{DiffAction, OutputItem, OutputMeta, Projection, disconnected};
use crate::run::RunContext;
use crate::run::diff::{self, DiffPhase, SetChanges};
use crate::set::Derived;
use crate::syntax::{Out, Timestamp};
use crate::{OverpassFailure, reader::StoreReader, sorted};
use terrapin_budget as budget;
use terrapin_osm::{ElementType, Ordinal, Osm};

/// Runs the `out` at position `place` of the text, at the older or the newer moment.
pub(super) fn run(ctx: &mut RunContext, out: &Out, place: usize) -> Result<(), OverpassFailure> {
    // As in the reference, an unassigned set differs from an empty one.
    let given = ctx.sets.contains_key(&out.from);
    let set = ctx.shown(&out.from);
    let Some(state) = &mut ctx.diff else { return Ok(()) };
    if state.phase == DiffPhase::Older {
        return if !given || state.keep(place, set) { Ok(()) } else { Err(diff::in_a_loop()) };
    }
    if let Some(changes) = state.found(&out.from) {
        return write(ctx, out, &changes);
    }
    let Some(older) = state.recorded(place).filter(|_| given) else { return Ok(()) };
    let changes = diff::changes(ctx, older, set);
    write(ctx, out, &changes)
}

/// The change of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// It is in the set at the newer moment only.
    Created(Ordinal),
    /// It is in the set at the older moment only.
    Deleted(Ordinal),
    /// It is in the set at both.
    Modified(Ordinal, Ordinal),
}

/// The writers of elements at the older and the newer moment.
struct Writers<'a> {
    older: ElementWriter<'a>,
    newer: ElementWriter<'a>,
}

fn write<'a>(ctx: &mut RunContext<'a>, out: &Out, changes: &SetChanges<'a>) -> Result<(), OverpassFailure> {
    let shown = WrittenParts::of(out, Projection::ALL).differing();
    let writer = |osm| ElementWriter { reader: StoreReader::new(osm), shown, scratch: OutScratch::default() };
    let mut writers = Writers { older: writer(changes.older), newer: writer(changes.newer) };
    for kind in ElementType::ALL {
        for (step, &(id, fate)) in fates(changes, kind).iter().enumerate() {
            if step.is_multiple_of(super::STEP) {
                budget::check();
            }
            match fate {
                Fate::Deleted(old) => deleted(ctx, &mut writers, changes, kind, old, id)?,
                Fate::Created(new) => created(ctx, &mut writers, changes, kind, new, id)?,
                Fate::Modified(old, new) => modified(ctx, &mut writers, kind, (old, new), id)?,
            }
        }
    }
    for derived in &changes.removed.derived {
        mark(ctx, &[DiffAction::Begin("delete"), DiffAction::Old])?;
        write_derived(ctx, &mut writers.older, derived)?;
        mark(ctx, &[DiffAction::EndOld, DiffAction::End])?;
    }
    for derived in &changes.added.derived {
        mark(ctx, &[DiffAction::Begin("create")])?;
        write_derived(ctx, &mut writers.newer, derived)?;
        mark(ctx, &[DiffAction::End])?;
    }
    Ok(())
}

/// Returns the changed elements of a type, by id.
fn fates(changes: &SetChanges<'_>, kind: ElementType) -> Vec<(i64, Fate)> {
    let removed = changes.removed.part(kind);
    let deleted = changes.older.ids(kind, removed).into_iter().zip(removed.iter().map(|&o| Fate::Deleted(o)));
    let added = changes.added.part(kind);
    let created = changes.newer.ids(kind, added).into_iter().zip(added.iter().map(|&o| Fate::Created(o)));
    let both = &changes.modified[kind as usize];
    let new: Vec<Ordinal> = both.iter().map(|&(_, new)| new).collect();
    let modified = changes.newer.ids(kind, &new).into_iter().zip(both.iter().map(|&(o, n)| Fate::Modified(o, n)));
    let mut all: Vec<(i64, Fate)> = deleted.chain(created).chain(modified).collect();
    all.sort_unstable();
    all
}

/// Writes an element that left the set; with `adiff`, also whether it still exists in the data.
fn deleted(
    ctx: &mut RunContext,
    writers: &mut Writers<'_>,
    changes: &SetChanges<'_>,
    kind: ElementType,
    ordinal: Ordinal,
    id: i64,
) -> Result<(), OverpassFailure> {
    mark(ctx, &[DiffAction::Begin("delete"), DiffAction::Old])?;
    let answer = &mut ctx.answer;
    writers.older.element(kind, ordinal, id, |item| answer.element(item)).map_err(disconnected)?;
    mark(ctx, &[DiffAction::EndOld])?;
    if let Some(to) = ctx.diff.as_ref().filter(|diff| diff.augmented).map(|diff| diff.to) {
        mark(ctx, &[DiffAction::New])?;
        let still = sorted::contains(changes.unchanged.part(kind), ordinal);
        if let Some(new) = still.then(|| same(changes.older, changes.newer, kind, ordinal, id)).flatten() {
            let answer = &mut ctx.answer;
            let write = |item: &OutputItem<'_>| answer.element(&OutputItem { visible: Some(true), ..*item });
            writers.newer.bare(kind, new, id, write).map_err(disconnected)?;
        } else {
            let shown = writers.newer.shown;
            let item = OutputItem {
                type_name: kind.name(),
                id: shown.ids.then_some(id),
                visible: Some(false),
                meta: shown.meta.then(|| deletion(ctx, kind, id, to)),
                ..OutputItem::default()
            };
            ctx.answer.element(&item).map_err(disconnected)?;
        }
        mark(ctx, &[DiffAction::EndNew])?;
    }
    mark(ctx, &[DiffAction::End])
}

/// Converts an element to another state.
fn same(of: &Osm, there: &Osm, kind: ElementType, ordinal: Ordinal, id: i64) -> Option<Ordinal> {
    if std::ptr::eq(of, there) { Some(ordinal) } else { there.find(kind, id) }
}

/// Returns the metadata of an element's deletion, with zeros if it is unknown.
fn deletion<'a>(ctx: &RunContext<'a>, kind: ElementType, id: i64, until: Option<Timestamp>) -> OutputMeta<'a> {
    let Some(version) = ctx.deletion(kind, id, until) else {
        return OutputMeta { version: 0, timestamp: 0, changeset: 0, uid: 0, user: "" };
    };
    OutputMeta {
        version: version.version,
        timestamp: version.timestamp,
        changeset: version.changeset,
        uid: ctx.current.user_id(version.user),
        user: ctx.current.user_name(version.user),
    }
}

/// Writes an element that entered the set; with `adiff`, an element that already existed in the data is written as
/// modified.
fn created(
    ctx: &mut RunContext,
    writers: &mut Writers<'_>,
    changes: &SetChanges<'_>,
    kind: ElementType,
    ordinal: Ordinal,
    id: i64,
) -> Result<(), OverpassFailure> {
    let was_there = sorted::contains(changes.preexisting.part(kind), ordinal);
    let old = was_there.then(|| same(changes.newer, changes.older, kind, ordinal, id)).flatten();
    if let Some(old) = old {
        mark(ctx, &[DiffAction::Begin("modify"), DiffAction::Old])?;
        let answer = &mut ctx.answer;
        writers.older.earlier(kind, old, id, |item| answer.element(item)).map_err(disconnected)?;
        mark(ctx, &[DiffAction::EndOld, DiffAction::New])?;
    } else {
        mark(ctx, &[DiffAction::Begin("create")])?;
    }
    let answer = &mut ctx.answer;
    writers.newer.element(kind, ordinal, id, |item| answer.element(item)).map_err(disconnected)?;
    if old.is_some() {
        mark(ctx, &[DiffAction::EndNew])?;
    }
    mark(ctx, &[DiffAction::End])
}

/// Writes an element that is in the set at both moments.
fn modified(
    ctx: &mut RunContext,
    writers: &mut Writers<'_>,
    kind: ElementType,
    (old, new): (Ordinal, Ordinal),
    id: i64,
) -> Result<(), OverpassFailure> {
    mark(ctx, &[DiffAction::Begin("modify"), DiffAction::Old])?;
    let answer = &mut ctx.answer;
    writers.older.element(kind, old, id, |item| answer.element(item)).map_err(disconnected)?;
    mark(ctx, &[DiffAction::EndOld, DiffAction::New])?;
    let answer = &mut ctx.answer;
    writers.newer.element(kind, new, id, |item| answer.element(item)).map_err(disconnected)?;
    mark(ctx, &[DiffAction::EndNew, DiffAction::End])
}

fn write_derived(
    ctx: &mut RunContext,
    writer: &mut ElementWriter<'_>,
    derived: &Derived,
) -> Result<(), OverpassFailure> {
    let answer = &mut ctx.answer;
    writer.derived(derived, |item| answer.element(item)).map_err(disconnected)
}

fn mark(ctx: &mut RunContext, actions: &[DiffAction]) -> Result<(), OverpassFailure> {
    actions.iter().try_for_each(|&action| ctx.answer.action(action)).map_err(disconnected)
}
