//! Numbers the tags and writes their values.

use super::ElementBuildError;
use super::pages::compressed;
use super::records::NumberedTag;
use crate::PairId;
use crate::layout::{PAIRS_ON_PAGE, Paged};
use crate::tags::{KeyTable, encode_values};
use terrapin_base::external_sort::{RecordBuffer, Sorter, SpillBuffer, SpillScratch, StringSorter};
use terrapin_snapshot::{PageWriter, SnapshotWriter};

/// The pairs of the numbers that blocks gave to tags.
pub struct PairNumbers(RecordBuffer<PairId>);

impl PairNumbers {
    /// Creates an empty table.
    pub fn none(scratch: &SpillScratch) -> Result<PairNumbers, ElementBuildError> {
        Ok(PairNumbers(SpillBuffer::new(scratch).seal()?))
    }

    /// Returns the pairs of `count` consecutive numbers, beginning with `first`.
    pub fn range(&self, first: u64, count: u32) -> Vec<PairId> {
        self.0.as_slice()[first as usize..first as usize + count as usize].to_vec()
    }
}

/// Writes the values and numbers the pairs.
pub fn write_values(
    writer: &mut SnapshotWriter,
    scratch: &SpillScratch,
    strings: StringSorter,
    level: i32,
) -> Result<(KeyTable, PairNumbers), ElementBuildError> {
    let mut pages = PageWriter::begin(writer, Paged::Values.name())?;
    let mut keys = KeyTable::default();
    let mut numbers = Sorter::new(scratch);
    let mut found = Vec::new();
    let mut last: Option<Vec<u8>> = None;
    let mut pairs: u64 = 0;
    let mut values: Vec<String> = Vec::new();
    strings.drain(|text, slot| {
        if last.as_deref() != Some(text) {
            let split = text.iter().position(|&b| b == 0).unwrap_or(text.len());
            // The loader returns valid UTF-8, and NUL splits it between characters: the lossy conversion changes
            // nothing.
            let key = String::from_utf8_lossy(&text[..split]);
            let value = String::from_utf8_lossy(text.get(split + 1..).unwrap_or_default());
            if values.len() == PAIRS_ON_PAGE {
                pages.push(writer, &compressed(&encode_values(values.iter().map(String::as_str)), level)?)?;
                values.clear();
            }
            if keys.names.last().is_none_or(|k| *k != key) {
                keys.names.push(key.into_owned());
                keys.first_pairs.push(pairs as PairId);
            }
            values.push(value.into_owned());
            pairs += 1;
            if pairs >= u64::from(PairId::MAX) {
                return Err(ElementBuildError::TooMany("distinct tags"));
            }
            last = Some(text.to_vec());
        }
        found.push(NumberedTag { slot, pair: (pairs - 1) as PairId });
        if found.len() == 1 << 14 {
            numbers.extend(&found)?;
            found.clear();
        }
        Ok(())
    })?;
    numbers.extend(&found)?;
    if !values.is_empty() {
        pages.push(writer, &compressed(&encode_values(values.iter().map(String::as_str)), level)?)?;
    }
    pages.finish(writer)?;
    keys.first_pairs.push(pairs as PairId);

    let mut by_slot = SpillBuffer::new(scratch);
    let numbers = numbers.finish()?;
    let mut numbers = numbers.stream();
    loop {
        let window = numbers.take(1 << 16)?.records;
        if window.is_empty() {
            return Ok((keys, PairNumbers(by_slot.seal()?)));
        }
        by_slot.extend(&window.iter().map(|numbered| numbered.pair).collect::<Vec<_>>())?;
    }
}
