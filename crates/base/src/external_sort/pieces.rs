//! Pieces of bytes in a temporary file that are read in the order in which they were written.

use super::file::{FilePiece, Input, SpillOutput};
use super::{SpillError, SpillScratch};

/// The pieces while they come.
pub struct PiecesWriter {
    output: SpillOutput,
    pieces: Vec<FilePiece>,
}

impl PiecesWriter {
    /// Creates an empty collection.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn new(scratch: &SpillScratch) -> Result<PiecesWriter, SpillError> {
        Ok(PiecesWriter { output: SpillOutput::new(scratch)?, pieces: Vec::new() })
    }

    /// Appends a piece.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), SpillError> {
        self.pieces.push(self.output.append(bytes)?);
        Ok(())
    }

    /// Returns all of them.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn finish(self) -> Result<PieceFile, SpillError> {
        Ok(PieceFile { input: self.output.finish()?, pieces: self.pieces })
    }
}

/// All pieces.
pub struct PieceFile {
    input: Input,
    pieces: Vec<FilePiece>,
}

/// Bytes that are read at once.
const READ: u64 = 1 << 20;

impl PieceFile {
    /// Hands over every piece.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails or `each` returns one.
    pub fn for_each<E: From<SpillError>>(&self, mut each: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut bytes = Vec::new();
        let mut rest = &self.pieces[..];
        while let Some(first) = rest.first() {
            let together = rest.partition_point(|p| p.offset - first.offset < READ);
            let (these, others) = rest.split_at(together);
            let end = these.last().map_or(0, |last| last.offset + u64::from(last.len));
            bytes.resize((end - first.offset) as usize, 0);
            self.input.read(first.offset, &mut bytes)?;
            for piece in these {
                let at = (piece.offset - first.offset) as usize;
                each(&bytes[at..at + piece.len as usize])?;
            }
            rest = others;
        }
        Ok(())
    }
}
