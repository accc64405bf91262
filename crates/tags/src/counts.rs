//! How many elements have something, by type.

use std::ops::AddAssign;

use terrapin_osm::{ElementType, Osm};

/// How many nodes, ways and relations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts(pub [u64; 3]);

/// Which elements are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Which {
    /// All of them.
    #[default]
    All,
    /// Those of one type.
    Only(ElementType),
}

/// The types of elements in the order of their numbers.
pub const KINDS: [ElementType; 3] = [ElementType::Node, ElementType::Way, ElementType::Relation];

impl Which {
    /// The types that are counted.
    pub fn kinds(self) -> impl Iterator<Item = ElementType> {
        KINDS.into_iter().filter(move |kind| self == Which::All || self == Which::Only(*kind))
    }
}

impl Counts {
    /// All elements of a snapshot.
    pub fn elements(osm: &Osm) -> Counts {
        Counts(KINDS.map(|kind| osm.count(kind)))
    }

    /// Nodes, ways and relations together.
    pub fn all(self) -> u64 {
        self.0.iter().sum()
    }

    /// Those that are counted.
    pub fn of(self, which: Which) -> u64 {
        match which {
            Which::All => self.all(),
            Which::Only(kind) => self.0[kind as usize],
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }
}

/// `part` of `whole` as a number between 0 and 1; 0 of nothing.
pub fn fraction(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
