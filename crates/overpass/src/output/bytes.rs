//! Encodes the parts of an element as bytes, for recorded answers and for the elements that GeoJSON keeps.

use terrapin_base::codec::{self, ByteReader};
use terrapin_osm::{BoundingBox, Coord};

use super::item::{MemberGeometry, MemberItem, OutputMeta};
use crate::set::DegreePosition;

/// Writes bytes with their length before them.
pub(super) fn within(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let len = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&len.to_le_bytes());
}

/// Writes a text with its length before it.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    codec::put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Writes a position in 8 bytes.
pub(super) fn put_coord(out: &mut Vec<u8>, c: Coord) {
    out.extend_from_slice(&c.lat.to_le_bytes());
    out.extend_from_slice(&c.lon.to_le_bytes());
}

/// Reads a text written by [`put_text`].
pub(super) fn get_text<'r>(from: &mut ByteReader<'r>) -> Option<&'r str> {
    let len = usize::try_from(from.get()?).ok()?;
    std::str::from_utf8(from.take(len)?).ok()
}

/// Reads a position written by [`put_coord`].
pub(super) fn get_coord(from: &mut ByteReader<'_>) -> Option<Coord> {
    let mut number = || Some(i32::from_le_bytes(from.take(4)?.try_into().ok()?));
    Some(Coord { lat: number()?, lon: number()? })
}

/// Writes a position in degrees, in 16 bytes.
pub(super) fn put_position(out: &mut Vec<u8>, position: DegreePosition) {
    out.extend_from_slice(&position.lat.to_le_bytes());
    out.extend_from_slice(&position.lon.to_le_bytes());
}

/// Reads a position written by [`put_position`].
pub(super) fn get_position(from: &mut ByteReader<'_>) -> Option<DegreePosition> {
    let mut number = || Some(f64::from_le_bytes(from.take(8)?.try_into().ok()?));
    Some(DegreePosition { lat: number()?, lon: number()? })
}

/// Writes a box.
pub(super) fn put_box(out: &mut Vec<u8>, bounds: &BoundingBox) {
    put_coord(out, Coord { lat: bounds.south, lon: bounds.west });
    put_coord(out, Coord { lat: bounds.north, lon: bounds.east });
}

/// Reads a box written by [`put_box`].
pub(super) fn get_box(from: &mut ByteReader<'_>) -> Option<BoundingBox> {
    let (low, high) = (get_coord(from)?, get_coord(from)?);
    Some(BoundingBox { south: low.lat, west: low.lon, north: high.lat, east: high.lon })
}

/// Writes the metadata of an element.
pub(super) fn put_meta(out: &mut Vec<u8>, meta: &OutputMeta<'_>) {
    codec::put(out, u64::from(meta.version));
    [meta.timestamp, meta.changeset, meta.uid].into_iter().for_each(|number| codec::put_signed(out, number));
    put_text(out, meta.user);
}

/// Reads metadata written by [`put_meta`].
pub(super) fn get_meta<'r>(from: &mut ByteReader<'r>) -> Option<OutputMeta<'r>> {
    Some(OutputMeta {
        version: u32::try_from(from.get()?).ok()?,
        timestamp: from.get_signed()?,
        changeset: from.get_signed()?,
        uid: from.get_signed()?,
        user: get_text(from)?,
    })
}

/// Writes a member of a relation, and its line with `line`.
pub(super) fn put_member(out: &mut Vec<u8>, member: &MemberItem<'_>, line: fn(&mut Vec<u8>, &[Coord])) {
    out.push(member.kind as u8);
    codec::put_signed(out, member.id);
    put_text(out, member.role);
    match member.geometry {
        MemberGeometry::None => out.push(0),
        MemberGeometry::Point(c) => {
            out.push(1);
            put_coord(out, c);
        }
        MemberGeometry::Line(coords) => {
            out.push(2);
            line(out, coords);
        }
    }
}
