//! `if (condition) { ... } else { ... }`.

use super::Context;
use crate::syntax::If;
use crate::{Failure, evaluators};

/// Runs the statement.
pub fn run(ctx: &mut Context, If { condition, then, otherwise }: &If) -> Result<(), Failure> {
    let block = if evaluators::condition(ctx.environment(), condition)? { then } else { otherwise };
    ctx.run_block(block)
}
