//! A temporary file that is written sequentially and read in pieces.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use super::{SpillError, SpillScratch};

/// Bytes that are written at once.
const BUFFER: usize = 1 << 20;

/// A piece of the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct FilePiece {
    pub offset: u64,
    pub len: u32,
}

/// The file while it is written.
pub(super) struct SpillOutput {
    scratch: SpillScratch,
    file: BufWriter<File>,
    len: u64,
}

impl SpillOutput {
    pub fn new(scratch: &SpillScratch) -> Result<SpillOutput, SpillError> {
        Ok(SpillOutput { scratch: scratch.clone(), file: BufWriter::with_capacity(BUFFER, scratch.file()?), len: 0 })
    }

    pub fn append(&mut self, bytes: &[u8]) -> Result<FilePiece, SpillError> {
        let too_long = || self.scratch.error(io::Error::other("a record of more than 4 GiB"));
        let piece = FilePiece { offset: self.len, len: u32::try_from(bytes.len()).map_err(|_| too_long())? };
        self.file.write_all(bytes).map_err(|e| self.scratch.error(e))?;
        self.len += bytes.len() as u64;
        Ok(piece)
    }

    pub fn finish(self) -> Result<Input, SpillError> {
        let file = self.file.into_inner().map_err(|e| self.scratch.error(e.into_error()))?;
        Ok(Input { scratch: self.scratch, file })
    }
}

/// The file when it is written.
pub(super) struct Input {
    scratch: SpillScratch,
    file: File,
}

impl Input {
    /// Reads bytes from `offset` on until `bytes` is full.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), SpillError> {
        read_exact_at(&self.file, bytes, offset).map_err(|e| self.scratch.error(e))
    }

    /// Returns the error for a piece that differs from the written one.
    pub fn damaged(&self) -> SpillError {
        self.scratch.error(io::Error::other("it does not hold what was written to it"))
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                bytes = &mut bytes[n..];
                offset += n as u64;
            }
        }
    }
    Ok(())
}
