//! `foreach` and `for`: a block for every element or for every group of elements.
//!
//! After the loop the set that held the element or the group is empty; every other set is as the last round left it.

use std::sync::Arc;

use super::Context;
use crate::quadtile;
use crate::reader::Reader;
use crate::set::Set;
use crate::syntax::{Block, For, Foreach};
use crate::{Failure, evaluators};
use terrapin_base::deferred::Deferred;
use terrapin_osm::ElementType;

/// Runs `foreach`: in the reference's order, that is by type, quadtile and id.
pub fn run(ctx: &mut Context, Foreach { from, into, body }: &Foreach) -> Result<(), Failure> {
    let from = started_from(ctx, from, into);
    let outer = ctx.enter();
    for kind in ElementType::ALL {
        let ordered = quadtile::keyed(&mut Reader::new(ctx.osm), kind, from.part(kind));
        for (_, _, ordinal) in ordered {
            let mut one = Set::default();
            one.part_mut(kind).push(ordinal);
            round(ctx, into, one, body)?;
        }
    }
    for area in quadtile::areas(ctx.current, &from.areas) {
        round(ctx, into, Set { areas: vec![area], ..Set::default() }, body)?;
    }
    for derived in &from.derived {
        round(ctx, into, Set { derived: vec![Arc::clone(derived)], ..Set::default() }, body)?;
    }
    ctx.leave(outer);
    ctx.assign(into, Set::default());
    Ok(())
}

/// Runs `for`: a round for every value that `key` has among the elements.
pub fn run_grouped(ctx: &mut Context, For { from, into, key, body }: &For) -> Result<(), Failure> {
    // As in the reference, if nothing has been put into `from`, only ids, nodes and members are read of the elements.
    let bare = !ctx.sets.contains_key(from);
    let from = started_from(ctx, from, into);
    let outer = ctx.enter();
    // As in the reference, the evaluator finds nothing in the set that the rounds get their elements in, yet the value
    // that it has in an outer loop.
    let outer_value = ctx.loop_values.get(into).cloned();
    ctx.assign(into, Set::default());
    ctx.loop_values.extend(outer_value.map(|value| (into.to_owned(), value)));
    let mut groups = Deferred::new(evaluators::group(ctx.environment(), key, &from, bare)?);
    groups.reverse();
    while let Some((value, group)) = groups.pop() {
        ctx.budget.work(1)?;
        ctx.assign(into, group);
        ctx.loop_values.insert(into.to_owned(), value);
        ctx.run_block(body)?;
    }
    ctx.leave(outer);
    ctx.assign(into, Set::default());
    Ok(())
}

/// The set that a loop runs over. As in the reference, where nothing has been put into `from`, it is the one that the
/// rounds get their elements in; and that one is empty where only a statement outside of the block that the loop is in
/// (of a `retro` or of another loop) has filled it.
fn started_from(ctx: &Context, from: &str, into: &str) -> Arc<Set> {
    let name = if ctx.sets.contains_key(from) { from } else { into };
    if name == into && ctx.inherited.contains(name) { Arc::default() } else { ctx.set(name) }
}

fn round(ctx: &mut Context, into: &str, set: Set, body: &Block) -> Result<(), Failure> {
    ctx.budget.work(1)?;
    ctx.assign(into, set);
    ctx.run_block(body)
}
