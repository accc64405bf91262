//! The order in which the reference goes through a set.

use crate::osm::{ElementType, Ordinal, Osm};

/// The elements by quadtile, then by id.
pub fn by_quadtile(_osm: &Osm, _kind: ElementType, list: &[Ordinal]) -> Vec<Ordinal> {
    list.to_vec()
}
