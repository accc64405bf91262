//! `foreach` and `for`: a block for every element or for every group of elements.
//!
//! After the loop the set that held the element or the group is empty; every other set is as the last round left it.

use std::sync::Arc;

use super::{Context, quadtile};
use crate::osm::ElementType;
use crate::overpass::reader::Reader;
use crate::overpass::set::Set;
use crate::overpass::syntax::{Block, Expr};
use crate::overpass::{Failure, evaluators};

/// Runs `foreach`: in the reference's order, that is by type, quadtile and id.
pub fn run(ctx: &mut Context, from: &str, into: &str, body: &Block) -> Result<(), Failure> {
    let from = ctx.set(from);
    for kind in ElementType::ALL {
        let ordered = quadtile::keyed(&mut Reader::new(ctx.osm), kind, from.part(kind));
        for (_, _, ordinal) in ordered {
            let mut one = Set::default();
            one.part_mut(kind).push(ordinal);
            round(ctx, into, one, body)?;
        }
    }
    for &area in &from.areas {
        round(ctx, into, Set { areas: vec![area], ..Set::default() }, body)?;
    }
    for derived in &from.derived {
        round(ctx, into, Set { derived: vec![Arc::clone(derived)], ..Set::default() }, body)?;
    }
    ctx.assign(into, Set::default());
    Ok(())
}

/// Runs `for`: a round for every value that `key` has among the elements.
pub fn run_grouped(ctx: &mut Context, from: &str, into: &str, key: &Expr, body: &Block) -> Result<(), Failure> {
    let from = ctx.set(from);
    for (value, group) in evaluators::group(ctx, key, &from)? {
        ctx.budget.work(1)?;
        ctx.assign(into, group);
        ctx.loop_values.insert(into.to_owned(), value);
        ctx.run_block(body)?;
    }
    ctx.assign(into, Set::default());
    Ok(())
}

fn round(ctx: &mut Context, into: &str, set: Set, body: &Block) -> Result<(), Failure> {
    ctx.budget.work(1)?;
    ctx.assign(into, set);
    ctx.run_block(body)
}
