//! Runs unions, `( ...; ...; )`, and differences, `( ...; - ...; )`.

use std::sync::Arc;

use super::RunContext;
use crate::OverpassFailure;
use crate::set::ElementSet;
use crate::syntax::{Difference, Item, SetName, Statement, StatementKind, Union};
use terrapin_budget as budget;

/// Returns the result set of a statement; `None` for statements without one.
fn target(statement: &Statement) -> Option<&SetName> {
    match &statement.kind {
        // The result of an item is the set that it reads, not the one it writes to.
        StatementKind::Item(Item { from, .. }) => Some(from),
        kind => kind.result_set(),
    }
}

/// Runs a statement and returns its result.
fn result(ctx: &mut RunContext, statement: &Statement) -> Result<Arc<ElementSet>, OverpassFailure> {
    ctx.run_statement(statement)?;
    Ok(target(statement).map(|name| ctx.set(name)).unwrap_or_default())
}

/// Runs a union. As in a loop, a `complete` inside it treats the earlier contents of sets as new elements. The union's
/// own result set is the exception.
pub fn run(ctx: &mut RunContext, Union { members, into }: &Union) -> Result<(), OverpassFailure> {
    let mut all = ElementSet::default();
    let outer = ctx.enter();
    ctx.inherited.remove(into);
    for member in members {
        let part = result(ctx, member)?;
        all.add(&part);
        budget::ensure_memory(all.bytes());
    }
    ctx.leave(outer);
    ctx.assign(into, all);
    Ok(())
}

/// Runs a difference. A `complete` inside it treats the earlier contents of all sets as new elements.
pub fn difference(ctx: &mut RunContext, Difference { operands, into }: &Difference) -> Result<(), OverpassFailure> {
    // A difference without operands has no effect.
    let [base, rest @ ..] = operands.as_slice() else { return Ok(()) };
    let outer = ctx.enter();
    let mut set = ElementSet::clone(&*result(ctx, base)?);
    // As in the reference, the subtracted statements can read the base set.
    ctx.assign(into, set.clone());
    for minus in rest {
        let minus = result(ctx, minus)?;
        set.subtract(&minus);
    }
    ctx.leave(outer);
    ctx.assign(into, set);
    Ok(())
}
