//! Areas: the relations that the reference's rules make areas of. Being written: no relation is one yet.

mod shape;

pub use shape::Shape;

use super::Osm;
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
}

/// Makes the section and says what became of every relation that should be an area.
pub fn build(_: &Osm) -> (Vec<u8>, AreaReport) {
    (Vec::new(), AreaReport::default())
}
