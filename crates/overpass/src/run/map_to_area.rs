//! Runs `map_to_area`: replaces elements by the areas made from them.

use super::RunContext;
use super::filters::area;
use crate::set::ElementSet;
use crate::syntax::MapToArea;

/// Runs the statement.
pub fn run(ctx: &mut RunContext, MapToArea { from, into }: &MapToArea) {
    let from = ctx.set(from);
    let areas = ctx.areas_made_of(&from.relations);
    let ways = area::closed(ctx, &from.ways);
    ctx.assign(into, ElementSet { areas, ways, ..ElementSet::default() });
}
