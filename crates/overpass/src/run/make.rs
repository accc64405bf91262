//! Runs `make`: creates one derived element from a whole set.

use super::Context;
use crate::Failure;
use crate::evaluators;
use crate::set::Set;
use crate::syntax::Make;

/// Runs the statement. For the evaluators, `_` is the set that the statement starts from.
pub fn run(ctx: &mut Context, Make { into, type_name, properties, .. }: &Make) -> Result<(), Failure> {
    let mut last_id = ctx.last_derived_id;
    let derived = evaluators::make(ctx.environment(), type_name, properties, &mut last_id)?;
    ctx.last_derived_id = last_id;
    ctx.assign(into, Set { derived: vec![derived], ..Set::default() });
    Ok(())
}
