//! Encodes texts and positions as bytes, for recorded answers.

use terrapin_base::codec::{self, ByteReader};
use terrapin_osm::Coord;

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
