//! The list of relations that are areas, and their boxes: a column and boxes. Borders are assembled from the relations'
//! ways when an area is first used. Therefore a planet's areas, more than a million, take only about 20 MB.

use crate::{BoundingBox, Ordinal, layout};
use terrapin_snapshot::{BoxesWriter, ColumnWriter, Error, SnapshotWriter};

/// A row of the table of areas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AreaEntry {
    /// The relation with the border.
    pub relation: Ordinal,
    /// The box around the border.
    pub bbox: BoundingBox,
}

/// Writes the sections of these areas, which ascend.
pub(crate) fn write(writer: &mut SnapshotWriter, entries: &[AreaEntry]) -> Result<(), Error> {
    ColumnWriter::write(writer, layout::AREAS, entries.iter().map(|entry| entry.relation))?;
    BoxesWriter::write(writer, layout::AREA_BOXES, entries.iter().map(|entry| entry.bbox.corners()))
}
