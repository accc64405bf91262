//! The header block of a PBF file.

use super::wire::{WireCursor, zigzag};
use crate::element::SourceHeader;
use crate::error::PbfProblem;

/// Supported features; a file may require others.
const FEATURES: [&str; 5] =
    ["OsmSchema-V0.6", "DenseNodes", "HistoricalInformation", "Sort.Type_then_ID", "LocationsOnWays"];

/// Reads the content of a header blob.
pub(super) fn header(bytes: &[u8]) -> Result<SourceHeader, PbfProblem> {
    let mut header = SourceHeader::default();
    let mut fields = WireCursor::new(bytes);
    while let Some((number, value)) = fields.field()? {
        match number {
            1 => header.bbox = Some(bbox(value.bytes(number)?)?),
            4 => {
                let feature = text(value.bytes(number)?);
                if !FEATURES.contains(&feature.as_str()) {
                    return Err(PbfProblem::Feature(feature));
                }
                header.history |= feature == "HistoricalInformation";
            }
            16 => header.writing_program = Some(text(value.bytes(number)?)),
            32 => header.replication_timestamp = Some(value.varint(number)? as i64),
            33 => header.replication_sequence = Some(value.varint(number)? as i64),
            34 => header.replication_url = Some(text(value.bytes(number)?)),
            _ => {}
        }
    }
    Ok(header)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Converts a bounding box from nanodegrees to units of 1e-7 degrees, rounded outwards and clamped to the valid range.
fn bbox(bytes: &[u8]) -> Result<[i32; 4], PbfProblem> {
    let [mut west, mut east, mut north, mut south] = [0; 4];
    let mut fields = WireCursor::new(bytes);
    while let Some((number, value)) = fields.field()? {
        let side = match number {
            1 => &mut west,
            2 => &mut east,
            3 => &mut north,
            4 => &mut south,
            _ => continue,
        };
        *side = zigzag(value.varint(number)?);
    }
    let low = |nano: i64, limit: i64| nano.div_euclid(100).clamp(-limit, limit) as i32;
    let high = |nano: i64, limit: i64| {
        let whole = nano.div_euclid(100);
        let up = i64::from(nano.rem_euclid(100) != 0);
        (whole + up).clamp(-limit, limit) as i32
    };
    Ok([low(south, 900_000_000), low(west, 1_800_000_000), high(north, 900_000_000), high(east, 1_800_000_000)])
}
