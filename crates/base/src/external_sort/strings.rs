//! Sorts strings that may exceed the memory. Each has a number, and they are returned in byte order.

use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use rayon::prelude::*;

use super::{SpillError, SpillScratch};

#[derive(Clone, Copy)]
struct StringEntry {
    /// The first eight bytes, big-endian: most comparisons end here.
    prefix: u64,
    start: usize,
    len: u32,
    number: u64,
}

/// Collects strings with their numbers.
pub struct StringSorter {
    scratch: SpillScratch,
    arena: Vec<u8>,
    entries: Vec<StringEntry>,
    runs: Vec<File>,
}

impl StringSorter {
    /// Creates an empty sorter.
    pub fn new(scratch: &SpillScratch) -> StringSorter {
        StringSorter { scratch: scratch.clone(), arena: Vec::new(), entries: Vec::new(), runs: Vec::new() }
    }

    /// Adds a string.
    pub fn push(&mut self, text: &[u8], number: u64) -> Result<(), SpillError> {
        let mut prefix = [0; 8];
        let n = text.len().min(8);
        prefix[..n].copy_from_slice(&text[..n]);
        let entry =
            StringEntry { prefix: u64::from_be_bytes(prefix), start: self.arena.len(), len: text.len() as u32, number };
        self.arena.extend_from_slice(text);
        self.entries.push(entry);
        if self.arena.len() + self.entries.len() * size_of::<StringEntry>() >= self.scratch.share() {
            self.spill()?;
        }
        Ok(())
    }

    fn sort(&mut self) {
        let arena = &self.arena;
        self.entries.par_sort_unstable_by(|a, b| {
            a.prefix.cmp(&b.prefix).then_with(|| text(arena, a).cmp(text(arena, b))).then(a.number.cmp(&b.number))
        });
    }

    fn spill(&mut self) -> Result<(), SpillError> {
        self.sort();
        let error = |e| self.scratch.error(e);
        let mut file = BufWriter::with_capacity(1 << 20, self.scratch.file()?);
        for entry in &self.entries {
            file.write_all(&entry.len.to_le_bytes()).map_err(error)?;
            file.write_all(&entry.number.to_le_bytes()).map_err(error)?;
            file.write_all(text(&self.arena, entry)).map_err(error)?;
        }
        self.runs.push(file.into_inner().map_err(|e| self.scratch.error(e.into_error()))?);
        self.entries.clear();
        self.arena.clear();
        Ok(())
    }

    /// Hands every string with its number to `each`, in byte order, equal strings by number.
    pub fn drain<E: From<SpillError>>(mut self, mut each: impl FnMut(&[u8], u64) -> Result<(), E>) -> Result<(), E> {
        if self.runs.is_empty() {
            self.sort();
            return self.entries.iter().try_for_each(|e| each(text(&self.arena, e), e.number));
        }
        self.spill()?;
        let scratch = self.scratch.clone();
        let error = |e| scratch.error(e);
        let mut runs = Vec::new();
        for mut file in self.runs {
            file.seek(SeekFrom::Start(0)).map_err(error)?;
            runs.push(BufReader::with_capacity(1 << 16, file));
        }
        let mut heap = BinaryHeap::new();
        for (i, run) in runs.iter_mut().enumerate() {
            if let Some((text, number)) = next(run).map_err(error)? {
                heap.push(std::cmp::Reverse((text, number, i)));
            }
        }
        while let Some(std::cmp::Reverse((text, number, i))) = heap.pop() {
            each(&text, number)?;
            if let Some((text, number)) = next(&mut runs[i]).map_err(error)? {
                heap.push(std::cmp::Reverse((text, number, i)));
            }
        }
        Ok(())
    }
}

fn text<'a>(arena: &'a [u8], entry: &StringEntry) -> &'a [u8] {
    &arena[entry.start..entry.start + entry.len as usize]
}

fn next(run: &mut BufReader<File>) -> std::io::Result<Option<(Vec<u8>, u64)>> {
    let mut len = [0; 4];
    match run.read_exact(&mut len) {
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let mut number = [0; 8];
    run.read_exact(&mut number)?;
    let mut text = vec![0; u32::from_le_bytes(len) as usize];
    run.read_exact(&mut text)?;
    Ok(Some((text, u64::from_le_bytes(number))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_order_in_memory_and_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let words: Vec<String> = (0..30_000_u64)
            .map(|i| format!("{}-{}", i.wrapping_mul(7919) % 977, "x".repeat((i % 40) as usize)))
            .collect();
        let mut results = Vec::new();
        for memory in [1, 1 << 30] {
            let mut sorter = StringSorter::new(&SpillScratch::new(folder.path(), memory));
            for (i, word) in words.iter().enumerate() {
                sorter.push(word.as_bytes(), i as u64).unwrap();
            }
            let mut out = Vec::new();
            sorter
                .drain(|text, number| {
                    out.push((text.to_vec(), number));
                    Ok::<_, SpillError>(())
                })
                .unwrap();
            results.push(out);
        }
        let mut expected: Vec<_> = words.iter().enumerate().map(|(i, w)| (w.clone().into_bytes(), i as u64)).collect();
        expected.sort();
        assert_eq!(results[0], expected);
        assert_eq!(results[1], expected);
    }
}
