//! `( ...; ...; )` and `( ...; - ...; )`.

use std::sync::Arc;

use super::Context;
use crate::Failure;
use crate::set::Set;
use crate::syntax::{Difference, Item, SetName, Statement, StatementKind, Union};

/// The set that a statement leaves its result in; `None` for statements that have none.
fn target(statement: &Statement) -> Option<&SetName> {
    match &statement.kind {
        // An item gives its set, whatever it is named into.
        StatementKind::Item(Item { from, .. }) => Some(from),
        kind => kind.result_set(),
    }
}

/// Runs a statement and gives its result.
fn result(ctx: &mut Context, statement: &Statement) -> Result<Arc<Set>, Failure> {
    ctx.run_statement(statement)?;
    Ok(target(statement).map(|name| ctx.set(name)).unwrap_or_default())
}

/// Runs a union. As in a loop, what sets held before is new to a `complete` in it, except for the union's own set.
pub fn run(ctx: &mut Context, Union { members, into }: &Union) -> Result<(), Failure> {
    let mut all = Set::default();
    let outer = ctx.enter();
    ctx.inherited.remove(into);
    for member in members {
        let part = result(ctx, member)?;
        all.add(&part);
        ctx.budget.memory(all.bytes())?;
    }
    ctx.leave(outer);
    ctx.assign(into, all);
    Ok(())
}

/// Runs a difference, in which what any set held before is new to a `complete`.
pub fn difference(ctx: &mut Context, Difference { operands, into }: &Difference) -> Result<(), Failure> {
    // of nothing, it does nothing
    let [base, rest @ ..] = operands.as_slice() else { return Ok(()) };
    let outer = ctx.enter();
    let mut set = Set::clone(&*result(ctx, base)?);
    // what is taken away can refer to what it is taken away from, as in the reference
    ctx.assign(into, set.clone());
    for minus in rest {
        let minus = result(ctx, minus)?;
        set.subtract(&minus);
    }
    ctx.leave(outer);
    ctx.assign(into, set);
    Ok(())
}
