//! Runs `convert`: makes a derived element from each element of a set.

use super::RunContext;
use crate::OverpassFailure;
use crate::evaluators;
use crate::set::ElementSet;
use crate::syntax::Convert;

/// Runs the statement.
pub fn run(ctx: &mut RunContext, convert: &Convert) -> Result<(), OverpassFailure> {
    let Convert { from, into, type_name, properties } = convert;
    let from = ctx.set(from);
    let mut last_id = ctx.last_derived_id;
    let derived = evaluators::convert(ctx.environment(), &from, type_name, properties, &mut last_id)?;
    ctx.last_derived_id = last_id;
    ctx.assign(into, ElementSet { derived, ..ElementSet::default() });
    Ok(())
}
