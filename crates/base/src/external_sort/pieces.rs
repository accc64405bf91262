//! Pieces of bytes in a temporary file that are read in the order in which they were written.

use super::file::{Input, Output, Piece};
use super::{Error, Scratch};

/// The pieces while they come.
pub struct PiecesWriter {
    output: Output,
    pieces: Vec<Piece>,
}

impl PiecesWriter {
    /// Creates an empty collection.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn new(scratch: &Scratch) -> Result<PiecesWriter, Error> {
        Ok(PiecesWriter { output: Output::new(scratch)?, pieces: Vec::new() })
    }

    /// Appends a piece.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.pieces.push(self.output.append(bytes)?);
        Ok(())
    }

    /// Returns all of them.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn finish(self) -> Result<Pieces, Error> {
        Ok(Pieces { input: self.output.finish()?, pieces: self.pieces })
    }
}

/// All pieces.
pub struct Pieces {
    input: Input,
    pieces: Vec<Piece>,
}

/// Bytes that are read at once.
const READ: u64 = 1 << 20;

impl Pieces {
    /// Hands over every piece.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails or `each` returns one.
    pub fn for_each<E: From<Error>>(&self, mut each: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
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
