//! What `out` writes in a query with two moments: an action for each element that is in the set at one of them only.
//! The order is by type and id; limits do not count.

use super::writer::{Scratch, Writer, WrittenParts};
use crate::output::{Action, Meta, OutputItem, Projection, disconnected};
use crate::run::Context;
use crate::run::diff::{self, Changes, Phase};
use crate::set::{Derived, Set};
use crate::syntax::Out;
use crate::{Failure, reader::Reader, sorted};
use terrapin_osm::{ElementType, Ordinal};

/// Runs the `out` that stands at `place` at the older or the newer moment.
pub(super) fn run(ctx: &mut Context, out: &Out, place: usize) -> Result<(), Failure> {
    // As in the reference, a set that has not been given yet is not an empty one.
    let given = ctx.sets.contains_key(&out.from);
    let set = ctx.set(&out.from);
    let Some(state) = &mut ctx.diff else { return Ok(()) };
    if state.phase == Phase::Older {
        return if !given || state.keep(place, set) { Ok(()) } else { Err(diff::in_a_loop()) };
    }
    if let Some(changes) = state.found(&out.from) {
        return write(ctx, out, &changes);
    }
    let Some(older) = state.recorded(place).filter(|_| given) else { return Ok(()) };
    let changes = diff::changes(ctx, &older, &set)?;
    write(ctx, out, &changes)
}

fn write(ctx: &mut Context, out: &Out, changes: &Changes) -> Result<(), Failure> {
    let shown = WrittenParts::of(out, Projection::ALL).differing();
    let mut writer = Writer { reader: Reader::new(ctx.osm), shown, scratch: Scratch::default() };
    for kind in ElementType::ALL {
        let ids = |set: &Set, removed: bool| -> Vec<(i64, Ordinal, bool)> {
            let ids = ctx.osm.ids(kind, set.part(kind));
            ids.into_iter().zip(set.part(kind)).map(|(id, &ordinal)| (id, ordinal, removed)).collect()
        };
        let mut all = ids(&changes.removed, true);
        all.extend(ids(&changes.added, false));
        all.sort_unstable();
        for (step, &(id, ordinal, is_gone)) in all.iter().enumerate() {
            if step.is_multiple_of(super::STEP) {
                ctx.budget.check()?;
            }
            if is_gone {
                deleted(ctx, &mut writer, changes, kind, ordinal, id)?;
            } else {
                created(ctx, &mut writer, changes, kind, ordinal, id)?;
            }
        }
    }
    for derived in &changes.removed.derived {
        mark(ctx, &[Action::Begin("delete"), Action::Old])?;
        write_derived(ctx, &mut writer, derived)?;
        mark(ctx, &[Action::EndOld, Action::End])?;
    }
    for derived in &changes.added.derived {
        mark(ctx, &[Action::Begin("create")])?;
        write_derived(ctx, &mut writer, derived)?;
        mark(ctx, &[Action::End])?;
    }
    Ok(())
}

/// An element that is in the set no more; with `adiff`, also whether it is still in the data.
fn deleted(
    ctx: &mut Context,
    writer: &mut Writer<'_>,
    changes: &Changes,
    kind: ElementType,
    ordinal: Ordinal,
    id: i64,
) -> Result<(), Failure> {
    mark(ctx, &[Action::Begin("delete"), Action::Old])?;
    let answer = &mut ctx.answer;
    writer.element(kind, ordinal, id, |item| answer.element(item)).map_err(disconnected)?;
    mark(ctx, &[Action::EndOld])?;
    if ctx.diff.as_ref().is_some_and(|diff| diff.augmented) {
        mark(ctx, &[Action::New])?;
        let still = sorted::contains(changes.unchanged.part(kind), ordinal);
        let answer = &mut ctx.answer;
        if still {
            let write = |item: &OutputItem<'_>| answer.element(&OutputItem { visible: Some(true), ..*item });
            writer.bare(kind, ordinal, id, write).map_err(disconnected)?;
        } else {
            let meta = Meta { version: 0, timestamp: 0, changeset: 0, uid: 0, user: "" };
            let item = OutputItem {
                type_name: kind.name(),
                id: writer.shown.ids.then_some(id),
                visible: Some(false),
                meta: writer.shown.meta.then_some(meta),
                ..OutputItem::default()
            };
            answer.element(&item).map_err(disconnected)?;
        }
        mark(ctx, &[Action::EndNew])?;
    }
    mark(ctx, &[Action::End])
}

/// An element that was not in the set; with `adiff`, one that was in the data already is modified.
fn created(
    ctx: &mut Context,
    writer: &mut Writer<'_>,
    changes: &Changes,
    kind: ElementType,
    ordinal: Ordinal,
    id: i64,
) -> Result<(), Failure> {
    let modified = sorted::contains(changes.preexisting.part(kind), ordinal);
    if modified {
        mark(ctx, &[Action::Begin("modify"), Action::Old])?;
        let answer = &mut ctx.answer;
        writer.bare(kind, ordinal, id, |item| answer.element(item)).map_err(disconnected)?;
        mark(ctx, &[Action::EndOld, Action::New])?;
    } else {
        mark(ctx, &[Action::Begin("create")])?;
    }
    let answer = &mut ctx.answer;
    writer.element(kind, ordinal, id, |item| answer.element(item)).map_err(disconnected)?;
    if modified {
        mark(ctx, &[Action::EndNew])?;
    }
    mark(ctx, &[Action::End])
}

fn write_derived(ctx: &mut Context, writer: &mut Writer<'_>, derived: &Derived) -> Result<(), Failure> {
    let answer = &mut ctx.answer;
    writer.derived(derived, |item| answer.element(item)).map_err(disconnected)
}

fn mark(ctx: &mut Context, actions: &[Action]) -> Result<(), Failure> {
    actions.iter().try_for_each(|&action| ctx.answer.action(action)).map_err(disconnected)
}
