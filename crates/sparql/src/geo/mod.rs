//! The functions of GeoSPARQL 1.1 (OGC 22-047r1) on WKT and GeoJSON literals: the simple-feature, Egenhofer and RCC8
//! relations, measures, functions that make geometries, and aggregates. Pure functions from terms to a term: nothing here knows
//! queries or snapshots. The geometry is `geo`'s; what is ours is the reading of literals, axes, and metres.
//!
//! A function that is given something it cannot use (no geometry, two reference systems, an unknown unit) gives nothing,
//! which SPARQL takes as an error of the expression.

mod aggregates;
mod arrangement;
mod constructions;
mod effort;
mod geometry;
mod measures;
mod overlay;
mod relations;
mod units;

use oxrdf::Term;

use terrapin_budget as budget;

pub(crate) use aggregates::Aggregate;
pub(crate) use effort::of_pairs;
pub use geometry::{Crs, Format, Located};
pub(crate) use measures::{metres, square_metres};
pub use relations::Spatial;
pub(crate) use units::Unit;

/// The namespace of the functions.
pub const NAMESPACE: &str = "http://www.opengis.net/def/function/geosparql/";

/// A function on terms. Nothing for an error.
pub type Function = fn(&[Term]) -> Option<Term>;

/// The functions by their names in their [namespace](NAMESPACE), in alphabetical order
/// within each kind.
pub fn functions() -> impl Iterator<Item = (&'static str, Function)> {
    [relations::FUNCTIONS, measures::FUNCTIONS, constructions::FUNCTIONS].into_iter().flatten().copied()
}

/// What a call counts for in a query's budget besides its geometry: reading and writing literals.
const STEPS: usize = 256;

/// Calls a function. Geometry that its library gives up on is an error of the expression, not the end of the query.
pub fn call(function: Function, arguments: &[Term]) -> Option<Term> {
    budget::checkpoints(STEPS);
    budget::tolerant(|| function(arguments)).flatten()
}
