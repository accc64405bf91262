//! Runs `compare`, which finds how a set differs between the two moments of a query.
//!
//! In a query with one moment, and inside its own block, the result is empty.

use std::sync::Arc;

use super::diff::{self, DiffPhase, SetChanges};
use super::{RunContext, moment};
use crate::set::ElementSet;
use crate::sorted;
use crate::syntax::{Block, Compare, EvaluatorExpression, Timestamp};
use crate::{OverpassFailure, evaluators};
use terrapin_osm::{ElementType, Ordinal};

/// Runs the statement at position `place` of the text. The result goes into `into`, where only `out` can read it.
pub fn run(ctx: &mut RunContext, compare: &Compare, place: usize) -> Result<(), OverpassFailure> {
    let Compare { from, into, delta, body } = compare;
    let given = ctx.sets.contains_key(from);
    if ctx.diff.is_none() && !given {
        return Ok(());
    }
    let set = ctx.shown(from);
    ctx.assign(into, ElementSet::default());
    let Some(diff) = &mut ctx.diff else { return Ok(()) };
    let (earlier, later) = (diff.from, diff.to);
    match diff.phase {
        DiffPhase::Older => {
            if given {
                diff.keep(place, set);
            }
            return Ok(());
        }
        DiffPhase::Initial | DiffPhase::Final => return Ok(()),
        DiffPhase::Newer => {}
    }
    ctx.sets.remove(into);
    let Some(older) = ctx.diff.as_ref().and_then(|diff| diff.recorded(place)).filter(|_| given) else { return Ok(()) };
    let mut changes = diff::changes(ctx, older, set);
    if let Some(delta) = delta {
        changes.removed = with_value(ctx, Some(earlier), delta, &changes.removed)?;
        changes.added = with_value(ctx, later, delta, &changes.added)?;
        changes.preexisting = with_value(ctx, later, delta, &changes.preexisting)?;
        other_value(ctx, (earlier, later), delta, &mut changes)?;
    }
    if !body.is_empty() {
        let bare = Arc::new(moment::carried(&changes.preexisting, changes.newer, changes.older));
        let mut initial = elements(&changes.removed);
        initial.add(&bare);
        initial.add(&changes.modified(true));
        let mut last = elements(&changes.added);
        last.add(&changes.modified(false));
        run_block(ctx, (DiffPhase::Initial, Some(earlier)), (into, initial), bare, body)?;
        run_block(ctx, (DiffPhase::Final, later), (into, last), Arc::default(), body)?;
    }
    if let Some(diff) = &mut ctx.diff {
        diff.leave(into, Arc::new(changes));
    }
    Ok(())
}

/// Runs the block over one side. Its changes to sets do not leave the block.
fn run_block(
    ctx: &mut RunContext,
    (phase, moment): (DiffPhase, Option<Timestamp>),
    (into, set): (&str, ElementSet),
    bare: Arc<ElementSet>,
    body: &Block,
) -> Result<(), OverpassFailure> {
    let outside = (ctx.sets.clone(), ctx.loop_values.clone(), ctx.outside.clone());
    let osm = ctx.osm;
    let now = ctx.look_at(moment)?;
    ctx.carry(osm);
    if let Some(diff) = &mut ctx.diff {
        (diff.phase, diff.bare) = (phase, bare);
    }
    ctx.assign(into, set);
    let done = ctx.run_block(body);
    if let Some(diff) = &mut ctx.diff {
        (diff.phase, diff.bare) = (DiffPhase::Newer, Arc::default());
    }
    ctx.look_at(now)?;
    (ctx.sets, ctx.loop_values, ctx.outside) = outside;
    done
}

/// Returns the set without areas and derived elements.
fn elements(set: &ElementSet) -> ElementSet {
    ElementSet { derived: Vec::new(), areas: Vec::new(), ..set.clone() }
}

/// Returns the elements of a set for which the evaluator is non-empty at a moment. Ignores areas and derived elements.
fn with_value(
    ctx: &mut RunContext,
    moment: Option<Timestamp>,
    delta: &EvaluatorExpression,
    set: &ElementSet,
) -> Result<ElementSet, OverpassFailure> {
    let mut found = ElementSet::default();
    for (_, group) in values(ctx, moment, delta, set)?.into_iter().filter(|(value, _)| !value.is_empty()) {
        found.add(&group);
    }
    Ok(found)
}

/// Groups the elements of a set by the evaluator's value at a moment.
fn values(
    ctx: &mut RunContext,
    moment: Option<Timestamp>,
    delta: &EvaluatorExpression,
    set: &ElementSet,
) -> Result<Vec<(String, ElementSet)>, OverpassFailure> {
    let now = ctx.look_at(moment)?;
    let groups = evaluators::group(ctx.environment(), delta, &elements(set), false);
    ctx.look_at(now)?;
    groups
}

/// Keeps only those elements of `changes.modified` for which the evaluator's value differs between the two moments.
fn other_value(
    ctx: &mut RunContext,
    (earlier, later): (Timestamp, Option<Timestamp>),
    delta: &EvaluatorExpression,
    changes: &mut SetChanges<'_>,
) -> Result<(), OverpassFailure> {
    let older = values(ctx, Some(earlier), delta, &changes.modified(true))?;
    let newer = values(ctx, later, delta, &changes.modified(false))?;
    let value = |groups: &[(String, ElementSet)], kind: ElementType, ordinal: Ordinal| -> Option<usize> {
        groups.iter().position(|(_, group)| sorted::contains(group.part(kind), ordinal))
    };
    for kind in ElementType::ALL {
        changes.modified[kind as usize].retain(|&(old, new)| {
            let (old, new) = (value(&older, kind, old), value(&newer, kind, new));
            old.map(|at| &older[at].0) != new.map(|at| &newer[at].0)
        });
    }
    Ok(())
}
