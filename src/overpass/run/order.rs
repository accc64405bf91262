//! The order in which the reference goes through a set.

pub use super::quadtile::order as by_quadtile;
