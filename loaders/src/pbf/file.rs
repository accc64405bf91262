//! Reads the blobs of a PBF file in sequence, with their positions.

use super::wire::WireCursor;
use super::{block, head, unpack};
use crate::element::SourceHeader;
use crate::error::{LoaderError, PbfProblem};
use crate::limits::{MAX_BLOB, MAX_BLOB_HEADER};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// The position of a blob, for error messages.
#[derive(Clone, Debug)]
pub(crate) struct BlobLocation {
    /// The file.
    pub(crate) file: Arc<Path>,
    /// Number of the blob, from 0.
    pub(crate) blob: u64,
    /// Offset of the blob in the file.
    pub(crate) offset: u64,
}

impl BlobLocation {
    pub(crate) fn error(&self, problem: PbfProblem) -> LoaderError {
        LoaderError::Pbf { file: self.file.to_path_buf(), blob: self.blob, offset: self.offset, problem }
    }
}

/// A data blob, still packed.
pub(crate) struct Blob {
    /// Its position.
    pub(crate) spot: BlobLocation,
    /// Offset of the next blob.
    pub(crate) end: u64,
    packed: Vec<u8>,
}

impl Blob {
    /// Returns the approximate memory in bytes while the blob is processed. The estimate uses the declared size, which
    /// unpacking enforces. A byte becomes up to 24 bytes of records: a node reference of a way has one byte in the
    /// file, and eight bytes in each copy. The factor is lower for a block that is so large that it is read in pieces.
    pub(crate) fn cost(&self) -> u64 {
        let said = unpack::size(&self.packed) as u64;
        let factor = if said > block::LARGE_BYTES as u64 { 4 } else { 24 };
        self.packed.len() as u64 + said * factor
    }

    /// Unpacks the blob.
    pub(crate) fn unpack(&self) -> Result<Vec<u8>, LoaderError> {
        unpack::unpack(&self.packed).map_err(|problem| self.spot.error(problem))
    }
}

/// The type of a blob from its header, and the packed message that follows.
type TypeAndContent = (Vec<u8>, Vec<u8>);

/// A reader of the blobs of a file.
pub(crate) struct Blobs<R> {
    reader: R,
    spot: BlobLocation,
    /// Offset of the next byte.
    position: u64,
}

impl<R: Read> Blobs<R> {
    /// Opens a file by reading its header.
    pub(crate) fn begin(reader: R, file: Arc<Path>) -> Result<(Self, SourceHeader), LoaderError> {
        let mut blobs = Self { reader, spot: BlobLocation { file, blob: 0, offset: 0 }, position: 0 };
        let header = blobs.first().map_err(|problem| blobs.spot.error(problem))?;
        Ok((blobs, header))
    }

    fn first(&mut self) -> Result<SourceHeader, PbfProblem> {
        let Some((kind, packed)) = self.raw()? else {
            return Err(PbfProblem::FileEnds { part: "length", missing: 4, expected: 4 });
        };
        if kind != b"OSMHeader" {
            return Err(PbfProblem::NoHeader(String::from_utf8_lossy(&kind).chars().take(40).collect()));
        }
        head::header(&unpack::unpack(&packed)?)
    }

    /// Returns the next data blob, or `None` at the end of the file. Blobs of unknown types are skipped, as the format
    /// requires. Concatenated files have further headers; such a header must not require an unsupported feature.
    pub(crate) fn next(&mut self) -> Option<Result<Blob, LoaderError>> {
        loop {
            self.spot.blob += 1;
            self.spot.offset = self.position;
            let (kind, packed) = match self.raw() {
                Ok(Some(found)) => found,
                Ok(None) => return None,
                Err(problem) => return Some(Err(self.spot.error(problem))),
            };
            match kind.as_slice() {
                b"OSMData" => return Some(Ok(Blob { spot: self.spot.clone(), end: self.position, packed })),
                b"OSMHeader" => {
                    if let Err(problem) = unpack::unpack(&packed).and_then(|bytes| head::header(&bytes)) {
                        return Some(Err(self.spot.error(problem)));
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the type and the packed message of the next blob, or `None` at the end of the file.
    fn raw(&mut self) -> Result<Option<TypeAndContent>, PbfProblem> {
        let length = self.take("length", 4)?;
        if length.is_empty() {
            return Ok(None);
        }
        let length = length.iter().fold(0, |length, byte| length << 8 | u32::from(*byte));
        if length > MAX_BLOB_HEADER {
            return Err(PbfProblem::HeaderLength(length));
        }
        let header = self.whole("header", length as usize)?;
        let mut fields = WireCursor::new(&header);
        let (mut kind, mut size) = (Vec::new(), 0);
        while let Some((number, value)) = fields.field()? {
            match number {
                1 => kind = value.bytes(number)?.to_vec(),
                3 => size = value.varint(number)? as i64,
                _ => {}
            }
        }
        match usize::try_from(size) {
            Ok(size) if size <= MAX_BLOB => Ok(Some((kind, self.whole("content", size)?))),
            _ => Err(PbfProblem::Length { what: "blob content", length: size }),
        }
    }

    fn whole(&mut self, part: &'static str, length: usize) -> Result<Vec<u8>, PbfProblem> {
        let bytes = self.take(part, length)?;
        if bytes.len() < length {
            return Err(PbfProblem::FileEnds { part, missing: length as u64, expected: length as u64 });
        }
        Ok(bytes)
    }

    /// Reads `length` bytes. Returns no bytes if the file has ended before the first of them.
    fn take(&mut self, part: &'static str, length: usize) -> Result<Vec<u8>, PbfProblem> {
        let mut bytes = Vec::with_capacity(length);
        let got = self.reader.by_ref().take(length as u64).read_to_end(&mut bytes)?;
        self.position += got as u64;
        if got != 0 && got < length {
            return Err(PbfProblem::FileEnds { part, missing: (length - got) as u64, expected: length as u64 });
        }
        Ok(bytes)
    }
}
