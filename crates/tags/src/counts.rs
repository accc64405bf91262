//! Element counts by type.

use std::ops::AddAssign;

use terrapin_osm::{ElementType, Osm};

/// Numbers of nodes, ways and relations, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TypeCounts(pub [u64; 3]);

/// Element types to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Which {
    /// Nodes, ways and relations.
    #[default]
    All,
    /// The elements of this type.
    Only(ElementType),
}

/// The element types in the order of their numbers.
pub const KINDS: [ElementType; 3] = [ElementType::Node, ElementType::Way, ElementType::Relation];

impl Which {
    /// Returns the element types to count.
    pub fn kinds(self) -> impl Iterator<Item = ElementType> {
        KINDS.into_iter().filter(move |kind| self == Which::All || self == Which::Only(*kind))
    }
}

impl TypeCounts {
    /// Counts all elements of a snapshot.
    pub fn elements(osm: &Osm) -> TypeCounts {
        TypeCounts(KINDS.map(|kind| osm.count(kind)))
    }

    /// Returns the sum over all types.
    pub fn all(self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the sum over the selected types.
    pub fn of(self, which: Which) -> u64 {
        match which {
            Which::All => self.all(),
            Which::Only(kind) => self.0[kind as usize],
        }
    }
}

impl AddAssign for TypeCounts {
    fn add_assign(&mut self, other: TypeCounts) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }
}

/// Returns `part / whole`, or 0 if `whole` is 0.
pub fn fraction(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
