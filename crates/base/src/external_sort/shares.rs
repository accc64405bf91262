//! Distributes records among a number of parts, as a distribution sort does. Each part is read back as a whole. Records
//! stay in memory up to a share of it; beyond that, they go to a temporary file. The records of a part keep their
//! order.

use bytemuck::Pod;

use super::file::{FilePiece, Input, SpillOutput};
use super::{SpillError, SpillScratch};

/// The parts while records come.
pub struct SpillShares<T> {
    scratch: SpillScratch,
    parts: Vec<Vec<T>>,
    /// Records that are in memory.
    held: usize,
    output: Option<SpillOutput>,
    pieces: Vec<Vec<FilePiece>>,
}

impl<T: Pod> SpillShares<T> {
    /// Creates `parts` parts without records.
    pub fn new(scratch: &SpillScratch, parts: usize) -> SpillShares<T> {
        SpillShares {
            scratch: scratch.clone(),
            parts: (0..parts).map(|_| Vec::new()).collect(),
            held: 0,
            output: None,
            pieces: vec![Vec::new(); parts],
        }
    }

    /// Adds a record to a part. [`SpillShares::make_room`] has to follow after some of them.
    ///
    /// # Panics
    /// Panics if the part does not exist.
    #[inline]
    pub fn push(&mut self, part: usize, record: T) {
        self.parts[part].push(record);
        self.held += 1;
    }

    /// Writes the records in memory to the temporary file if they exceed their share of the memory.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn make_room(&mut self) -> Result<(), SpillError> {
        if self.held * size_of::<T>() >= self.scratch.share() { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<(), SpillError> {
        let output = match &mut self.output {
            Some(output) => output,
            None => self.output.insert(SpillOutput::new(&self.scratch)?),
        };
        for (part, pieces) in self.parts.iter_mut().zip(&mut self.pieces) {
            if !part.is_empty() {
                pieces.push(output.append(bytemuck::cast_slice(part))?);
                part.clear();
            }
        }
        self.held = 0;
        Ok(())
    }

    /// Returns all parts.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn finish(mut self) -> Result<Dealt<T>, SpillError> {
        if self.output.is_some() {
            self.spill()?;
            self.parts.iter_mut().for_each(|part| *part = Vec::new());
        }
        let input = self.output.map(SpillOutput::finish).transpose()?;
        Ok(Dealt { parts: self.parts, input, pieces: self.pieces })
    }
}

/// All records, part by part.
pub struct Dealt<T> {
    parts: Vec<Vec<T>>,
    input: Option<Input>,
    pieces: Vec<Vec<FilePiece>>,
}

impl<T: Pod> Dealt<T> {
    /// Returns the number of parts.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Returns whether there are no parts.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns a part's records.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    ///
    /// # Panics
    /// Panics if the part does not exist.
    pub fn read(&self, part: usize) -> Result<Vec<T>, SpillError> {
        let Some(input) = &self.input else { return Ok(self.parts[part].clone()) };
        let pieces = &self.pieces[part];
        let bytes: usize = pieces.iter().map(|piece| piece.len as usize).sum();
        let mut records = vec![T::zeroed(); bytes / size_of::<T>()];
        let mut rest: &mut [u8] = bytemuck::cast_slice_mut(&mut records);
        for piece in pieces {
            let (these, others) = rest.split_at_mut(piece.len as usize);
            input.read(piece.offset, these)?;
            rest = others;
        }
        Ok(records)
    }
}
