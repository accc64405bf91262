//! Unpacks the content of a blob: raw, zlib, LZ4 or Zstandard. Lengths are checked before memory is allocated.

use super::wire::{FieldValue, WireCursor};
use crate::error::{PbfProblem, Wire};
use crate::limits::MAX_BLOB;
use flate2::{Decompress, FlushDecompress, Status};
use std::io::Read;

/// Returns the declared unpacked size of a blob message, or the maximum if none is declared.
pub(super) fn size(blob: &[u8]) -> usize {
    let (mut said, mut raw) = (None, None);
    let mut fields = WireCursor::new(blob);
    while let Ok(Some((number, value))) = fields.field() {
        match (number, value) {
            (2, FieldValue::Varint(size)) => said = usize::try_from(size).ok(),
            (1, FieldValue::Bytes(bytes)) => raw = Some(bytes.len()),
            _ => {}
        }
    }
    said.or(raw).unwrap_or(MAX_BLOB).min(MAX_BLOB)
}

/// Unpacks the content of a blob message.
pub(super) fn unpack(blob: &[u8]) -> Result<Vec<u8>, PbfProblem> {
    let mut said = None;
    let mut data = None;
    let mut fields = WireCursor::new(blob);
    while let Some((number, value)) = fields.field()? {
        match (number, value) {
            (2, FieldValue::Varint(size)) => said = Some(checked(size as i64)?),
            (1 | 3..=7, FieldValue::Bytes(bytes)) => data = Some((number, bytes)),
            (1..=7, _) => return Err(Wire::Mismatch(number).into()),
            _ => {}
        }
    }
    let (bytes, expected) = match data {
        Some((1, raw)) => (raw.to_vec(), said),
        Some((3, packed)) => (zlib(packed, said)?, said),
        Some((4, _)) => return Err(PbfProblem::Compression("LZMA compression is not supported")),
        Some((5, _)) => return Err(PbfProblem::Compression("bzip2 compression is not supported")),
        Some((6, packed)) => (lz4(packed, said)?, said),
        Some((7, packed)) => (zstd(packed, said)?, said),
        _ => return Err(PbfProblem::Compression("the blob has no data, or data in an unknown compression")),
    };
    checked(bytes.len() as i64)?;
    match expected {
        Some(said) if said != bytes.len() => Err(PbfProblem::Size { got: bytes.len(), said }),
        _ => Ok(bytes),
    }
}

fn checked(length: i64) -> Result<usize, PbfProblem> {
    match usize::try_from(length) {
        Ok(size) if size <= MAX_BLOB => Ok(size),
        _ => Err(PbfProblem::Length { what: "unpacked content", length }),
    }
}

fn broken(method: &'static str, reason: impl ToString) -> PbfProblem {
    PbfProblem::Unpack { method, reason: reason.to_string() }
}

fn zlib(packed: &[u8], said: Option<usize>) -> Result<Vec<u8>, PbfProblem> {
    let Some(said) = said else {
        let mut bytes = Vec::new();
        let mut decoder = flate2::read::ZlibDecoder::new(packed).take(MAX_BLOB as u64 + 1);
        decoder.read_to_end(&mut bytes).map_err(|error| broken("zlib", error))?;
        return Ok(bytes);
    };
    let mut bytes = vec![0; said];
    let mut decoder = Decompress::new(true);
    let status = decoder.decompress(packed, &mut bytes, FlushDecompress::Finish);
    match status.map_err(|error| broken("zlib", error))? {
        Status::StreamEnd => {}
        _ if decoder.total_in() < packed.len() as u64 => {
            return Err(broken("zlib", format_args!("there are more than the {said} bytes that the blob declares")));
        }
        _ => return Err(broken("zlib", "it ends too early")),
    }
    bytes.truncate(decoder.total_out() as usize);
    Ok(bytes)
}

fn lz4(packed: &[u8], said: Option<usize>) -> Result<Vec<u8>, PbfProblem> {
    let said = said.ok_or_else(|| broken("LZ4", "the blob does not give its unpacked size"))?;
    let mut bytes = vec![0; said];
    let got = lz4_flex::block::decompress_into(packed, &mut bytes).map_err(|error| broken("LZ4", error))?;
    bytes.truncate(got);
    Ok(bytes)
}

fn zstd(packed: &[u8], said: Option<usize>) -> Result<Vec<u8>, PbfProblem> {
    zstd::bulk::decompress(packed, said.unwrap_or(MAX_BLOB)).map_err(|error| broken("Zstandard", error))
}
