//! Runs `foreach` and `for`: a block for every element or for every group of elements.
//!
//! After the loop, the set of the element or the group is empty. Every other set keeps its content from the last round.

use std::sync::Arc;

use super::RunContext;
use crate::quadtile;
use crate::reader::StoreReader;
use crate::set::ElementSet;
use crate::syntax::{Block, For, Foreach};
use crate::{OverpassFailure, evaluators};
use terrapin_base::deferred::Deferred;
use terrapin_budget as budget;
use terrapin_osm::ElementType;

/// Runs `foreach` in the reference's order: by type, quadtile and id.
pub fn run(ctx: &mut RunContext, Foreach { from, into, body }: &Foreach) -> Result<(), OverpassFailure> {
    let from = started_from(ctx, from, into);
    let outer = ctx.enter();
    for kind in ElementType::ALL {
        let ordered = quadtile::keyed(&mut StoreReader::new(ctx.osm), kind, from.part(kind));
        for (_, _, ordinal) in ordered {
            let mut one = ElementSet::default();
            one.part_mut(kind).push(ordinal);
            round(ctx, into, one, body)?;
        }
    }
    for area in quadtile::areas(ctx.current, &from.areas) {
        round(ctx, into, ElementSet { areas: vec![area], ..ElementSet::default() }, body)?;
    }
    for derived in &from.derived {
        round(ctx, into, ElementSet { derived: vec![Arc::clone(derived)], ..ElementSet::default() }, body)?;
    }
    ctx.leave(outer);
    ctx.assign(into, ElementSet::default());
    Ok(())
}

/// Runs `for`: one round for every value that `key` has among the elements.
pub fn run_grouped(ctx: &mut RunContext, For { from, into, key, body }: &For) -> Result<(), OverpassFailure> {
    // As in the reference, if `from` was never filled, the evaluator reads only ids, nodes and members.
    let bare = !ctx.sets.contains_key(from);
    let from = started_from(ctx, from, into);
    let outer = ctx.enter();
    // As in the reference, the evaluator sees an empty set in `into`, but with the value of an outer loop.
    let outer_value = ctx.loop_values.get(into).cloned();
    ctx.assign(into, ElementSet::default());
    ctx.loop_values.extend(outer_value.map(|value| (into.to_owned(), value)));
    let mut groups = Deferred::new(evaluators::group(ctx.environment(), key, &from, bare)?);
    groups.reverse();
    while let Some((value, group)) = groups.pop() {
        budget::work(1);
        ctx.assign(into, group);
        ctx.loop_values.insert(into.to_owned(), value);
        ctx.run_block(body)?;
    }
    ctx.leave(outer);
    ctx.assign(into, ElementSet::default());
    Ok(())
}

/// Returns the set that a loop iterates over. As in the reference, if `from` was never filled, this is `into`. But if
/// `into` was filled only outside the enclosing block (of a `retro` or of another loop), the set is empty.
fn started_from(ctx: &RunContext, from: &str, into: &str) -> Arc<ElementSet> {
    let name = if ctx.sets.contains_key(from) { from } else { into };
    if name == into && ctx.inherited.contains(name) { Arc::default() } else { ctx.set(name) }
}

fn round(ctx: &mut RunContext, into: &str, set: ElementSet, body: &Block) -> Result<(), OverpassFailure> {
    budget::work(1);
    ctx.assign(into, set);
    ctx.run_block(body)
}
