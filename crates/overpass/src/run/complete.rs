//! Runs `complete`: repeats a block until it finds no new elements.

use super::RunContext;
use crate::OverpassFailure;
use crate::set::ElementSet;
use crate::syntax::Complete;
use terrapin_budget as budget;

/// Runs the statement. Each round gets all elements found so far in `into`. The elements that it leaves in `from` are
/// added to them.
pub fn run(ctx: &mut RunContext, Complete { from, into, limit, body }: &Complete) -> Result<(), OverpassFailure> {
    // If the set was filled outside of the loop that contains the statement, the first round gets its elements. They
    // are part of the result only if a round leaves them in `from`.
    let mut given = ElementSet::clone(&*ctx.set(from));
    let mut all = if ctx.inherited.remove(from) { ElementSet::default() } else { given.clone() };
    let outer = ctx.enter();
    // As in the reference, the loop runs once more than the limit.
    for _ in 0..=*limit {
        budget::work(1);
        ctx.assign(into, given);
        ctx.run_block(body)?;
        let known = all.len();
        all.add(&ctx.set(from));
        if all.len() == known {
            break;
        }
        given = all.clone();
    }
    ctx.leave(outer);
    ctx.assign(into, all);
    Ok(())
}
