//! Blocks of records that are read in the order in which they were written: in memory up to a share of it, beyond that
//! in a temporary file.

use rayon::prelude::*;

use super::file::{FilePiece, Input, SpillOutput};
use super::rows::{SortRecord, SortRows, decode, encode};
use super::{SpillError, SpillScratch};

/// Blocks that are read at once, for each thread.
const BLOCKS: usize = 4;

/// A block of records that were added together, with a header of type `H` for all of them.
#[derive(Debug, Clone)]
pub struct SpoolBlock<H, T> {
    /// The header.
    pub head: H,
    /// The records.
    pub rows: SortRows<T>,
}

/// The blocks while they come.
pub struct SpoolWriter<H, T> {
    scratch: SpillScratch,
    memory: Vec<SpoolBlock<H, T>>,
    bytes: usize,
    output: Option<SpillOutput>,
    pieces: Vec<(H, FilePiece)>,
    records: u64,
}

impl<H: Copy + Send + Sync, T: SortRecord> SpoolWriter<H, T> {
    /// Creates a writer without blocks.
    pub fn new(scratch: &SpillScratch) -> SpoolWriter<H, T> {
        SpoolWriter {
            scratch: scratch.clone(),
            memory: Vec::new(),
            bytes: 0,
            output: None,
            pieces: Vec::new(),
            records: 0,
        }
    }

    /// Appends a block.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn push(&mut self, head: H, rows: SortRows<T>) -> Result<(), SpillError> {
        if rows.records.is_empty() {
            return Ok(());
        }
        self.records += rows.records.len() as u64;
        self.bytes += rows.bytes();
        self.memory.push(SpoolBlock { head, rows });
        if self.bytes >= self.scratch.share() { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<(), SpillError> {
        let output = match &mut self.output {
            Some(output) => output,
            None => self.output.insert(SpillOutput::new(&self.scratch)?),
        };
        for blocks in self.memory.chunks(BLOCKS * rayon::current_num_threads()) {
            let encoded: Vec<Vec<u8>> = blocks.par_iter().map(|block| encode(block.rows.view())).collect();
            for (block, bytes) in blocks.iter().zip(&encoded) {
                self.pieces.push((block.head, output.append(bytes)?));
            }
        }
        self.memory.clear();
        self.bytes = 0;
        Ok(())
    }

    /// Returns all blocks.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn finish(mut self) -> Result<RecordSpool<H, T>, SpillError> {
        if self.output.is_some() {
            self.spill()?;
        }
        let blocks = match self.output {
            None => SpoolBlocks::Memory(self.memory),
            Some(output) => SpoolBlocks::File(output.finish()?, self.pieces),
        };
        Ok(RecordSpool { blocks, records: self.records })
    }
}

enum SpoolBlocks<H, T> {
    Memory(Vec<SpoolBlock<H, T>>),
    File(Input, Vec<(H, FilePiece)>),
}

/// All blocks.
pub struct RecordSpool<H, T> {
    blocks: SpoolBlocks<H, T>,
    records: u64,
}

impl<H, T> Default for RecordSpool<H, T> {
    fn default() -> RecordSpool<H, T> {
        RecordSpool { blocks: SpoolBlocks::Memory(Vec::new()), records: 0 }
    }
}

impl<H: Copy + Send + Sync, T: SortRecord> RecordSpool<H, T> {
    /// Returns the number of records.
    pub fn len(&self) -> u64 {
        self.records
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Hands over all blocks in order, some at a time, so that `each` can look at them in parallel.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails or `each` returns one.
    pub fn for_each<E: From<SpillError>>(
        &self,
        mut each: impl FnMut(&[SpoolBlock<H, T>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let at_once = BLOCKS * rayon::current_num_threads();
        match &self.blocks {
            SpoolBlocks::Memory(blocks) => blocks.chunks(at_once).try_for_each(each),
            SpoolBlocks::File(input, pieces) => pieces.chunks(at_once).try_for_each(|pieces| {
                let blocks = pieces.par_iter().map(|(head, piece)| read(input, *head, *piece));
                each(&blocks.collect::<Result<Vec<_>, SpillError>>()?)
            }),
        }
    }
}

fn read<H, T: SortRecord>(input: &Input, head: H, piece: FilePiece) -> Result<SpoolBlock<H, T>, SpillError> {
    let mut bytes = vec![0; piece.len as usize];
    input.read(piece.offset, &mut bytes)?;
    let mut rows = SortRows::default();
    decode(&bytes, &mut rows).ok_or_else(|| input.damaged())?;
    Ok(SpoolBlock { head, rows })
}
