//! `complete`: a block again and again, until it finds nothing new.

use super::Context;
use crate::Failure;
use crate::set::Set;
use crate::syntax::Complete;

/// Runs the statement. Everything found so far is given to the block in `into`; what it leaves in `from` is added.
pub fn run(ctx: &mut Context, Complete { from, into, limit, body }: &Complete) -> Result<(), Failure> {
    // what was put into the set outside of the loop that the statement is in is given to the first round, and is found
    // only if that leaves it
    let mut given = Set::clone(&*ctx.set(from));
    let mut all = if ctx.inherited.remove(from) { Set::default() } else { given.clone() };
    let outer = ctx.enter();
    // once more than the limit says, as the reference does
    for _ in 0..=*limit {
        ctx.budget.work(1)?;
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
