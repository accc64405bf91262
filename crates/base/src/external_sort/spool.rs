//! Blocks of records that are read in the order in which they were written: in memory up to a share of it, beyond that
//! in a temporary file.

use rayon::prelude::*;

use super::file::{Input, Output, Piece};
use super::rows::{Record, Rows, decode, encode};
use super::{Error, Scratch};

/// Blocks that are read at once, for each thread.
const BLOCKS: usize = 4;

/// A block of records that were added together, with a header of type `H` for all of them.
#[derive(Debug, Clone)]
pub struct Block<H, T> {
    /// The header.
    pub head: H,
    /// The records.
    pub rows: Rows<T>,
}

/// The blocks while they come.
pub struct SpoolWriter<H, T> {
    scratch: Scratch,
    memory: Vec<Block<H, T>>,
    bytes: usize,
    output: Option<Output>,
    pieces: Vec<(H, Piece)>,
    records: u64,
}

impl<H: Copy + Send + Sync, T: Record> SpoolWriter<H, T> {
    /// Creates a writer without blocks.
    pub fn new(scratch: &Scratch) -> SpoolWriter<H, T> {
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
    pub fn push(&mut self, head: H, rows: Rows<T>) -> Result<(), Error> {
        if rows.records.is_empty() {
            return Ok(());
        }
        self.records += rows.records.len() as u64;
        self.bytes += rows.bytes();
        self.memory.push(Block { head, rows });
        if self.bytes >= self.scratch.share() { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<(), Error> {
        let output = match &mut self.output {
            Some(output) => output,
            None => self.output.insert(Output::new(&self.scratch)?),
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
    pub fn finish(mut self) -> Result<Spool<H, T>, Error> {
        if self.output.is_some() {
            self.spill()?;
        }
        let blocks = match self.output {
            None => Blocks::Memory(self.memory),
            Some(output) => Blocks::File(output.finish()?, self.pieces),
        };
        Ok(Spool { blocks, records: self.records })
    }
}

enum Blocks<H, T> {
    Memory(Vec<Block<H, T>>),
    File(Input, Vec<(H, Piece)>),
}

/// All blocks.
pub struct Spool<H, T> {
    blocks: Blocks<H, T>,
    records: u64,
}

impl<H, T> Default for Spool<H, T> {
    fn default() -> Spool<H, T> {
        Spool { blocks: Blocks::Memory(Vec::new()), records: 0 }
    }
}

impl<H: Copy + Send + Sync, T: Record> Spool<H, T> {
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
    pub fn for_each<E: From<Error>>(&self, mut each: impl FnMut(&[Block<H, T>]) -> Result<(), E>) -> Result<(), E> {
        let at_once = BLOCKS * rayon::current_num_threads();
        match &self.blocks {
            Blocks::Memory(blocks) => blocks.chunks(at_once).try_for_each(each),
            Blocks::File(input, pieces) => pieces.chunks(at_once).try_for_each(|pieces| {
                let blocks = pieces.par_iter().map(|(head, piece)| read(input, *head, *piece));
                each(&blocks.collect::<Result<Vec<_>, Error>>()?)
            }),
        }
    }
}

fn read<H, T: Record>(input: &Input, head: H, piece: Piece) -> Result<Block<H, T>, Error> {
    let mut bytes = vec![0; piece.len as usize];
    input.read(piece.offset, &mut bytes)?;
    let mut rows = Rows::default();
    decode(&bytes, &mut rows).ok_or_else(|| input.damaged())?;
    Ok(Block { head, rows })
}
