//! Columns of integers in blocks of 128 values. A block stores its smallest value, and the differences to it with the
//! minimum number of bits for that block. A value is read in place in constant time, without decoding or caching other
//! values.
//!
//! The section has the blocks' bits, eight zero bytes, and a directory of 16 bytes per block: the smallest value
//! (u64), and the offset of the bits shifted left by 8 plus their width.

use std::sync::Arc;

use super::checked::{CheckedSection, CheckedWriter, Fault};
use super::{Error, Snapshot, SnapshotWriter};

const BLOCK: u64 = 128;

/// Packs values into blocks.
#[derive(Default)]
struct Packer {
    block: Vec<u64>,
    directory: Vec<u8>,
    /// The number of values.
    len: u64,
    /// The length of the blocks in bytes.
    bytes: u64,
}

impl Packer {
    /// Adds a value; appends complete blocks to `out`.
    fn push(&mut self, value: u64, out: &mut Vec<u8>) {
        self.block.push(value);
        self.len += 1;
        if self.block.len() as u64 == BLOCK {
            self.flush(out);
        }
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        let (Some(&least), Some(&most)) = (self.block.iter().min(), self.block.iter().max()) else { return };
        let width = match u64::BITS - (most - least).leading_zeros() {
            // Wider values could cross a word of eight bytes.
            58.. => 64,
            width => width,
        };
        self.directory.extend_from_slice(&least.to_le_bytes());
        self.directory.extend_from_slice(&(self.bytes << 8 | u64::from(width)).to_le_bytes());
        let (mut bits, mut filled) = (0_u128, 0);
        let before = out.len();
        for value in self.block.drain(..) {
            bits |= u128::from(value - least) << filled;
            filled += width;
            while filled >= 8 {
                out.push(bits as u8);
                bits >>= 8;
                filled -= 8;
            }
        }
        if filled > 0 {
            out.push(bits as u8);
        }
        self.bytes += (out.len() - before) as u64;
    }

    /// Appends the last block to `out` and returns the number of values.
    fn finish(mut self, out: &mut Vec<u8>) -> u64 {
        self.flush(out);
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(&self.directory);
        self.len
    }
}

/// Writes a column.
pub struct ColumnWriter {
    out: CheckedWriter,
    packer: Packer,
    packed: Vec<u8>,
}

impl ColumnWriter {
    /// Begins the section `name` in `writer`, which must not be used otherwise until [`ColumnWriter::finish`] is
    /// called.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn begin(writer: &mut SnapshotWriter, name: &str) -> Result<ColumnWriter, Error> {
        let out = CheckedWriter::begin(writer, name)?;
        Ok(ColumnWriter { out, packer: Packer::default(), packed: Vec::new() })
    }

    /// Writes a whole column.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(writer: &mut SnapshotWriter, name: &str, values: impl IntoIterator<Item = u64>) -> Result<(), Error> {
        let mut column = ColumnWriter::begin(writer, name)?;
        values.into_iter().try_for_each(|value| column.push(writer, value))?;
        column.finish(writer)
    }

    /// Appends a value.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn push(&mut self, writer: &mut SnapshotWriter, value: u64) -> Result<(), Error> {
        self.packer.push(value, &mut self.packed);
        if self.packed.is_empty() {
            return Ok(());
        }
        self.out.push(writer, &self.packed)?;
        self.packed.clear();
        Ok(())
    }

    /// Ends the section.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn finish(mut self, writer: &mut SnapshotWriter) -> Result<(), Error> {
        let len = self.packer.finish(&mut self.packed);
        self.out.push(writer, &self.packed)?;
        self.out.finish(writer, len)
    }
}

/// A column.
pub struct SectionColumn {
    content: CheckedSection,
    len: u64,
    directory: usize,
}

/// Returns the offset of the directory of a column of `len` values.
fn directory(name: &str, bytes: u64, len: u64) -> Result<usize, Error> {
    let blocks = len.div_ceil(BLOCK);
    let at = blocks.checked_mul(16).and_then(|directory| bytes.checked_sub(directory)).filter(|&at| at >= 8);
    at.and_then(|at| usize::try_from(at).ok()).ok_or_else(|| Error::damaged(name, "its number of values differs"))
}

/// The offset, width and smallest value of a block.
#[derive(Clone, Copy)]
struct ColumnBlock {
    least: u64,
    start: usize,
    width: u32,
}

impl SectionColumn {
    /// Opens the section `name`.
    ///
    /// # Errors
    /// Returns an error if the section is missing or damaged.
    pub fn open(snapshot: &Arc<Snapshot>, name: &str, fault: &Arc<Fault>) -> Result<SectionColumn, Error> {
        SectionColumn::of(name, CheckedSection::open(snapshot, name, fault)?)
    }

    /// Returns a column held in memory, as if read from the section `name`.
    pub fn held(name: &str, values: impl IntoIterator<Item = u64>, fault: &Arc<Fault>) -> SectionColumn {
        let (mut packer, mut packed) = (Packer::default(), Vec::new());
        values.into_iter().for_each(|value| packer.push(value, &mut packed));
        let len = packer.finish(&mut packed);
        let directory = packed.len() - len.div_ceil(BLOCK) as usize * 16;
        SectionColumn { content: CheckedSection::held(name, packed, len, fault), len, directory }
    }

    fn of(name: &str, content: CheckedSection) -> Result<SectionColumn, Error> {
        let len = content.number();
        let directory = directory(name, content.len() as u64, len)?;
        Ok(SectionColumn { content, len, directory })
    }

    /// Returns the number of values of the column `name` without verifying checksums; `None` if the snapshot has no
    /// such section.
    ///
    /// # Errors
    /// Returns an error if the section is too short for this number of values.
    pub fn announced(snapshot: &Snapshot, name: &str) -> Result<Option<u64>, Error> {
        let Some((bytes, len)) = CheckedSection::announced(snapshot, name)? else { return Ok(None) };
        directory(name, bytes, len).map(|_| Some(len))
    }

    /// Returns the number of values.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Reports whether the column is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Records damage that shows only in the meaning of the values.
    #[cold]
    pub fn report(&self, reason: &str) {
        self.content.report(reason);
    }

    #[inline]
    fn block(&self, block: u64) -> ColumnBlock {
        let at = self.directory + block as usize * 16;
        let Some(entry) = self.content.get(at, 16) else { return ColumnBlock { least: 0, start: 0, width: 0 } };
        let (least, place) = entry.split_at(8);
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
        let (least, place) = (word(least), word(place));
        ColumnBlock { least, start: (place >> 8) as usize, width: (place & 0xff).min(64) as u32 }
    }

    #[inline]
    fn value(&self, block: ColumnBlock, slot: u64) -> u64 {
        if block.width == 0 {
            return block.least;
        }
        let bit = slot as usize * block.width as usize;
        let word = self.content.word(block.start + bit / 8) >> (bit % 8);
        block.least.wrapping_add(word & (u64::MAX >> (64 - block.width)))
    }

    /// Returns the value at `at`; 0 if it is out of range or the snapshot is damaged.
    #[inline]
    pub fn get(&self, at: u64) -> u64 {
        if at >= self.len {
            self.content.report("a read beyond its end");
            return 0;
        }
        self.value(self.block(at / BLOCK), at % BLOCK)
    }

    /// Returns the first index in `from..to`, where values ascend, whose value is at least `value`; `to` if all are
    /// smaller.
    pub fn lower_bound(&self, from: u64, to: u64, value: u64) -> u64 {
        let (mut low, mut high) = (from, to);
        // Compares the smallest values of blocks first, because they are adjacent in memory. The middle block is within
        // the bounds while these are several blocks apart; its smallest value is then its first.
        while high.saturating_sub(low) > 4 * BLOCK {
            let middle = (low + (high - low) / 2) / BLOCK;
            if self.block(middle).least < value {
                low = middle * BLOCK;
            } else {
                high = middle * BLOCK;
            }
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle) < value {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the range of indexes in `from..to`, where values ascend, with `value`.
    pub fn equal_range(&self, from: u64, to: u64, value: u64) -> (u64, u64) {
        let low = self.lower_bound(from, to, value);
        // Most ranges are short: gallop before bisecting.
        let (mut step, mut high) = (1, low);
        while high < to && self.get(high) == value {
            high = low + step;
            step *= 2;
        }
        let high = high.min(to);
        match value.checked_add(1) {
            Some(next) => (low, self.lower_bound(low, high, next)),
            None => (low, high),
        }
    }

    /// Returns all values.
    pub fn values(&self) -> Box<[u64]> {
        let mut run = self.run(0);
        (0..self.len).map(|_| run.next_value()).collect()
    }

    /// Returns a reader of consecutive values.
    pub fn run(&self, from: u64) -> ColumnCursor<'_> {
        ColumnCursor { column: self, at: from, block: None }
    }
}

/// Maps a signed number to an unsigned one with the same order.
pub fn ordered(value: i64) -> u64 {
    value as u64 ^ 1 << 63
}

/// Inverts [`ordered`].
pub fn signed(ordered: u64) -> i64 {
    (ordered ^ 1 << 63) as i64
}

/// A reader of consecutive values.
pub struct ColumnCursor<'a> {
    column: &'a SectionColumn,
    at: u64,
    block: Option<ColumnBlock>,
}

impl ColumnCursor<'_> {
    /// Returns the next value; 0 after the end.
    #[inline]
    pub fn next_value(&mut self) -> u64 {
        let slot = self.at % BLOCK;
        let block = match self.block {
            Some(block) if slot != 0 => block,
            _ if self.at >= self.column.len => return 0,
            _ => {
                let block = self.column.block(self.at / BLOCK);
                self.block = Some(block);
                block
            }
        };
        self.at += 1;
        self.column.value(block, slot)
    }
}
