//! `complete`: a block again and again, until it finds nothing new.

use super::Context;
use crate::Failure;
use crate::set::Set;
use crate::syntax::Complete;

/// Runs the statement. Everything found so far is given to the block in `into`; what it leaves in `from` is added.
pub fn run(ctx: &mut Context, Complete { from, into, limit, body }: &Complete) -> Result<(), Failure> {
    // what was put into the set outside of the loop that the statement is in counts as new in the first round
    let mut known = if ctx.inherited.remove(from) { 0 } else { ctx.set(from).len() };
    let mut all = Set::clone(&*ctx.set(from));
    let outer = ctx.enter();
    // once more than the limit says, as the reference does
    for _ in 0..=*limit {
        ctx.budget.work(1)?;
        ctx.assign(into, all.clone());
        ctx.run_block(body)?;
        all.add(&ctx.set(from));
        if all.len() == known {
            break;
        }
        known = all.len();
    }
    ctx.leave(outer);
    ctx.assign(into, all);
    Ok(())
}
