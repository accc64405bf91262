//! The functions of GeoSPARQL 1.1 (OGC 22-047r1) on WKT, GML and GeoJSON literals: the simple-feature, Egenhofer and RCC8
//! relations, measures, constructors and aggregates. They are pure functions from terms to a term and do not know
//! queries or snapshots. The crate `geo` provides most of the geometry; this module adds literals, axis orders,
//! overlays and metres.
//!
//! A function returns `None` for invalid arguments: not a geometry, two reference systems, an unknown unit. In SPARQL,
//! this is an error of the expression.

mod aggregates;
mod arrangement;
mod constructions;
mod effort;
mod geometry;
mod gml;
mod measures;
mod overlay;
mod relations;
mod units;

use oxrdf::Term;

use terrapin_budget as budget;

pub(crate) use aggregates::GeometryAggregate;
pub(crate) use effort::of_pairs;
pub use geometry::{Crs, GeometryFormat, LocatedGeometry};
pub use gml::GmlNamespace;
pub(crate) use measures::{metres, square_metres};
pub use relations::Spatial;
pub(crate) use relations::{TopologicalRelation, topological_properties};
pub(crate) use units::Unit;

/// The namespace of the functions.
pub const NAMESPACE: &str = "http://www.opengis.net/def/function/geosparql/";

/// A function on terms; `None` is an error.
pub type Function = fn(&[Term]) -> Option<Term>;

/// Returns the functions with their names in their [namespace](NAMESPACE), in alphabetical order within each kind.
pub fn functions() -> impl Iterator<Item = (&'static str, Function)> {
    [relations::FUNCTIONS, measures::FUNCTIONS, constructions::FUNCTIONS].into_iter().flatten().copied()
}

/// Budget steps for reading and writing the literals of a call, in addition to those of its geometry.
const STEPS: usize = 256;

/// Calls a function. If the geometry library panics, that is an error of the expression and does not end the query.
pub fn call(function: Function, arguments: &[Term]) -> Option<Term> {
    budget::checkpoints(STEPS);
    budget::tolerant(|| function(arguments)).flatten()
}
