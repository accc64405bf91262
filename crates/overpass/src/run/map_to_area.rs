//! Runs `map_to_area`: replaces elements by the areas made from them.

use super::Context;
use super::filters::area;
use crate::Failure;
use crate::set::Set;
use crate::syntax::MapToArea;

/// Runs the statement.
pub fn run(ctx: &mut Context, MapToArea { from, into }: &MapToArea) -> Result<(), Failure> {
    let from = ctx.set(from);
    let areas = ctx.areas_made_of(&from.relations);
    let ways = area::closed(ctx, &from.ways)?;
    ctx.assign(into, Set { areas, ways, ..Set::default() });
    Ok(())
}
