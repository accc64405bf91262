//! Numbering tags and writing their posting lists.

use std::collections::BTreeMap;

use super::BuildError;
use super::resolve::windows;
use crate::layout::{KEYS, LONG_LIST, LONG_LISTS, PAIRS_ON_PAGE, POSTINGS, VALUES};
use crate::tags::{KeyList, KeyTable, encode_values, put_list};
use crate::{Ordinal, PairId, codec};
use terrapin_base::Progress;
use terrapin_base::external_sort::StringSorter;
use terrapin_base::external_sort::{Records, Scratch, SpillBuffer};
use terrapin_snapshot::{PageWriter, Writer, compress};

/// A key with fewer elements, or fewer values, needs no list of its own: the union of its pairs' lists is quick.
const KEY_LIST: u64 = 64;

/// The numbers of the tags as the blocks numbered them → pairs.
pub struct PairNumbers(Records<u32>);

impl PairNumbers {
    /// The pair of a tag.
    pub fn get(&self, slot: u32) -> PairId {
        self.0.as_slice()[slot as usize]
    }
}

/// Writes the values and numbers the pairs.
pub fn write_values(
    writer: &mut Writer,
    scratch: &Scratch,
    strings: StringSorter,
    level: i32,
) -> Result<(KeyTable, PairNumbers), BuildError> {
    let mut pages = PageWriter::begin(writer, VALUES.0)?;
    let mut keys = KeyTable::default();
    let mut numbers: SpillBuffer<[u32; 2]> = SpillBuffer::new(scratch);
    let mut found: Vec<[u32; 2]> = Vec::new();
    let mut last: Option<Vec<u8>> = None;
    let mut pairs: u64 = 0;
    let mut values: Vec<String> = Vec::new();
    strings.drain(|text, slot| {
        if last.as_deref() != Some(text) {
            let split = text.iter().position(|&b| b == 0).unwrap_or(text.len());
            // The loader hands out UTF-8, and NUL splits it between characters: nothing is lost here.
            let key = String::from_utf8_lossy(&text[..split]);
            let value = String::from_utf8_lossy(text.get(split + 1..).unwrap_or_default());
            if values.len() == PAIRS_ON_PAGE {
                pages.push(writer, &page(&encode_values(values.iter().map(String::as_str)), level)?)?;
                values.clear();
            }
            if keys.names.last().is_none_or(|k| *k != key) {
                keys.names.push(key.into_owned());
                keys.first_pairs.push(pairs as PairId);
            }
            values.push(value.into_owned());
            pairs += 1;
            if pairs >= u64::from(PairId::MAX) {
                return Err(BuildError::TooMany("distinct tags"));
            }
            last = Some(text.to_vec());
        }
        found.push([slot as u32, (pairs - 1) as u32]);
        if found.len() == 1 << 14 {
            numbers.extend(&found)?;
            found.clear();
        }
        Ok(())
    })?;
    numbers.extend(&found)?;
    if !values.is_empty() {
        pages.push(writer, &page(&encode_values(values.iter().map(String::as_str)), level)?)?;
    }
    pages.finish(writer)?;
    keys.first_pairs.push(pairs as PairId);

    let mut by_slot: SpillBuffer<u32> = SpillBuffer::new(scratch);
    for window in numbers.sort(|n| n[0])?.as_slice().chunks(1 << 14) {
        by_slot.extend(&window.iter().map(|n| n[1]).collect::<Vec<_>>())?;
    }
    Ok((keys, PairNumbers(by_slot.seal()?)))
}

/// One element's tag: pair, then the ordinal's high and low half.
pub type Posting = [u32; 3];

/// The posting of a pair at an ordinal.
pub fn posting(pair: PairId, ordinal: Ordinal) -> Posting {
    [pair, (ordinal >> 32) as u32, ordinal as u32]
}

fn ordinal(posting: &Posting) -> Ordinal {
    u64::from(posting[1]) << 32 | u64::from(posting[2])
}

/// The postings of nodes, ways and relations, each sorted.
type Sorted<'p> = [&'p [Posting]; 3];

/// The pages of posting lists that are too long for others' pages, by pair and type.
type LongLists = BTreeMap<(PairId, usize), u32>;

/// Writes all posting lists and the table of keys.
pub fn write_postings(
    writer: &mut Writer,
    mut keys: KeyTable,
    postings: [SpillBuffer<Posting>; 3],
    level: i32,
    progress: &dyn Progress,
) -> Result<KeyTable, BuildError> {
    let [nodes, ways, relations] = postings;
    let sorted = [nodes.sort(|p| *p)?, ways.sort(|p| *p)?, relations.sort(|p| *p)?];
    let sorted = [sorted[0].as_slice(), sorted[1].as_slice(), sorted[2].as_slice()];

    let mut long_pages = PageWriter::begin(writer, LONG_LISTS.0)?;
    let long = write_long_lists(writer, &mut long_pages, sorted, level)?;
    keys.lists = write_key_lists(writer, &mut long_pages, long.len() as u32, &keys, sorted, level)?;
    long_pages.finish(writer)?;
    write_pair_lists(writer, &keys, sorted, &long, level, progress)?;

    let mut key_pages = PageWriter::begin(writer, KEYS.0)?;
    let bytes = bincode::serde::encode_to_vec(&keys, bincode::config::standard())
        .map_err(|e| terrapin_snapshot::Error::damaged(KEYS.0, e.to_string()))?;
    key_pages.push(writer, &page(&bytes, level)?)?;
    key_pages.finish(writer)?;
    Ok(keys)
}

/// Writes the long lists of pairs, a page each, from page 0 on.
fn write_long_lists(
    writer: &mut Writer,
    pages: &mut PageWriter,
    sorted: Sorted<'_>,
    level: i32,
) -> Result<LongLists, BuildError> {
    let mut long = LongLists::new();
    for (kind, list) in sorted.iter().enumerate() {
        for run in list.chunk_by(|a, b| a[0] == b[0]).filter(|run| run.len() >= LONG_LIST) {
            pages.push(writer, &page(&encode(run.iter().map(ordinal)), level)?)?;
            long.insert((run[0][0], kind), long.len() as u32);
        }
    }
    Ok(long)
}

/// Writes the lists of keys, which are pages from `next_page` on; where those of each key are.
fn write_key_lists(
    writer: &mut Writer,
    pages: &mut PageWriter,
    mut next_page: u32,
    keys: &KeyTable,
    sorted: Sorted<'_>,
    level: i32,
) -> Result<Vec<[KeyList; 3]>, BuildError> {
    let mut lists_of_keys = Vec::with_capacity(keys.names.len());
    let key_ids: Vec<usize> = (0..keys.names.len()).collect();
    windows(
        &key_ids,
        256,
        |_, &key| key_lists(keys, key, sorted, level),
        |lists| {
            let mut of_key = [KeyList::default(); 3];
            for (list, frame) in of_key.iter_mut().zip(lists?) {
                list.count = frame.0;
                if let Some(frame) = frame.1 {
                    pages.push(writer, &frame)?;
                    list.page = Some(next_page);
                    next_page += 1;
                }
            }
            lists_of_keys.push(of_key);
            Ok(())
        },
    )?;
    Ok(lists_of_keys)
}

/// Writes the lists of pairs, those of some pairs on a page.
fn write_pair_lists(
    writer: &mut Writer,
    keys: &KeyTable,
    sorted: Sorted<'_>,
    long: &LongLists,
    level: i32,
    progress: &dyn Progress,
) -> Result<(), BuildError> {
    let pairs = keys.first_pairs.last().copied().unwrap_or_default();
    let firsts: Vec<PairId> = (0..pairs).step_by(PAIRS_ON_PAGE).collect();
    progress.phase("writing posting lists", firsts.len() as u64);
    let mut pages = PageWriter::begin(writer, POSTINGS.0)?;
    windows(
        &firsts,
        1024,
        |_, &first| {
            let end = pairs.min(first + PAIRS_ON_PAGE as PairId);
            page(&pair_lists(first..end, sorted, long), level)
        },
        |frame| {
            progress.advance(1);
            Ok(pages.push(writer, &frame?)?)
        },
    )?;
    Ok(pages.finish(writer)?)
}

fn encode(ordinals: impl Iterator<Item = Ordinal>) -> Vec<u8> {
    let mut out = Vec::new();
    put_list(&mut out, ordinals);
    out
}

/// zstd only fails for want of memory.
pub fn page(content: &[u8], level: i32) -> Result<Vec<u8>, BuildError> {
    compress(content, level).map_err(|e| terrapin_snapshot::Error::damaged("compression", e.to_string()).into())
}

fn of_pairs(list: &[Posting], pairs: std::ops::Range<PairId>) -> &[Posting] {
    let start = list.partition_point(|p| p[0] < pairs.start);
    let len = list[start..].partition_point(|p| p[0] < pairs.end);
    &list[start..start + len]
}

type KeyFrames = [(u64, Option<Vec<u8>>); 3];

/// By type: how many elements have the key, and their list where it is worth one.
fn key_lists(keys: &KeyTable, key: usize, sorted: [&[Posting]; 3], level: i32) -> Result<KeyFrames, BuildError> {
    let pairs = keys.first_pairs[key]..keys.first_pairs[key + 1];
    let mut frames = KeyFrames::default();
    for (frame, list) in frames.iter_mut().zip(sorted) {
        let run = of_pairs(list, pairs.clone());
        // No element has a key twice, so nothing is counted twice.
        frame.0 = run.len() as u64;
        if pairs.len() > 1 && frame.0 >= KEY_LIST {
            let mut ordinals: Vec<Ordinal> = run.iter().map(ordinal).collect();
            ordinals.sort_unstable();
            frame.1 = Some(page(&encode(ordinals.into_iter()), level)?);
        }
    }
    Ok(frames)
}

fn pair_lists(
    pairs: std::ops::Range<PairId>,
    sorted: [&[Posting]; 3],
    long: &BTreeMap<(PairId, usize), u32>,
) -> Vec<u8> {
    let runs = sorted.map(|list| of_pairs(list, pairs.clone()));
    let mut out = Vec::new();
    for pair in pairs {
        for (kind, run) in runs.iter().enumerate() {
            let list = of_pairs(run, pair..pair + 1);
            let count = (list.len() as u64) << 1;
            match long.get(&(pair, kind)) {
                Some(&page) => {
                    codec::put(&mut out, count | 1);
                    codec::put(&mut out, page.into());
                }
                None => {
                    codec::put(&mut out, count);
                    put_list(&mut out, list.iter().map(ordinal));
                }
            }
        }
    }
    out
}
