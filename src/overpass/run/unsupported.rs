//! x
use super::Context;
use crate::overpass::Failure;
use crate::overpass::set::Set;
use crate::overpass::syntax::Expr;
fn no(expr: &Expr) -> Failure {
    super::check::unsupported("This evaluator", 0, Some(expr.span)).into()
}
pub fn filter(_: &Context, expr: &Expr, _: &Set) -> Result<Set, Failure> {
    Err(no(expr))
}
pub fn condition(_: &Context, expr: &Expr) -> Result<bool, Failure> {
    Err(no(expr))
}
pub fn group(_: &Context, expr: &Expr, _: &Set) -> Result<Vec<(String, Set)>, Failure> {
    Err(no(expr))
}
