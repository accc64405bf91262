//! Spill buffers: growing arrays of fixed-size records that move to a temporary file when they exceed their share of
//! the memory. They can be sorted in memory or in the file, and are then read as one slice.

use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::marker::PhantomData;

use bytemuck::Pod;
use memmap2::Mmap;
use rayon::prelude::*;

use super::{SpillError, SpillScratch};
use crate::map_read_only;

/// A growing array.
pub struct SpillBuffer<T> {
    scratch: SpillScratch,
    memory: Vec<T>,
    file: Option<BufWriter<File>>,
    len: u64,
}

impl<T: Pod + Send + Sync> SpillBuffer<T> {
    /// Creates an empty buffer.
    pub fn new(scratch: &SpillScratch) -> SpillBuffer<T> {
        SpillBuffer { scratch: scratch.clone(), memory: Vec::new(), file: None, len: 0 }
    }

    /// Returns the number of records.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends records.
    pub fn extend(&mut self, records: &[T]) -> Result<(), SpillError> {
        self.len += records.len() as u64;
        self.memory.extend_from_slice(records);
        if self.memory.len() * size_of::<T>() >= self.scratch.share {
            self.spill()?;
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<(), SpillError> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(BufWriter::with_capacity(1 << 20, self.scratch.file()?)),
        };
        file.write_all(bytemuck::cast_slice(&self.memory)).map_err(|e| self.scratch.error(e))?;
        self.memory.clear();
        Ok(())
    }

    /// Returns the records in the order in which they were added.
    pub fn seal(mut self) -> Result<RecordBuffer<T>, SpillError> {
        if self.file.is_some() {
            self.spill()?;
        }
        match self.file {
            None => Ok(RecordBuffer::Memory(self.memory)),
            Some(file) => map(&self.scratch, file),
        }
    }

    /// Sorts the records by ascending key. Records with equal keys must be equal in every byte; otherwise their order
    /// would depend on where they were sorted.
    pub fn sort<K: Ord>(self, key: impl Fn(&T) -> K + Sync + Copy) -> Result<RecordBuffer<T>, SpillError> {
        let scratch = self.scratch.clone();
        self.seal()?.sort(&scratch, key)
    }
}

/// The records of a buffer that grows no more.
pub enum RecordBuffer<T> {
    /// In memory.
    Memory(Vec<T>),
    /// In a temporary file.
    Mapped(Mmap, PhantomData<T>),
}

impl<T: Pod + Send + Sync> RecordBuffer<T> {
    /// Returns the records.
    pub fn as_slice(&self) -> &[T] {
        match self {
            RecordBuffer::Memory(records) => records,
            RecordBuffer::Mapped(map, _) => bytemuck::cast_slice(map),
        }
    }

    /// See [`SpillBuffer::sort`].
    pub fn sort<K: Ord>(
        self,
        scratch: &SpillScratch,
        key: impl Fn(&T) -> K + Sync + Copy,
    ) -> Result<RecordBuffer<T>, SpillError> {
        match self {
            RecordBuffer::Memory(mut records) => {
                records.par_sort_unstable_by(|a, b| key(a).cmp(&key(b)));
                Ok(RecordBuffer::Memory(records))
            }
            RecordBuffer::Mapped(..) => merge_sort(scratch, self.as_slice(), key),
        }
    }
}

/// Sorted runs, then one merge of them all.
fn merge_sort<T: Pod + Send + Sync, K: Ord>(
    scratch: &SpillScratch,
    records: &[T],
    key: impl Fn(&T) -> K + Sync + Copy,
) -> Result<RecordBuffer<T>, SpillError> {
    let run_len = (scratch.share / size_of::<T>().max(1)).max(1);
    let mut runs = Vec::new();
    for run in records.chunks(run_len) {
        let mut run = run.to_vec();
        run.par_sort_by(|a, b| key(a).cmp(&key(b)));
        let mut file = BufWriter::new(scratch.file()?);
        file.write_all(bytemuck::cast_slice(&run)).map_err(|e| scratch.error(e))?;
        runs.push(map::<T>(scratch, file)?);
    }
    let runs: Vec<&[T]> = runs.iter().map(RecordBuffer::as_slice).collect();
    // Smallest key first, and of equal keys the earlier run's: `Reverse` turns the heap around.
    let mut heap: BinaryHeap<_> = runs
        .iter()
        .enumerate()
        .filter_map(|(i, run)| run.first().map(|r| std::cmp::Reverse((key(r), i, 0_usize))))
        .collect();
    let mut out = BufWriter::with_capacity(1 << 20, scratch.file()?);
    while let Some(std::cmp::Reverse((_, run, at))) = heap.pop() {
        out.write_all(bytemuck::bytes_of(&runs[run][at])).map_err(|e| scratch.error(e))?;
        if let Some(next) = runs[run].get(at + 1) {
            heap.push(std::cmp::Reverse((key(next), run, at + 1)));
        }
    }
    map(scratch, out)
}

fn map<T>(scratch: &SpillScratch, file: BufWriter<File>) -> Result<RecordBuffer<T>, SpillError> {
    let file = file.into_inner().map_err(|e| scratch.error(e.into_error()))?;
    Ok(RecordBuffer::Mapped(map_read_only(&file).map_err(|e| scratch.error(e))?, PhantomData))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn sorted_alike_in_memory_and_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let small = SpillScratch { folder: Arc::new(folder.path().to_owned()), share: 64, memory: 1 << 20 };
        let large = SpillScratch::new(folder.path(), 1 << 30);
        let mut random = 1_u64;
        let records: Vec<[u64; 2]> = (0..1000)
            .map(|i| {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                [random >> 58, i]
            })
            .collect();
        let sorted = |scratch: &SpillScratch| {
            let mut pile = SpillBuffer::new(scratch);
            records.chunks(7).for_each(|c| pile.extend(c).unwrap());
            pile.sort(|r| *r).unwrap().as_slice().to_vec()
        };
        let mut expected = records.clone();
        expected.sort_unstable();
        assert_eq!(sorted(&large), expected);
        assert_eq!(sorted(&small), expected);
    }
}
