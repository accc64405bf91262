//! x
use crate::osm::{ElementType, Ordinal};
use crate::overpass::Failure;
use crate::overpass::plan::Region;
use crate::overpass::run::Context;
use crate::overpass::set::Set;
use crate::overpass::syntax::{FilterKind, Point};
use std::sync::Arc;
pub fn of_polygon(_: &[Point]) -> Result<Arc<dyn Region>, Failure> {
    Err(crate::overpass::run::check::unsupported("around", 0, None).into())
}
pub fn of_set(_: &Context, _: &Set) -> Result<Arc<dyn Region>, Failure> {
    Err(crate::overpass::run::check::unsupported("around", 0, None).into())
}
pub fn of_id(_: &Context, _: i64) -> Result<Arc<dyn Region>, Failure> {
    Err(crate::overpass::run::check::unsupported("around", 0, None).into())
}
pub fn pivots(_: &Context, _: ElementType, _: &Set) -> Vec<Ordinal> {
    Vec::new()
}
pub fn select(_: &Context, _: &[&FilterKind], _: &[Arc<dyn Region>], _: &mut Set) -> Result<(), Failure> {
    Err(crate::overpass::run::check::unsupported("around", 0, None).into())
}
