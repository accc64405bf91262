//! `if (condition) { ... } else { ... }`.

use super::Context;
use crate::syntax::{Block, Expr};
use crate::{Failure, evaluators};

/// Runs the statement.
pub fn run(ctx: &mut Context, condition: &Expr, then: &Block, otherwise: &Block) -> Result<(), Failure> {
    let block = if evaluators::condition(ctx.environment(), condition)? { then } else { otherwise };
    ctx.run_block(block)
}
