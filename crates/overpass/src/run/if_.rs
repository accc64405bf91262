//! `if (condition) { ... } else { ... }`.

use super::RunContext;
use crate::syntax::If;
use crate::{OverpassFailure, evaluators};

/// Runs the statement.
pub fn run(ctx: &mut RunContext, If { condition, then, otherwise }: &If) -> Result<(), OverpassFailure> {
    let block = if evaluators::condition(ctx.environment(), condition)? { then } else { otherwise };
    ctx.run_block(block)
}
