//! x
use crate::overpass::Failure;
use crate::overpass::plan::Region;
use crate::overpass::run::Context;
use crate::overpass::set::Set;
use crate::overpass::syntax::Point;
use std::sync::Arc;
pub fn of_set(_: &Context, _: &Set, _: f64) -> Result<Arc<dyn Region>, Failure> {
    Err(crate::overpass::run::check::unsupported("around", 0, None).into())
}
pub fn of_points(_: &[Point], _: f64) -> Result<Arc<dyn Region>, Failure> {
    Err(crate::overpass::run::check::unsupported("around", 0, None).into())
}
