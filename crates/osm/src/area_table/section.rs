//! Which relations are areas, and their boxes: a column and boxes. Borders are put together from the relations' ways
//! when an area is first asked for, so a planet's areas, more than a million, are some 20 MB.
//!
//! Files of format 1 have one section `areas` instead, which is decoded as a whole:
//!
//! ```text
//! count                                  areas, ascending by relation
//! then for every area, as variable-length integers:
//!   relation   unsigned, less the previous one's (0 before the first)
//!   south      signed, less the previous one's
//!   west       signed, less the previous one's
//!   height     unsigned, north less south
//!   width      unsigned, east less west
//! ```
//! An area across the antimeridian has a box from -180 to 180 degrees.

use crate::codec::Reader;
use crate::{BoundingBox, Ordinal, layout};
use terrapin_snapshot::{BoxesWriter, ColumnWriter, Error, Writer};

/// One area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub relation: Ordinal,
    pub bbox: BoundingBox,
}

/// Writes the sections of these areas, which ascend.
pub(crate) fn write(writer: &mut Writer, entries: &[Entry]) -> Result<(), Error> {
    ColumnWriter::write(writer, layout::AREAS, entries.iter().map(|entry| entry.relation))?;
    BoxesWriter::write(writer, layout::AREA_BOXES, entries.iter().map(|entry| entry.bbox.corners()))
}

/// The areas in these bytes of format 1; no bytes are no areas.
pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<Entry>, Error> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let mut reader = Reader::new(bytes);
    read(&mut reader, bytes.len()).ok_or_else(|| Error::damaged(layout::AREAS, "not a list of areas"))
}

fn read(reader: &mut Reader, len: usize) -> Option<Vec<Entry>> {
    let count = usize::try_from(reader.get()?).ok()?;
    // Every area takes at least five bytes.
    if count > len / 5 {
        return None;
    }
    let mut entries: Vec<Entry> = Vec::with_capacity(count);
    let (mut relation, mut south, mut west) = (0u64, 0, 0);
    for i in 0..count {
        let step = reader.get()?;
        if i > 0 && step == 0 {
            return None;
        }
        relation = relation.checked_add(step)?;
        let (s, w) = (reader.get_delta(&mut south)?, reader.get_delta(&mut west)?);
        let north = s.checked_add(i64::try_from(reader.get()?).ok()?)?;
        let east = w.checked_add(i64::try_from(reader.get()?).ok()?)?;
        let bbox = BoundingBox {
            south: s.try_into().ok()?,
            west: w.try_into().ok()?,
            north: north.try_into().ok()?,
            east: east.try_into().ok()?,
        };
        entries.push(Entry { relation, bbox });
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{put, put_delta};

    /// The bytes for these areas, which ascend.
    fn encode(entries: &[Entry]) -> Vec<u8> {
        let mut out = Vec::with_capacity(16 * entries.len() + 8);
        put(&mut out, entries.len() as u64);
        let (mut relation, mut south, mut west) = (0, 0, 0);
        for entry in entries {
            let b = &entry.bbox;
            put(&mut out, entry.relation - relation);
            relation = entry.relation;
            put_delta(&mut out, &mut south, b.south.into());
            put_delta(&mut out, &mut west, b.west.into());
            put(&mut out, (i64::from(b.north) - i64::from(b.south)) as u64);
            put(&mut out, (i64::from(b.east) - i64::from(b.west)) as u64);
        }
        out
    }

    #[test]
    fn what_is_written_is_read() {
        let world = BoundingBox { south: -900_000_000, west: -1_800_000_000, north: 900_000_000, east: 1_800_000_000 };
        let entries = [
            Entry { relation: 0, bbox: world },
            Entry { relation: 7, bbox: BoundingBox { south: 5, west: -6, north: 5, east: -6 } },
            Entry { relation: 1 << 40, bbox: world },
        ];
        assert_eq!(decode(&encode(&entries)).ok().as_deref(), Some(&entries[..]));
        assert_eq!(decode(&encode(&[])).ok(), Some(Vec::new()));
    }

    #[test]
    fn broken_bytes_are_an_error() {
        let entry = |relation| Entry { relation, bbox: BoundingBox { south: 0, west: 0, north: 1, east: 1 } };
        let good = encode(&[entry(1), entry(2)]);
        for cut in 1..good.len() {
            assert!(decode(&good[..cut]).is_err(), "{cut}");
        }
        assert!(decode(&[0xff; 30]).is_err());
        assert!(decode(&[0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3]).is_err(), "a count beyond the bytes");
        assert!(decode(&encode(&[entry(2), entry(2)])).is_err(), "not ascending");
    }
}
