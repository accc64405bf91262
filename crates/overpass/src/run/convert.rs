//! `convert`: a new element from each element of a set.

use super::Context;
use crate::Failure;
use crate::evaluators;
use crate::set::Set;
use crate::syntax::Property;

/// Runs the statement.
pub fn run(ctx: &mut Context, from: &str, into: &str, type_name: &str, properties: &[Property]) -> Result<(), Failure> {
    let from = ctx.set(from);
    let derived = evaluators::convert(ctx, &from, type_name, properties)?;
    ctx.assign(into, Set { derived, ..Set::default() });
    Ok(())
}
