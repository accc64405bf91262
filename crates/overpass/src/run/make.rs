//! Runs `make`: creates one derived element from a whole set.

use super::RunContext;
use crate::OverpassFailure;
use crate::evaluators;
use crate::set::ElementSet;
use crate::syntax::Make;

/// Runs the statement. For the evaluators, `_` is the set that the statement starts from.
pub fn run(ctx: &mut RunContext, Make { into, type_name, properties, .. }: &Make) -> Result<(), OverpassFailure> {
    let mut last_id = ctx.last_derived_id;
    let derived = evaluators::make(ctx.environment(), type_name, properties, &mut last_id)?;
    ctx.last_derived_id = last_id;
    ctx.assign(into, ElementSet { derived: vec![derived], ..ElementSet::default() });
    Ok(())
}
