//! Areas: the relations that the reference's rules make areas of. Being written: no relation is one yet.

mod shape;

pub use shape::Shape;

use std::sync::Arc;

use super::{Coord, Ordinal, Osm};
use crate::snapshot::{AreaReport, Error};

/// The areas of a snapshot.
#[derive(Default)]
pub struct Areas {}

impl Areas {
    /// From the bytes that [`build`] made.
    ///
    /// # Errors
    /// The bytes are not what it makes.
    pub fn open(_: &[u8]) -> Result<Areas, Error> {
        Ok(Areas {})
    }

    /// How many there are; areas are `0..count`.
    pub fn count(&self) -> u32 {
        0
    }

    /// The shape of an area.
    pub fn shape(&self, _: u32) -> Arc<Shape> {
        Arc::new(Shape::new([]))
    }

    /// The relation that an area is made from.
    pub fn relation(&self, _: u32) -> Option<Ordinal> {
        None
    }

    /// The area made from a relation.
    pub fn of_relation(&self, _: Ordinal) -> Option<u32> {
        None
    }

    /// The areas that a point lies in or on the border of, ascending.
    pub fn at(&self, _: Coord) -> Vec<u32> {
        Vec::new()
    }
}

/// Makes the section and says what became of every relation that should be an area.
pub fn build(_: &Osm) -> (Vec<u8>, AreaReport) {
    (Vec::new(), AreaReport::default())
}
