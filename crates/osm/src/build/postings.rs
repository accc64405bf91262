//! Writes posting lists of pairs, and of keys whose pairs have many elements. Each list is read from the sorted
//! postings as often as needed. No long list is ever in memory as a whole: it is written block by block.

use std::collections::BTreeMap;

use rayon::prelude::*;
use terrapin_base::codec;
use terrapin_base::external_sort::{Sorted, SortedStream, Sorter};
use terrapin_snapshot::{ColumnWriter, PageWriter, SnapshotWriter};

use super::pages::compressed;
use super::records::{Bare, Posting};
use super::{BuildContext, ElementBuildError};
use crate::layout::{BLOCK, BLOCK_FIRSTS, LONG_LIST, PAIRS_ON_PAGE, Paged};
use crate::tags::{KeyList, KeyTable, put_block, put_list};
use crate::{Ordinal, PairId};

/// A key with fewer elements, or fewer values, needs no list of its own: the union of its pairs' lists is quick.
const KEY_LIST: u64 = 64;
/// Postings read at once.
const WINDOW: usize = 1 << 18;
/// Pages of pairs that are handled at once.
const PAGES: usize = 1024;
/// Blocks that are compressed at once.
const BLOCKS: usize = 256;

/// The postings of nodes, ways and relations.
type Postings = [Sorted<Posting>; 3];

/// A posting list that is too long for others' pages.
#[derive(Clone, Copy)]
struct LongList {
    /// Its first block.
    block: u32,
    count: u64,
}

/// The posting lists that are in blocks, by pair and type.
type LongLists = BTreeMap<(PairId, usize), LongList>;

/// Writes all posting lists; gives the table of keys with where theirs are.
pub fn write_postings(
    context: &BuildContext<'_>,
    writer: &mut SnapshotWriter,
    mut keys: KeyTable,
    postings: &Postings,
) -> Result<KeyTable, ElementBuildError> {
    let pages = PageWriter::begin(writer, Paged::Blocks.name())?;
    let mut blocks = PostingBlockWriter { context, writer, pages, firsts: Vec::new(), waiting: Vec::new() };
    let long = write_long_lists(&mut blocks, postings)?;
    keys.lists = write_key_lists(&mut blocks, &keys, postings)?;
    blocks.finish()?;
    write_pair_lists(context, writer, &keys, postings, &long)?;
    Ok(keys)
}

/// Writes the blocks of long lists.
struct PostingBlockWriter<'a> {
    context: &'a BuildContext<'a>,
    writer: &'a mut SnapshotWriter,
    pages: PageWriter,
    /// The first ordinal of each block: 30 MB where the planet's are.
    firsts: Vec<Ordinal>,
    /// Blocks that are still to be compressed.
    waiting: Vec<Vec<Ordinal>>,
}

impl PostingBlockWriter<'_> {
    /// Returns the number of the next block.
    fn next(&self) -> Result<u32, ElementBuildError> {
        u32::try_from(self.firsts.len()).map_err(|_| ElementBuildError::TooMany("blocks of posting lists"))
    }

    /// Adds a block, which has an ordinal.
    fn push(&mut self, block: Vec<Ordinal>) -> Result<(), ElementBuildError> {
        self.firsts.extend(block.first());
        self.waiting.push(block);
        if self.waiting.len() == BLOCKS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), ElementBuildError> {
        let frame = |block: &Vec<Ordinal>| {
            let mut content = Vec::with_capacity(block.len() * 2);
            put_block(&mut content, block);
            compressed(&content, self.context.level)
        };
        let frames: Vec<_> = self.waiting.par_iter().map(frame).collect();
        self.waiting.clear();
        frames.into_iter().try_for_each(|frame| Ok(self.pages.push(self.writer, &frame?)?))
    }

    fn finish(mut self) -> Result<(), ElementBuildError> {
        self.flush()?;
        self.pages.finish(self.writer)?;
        Ok(ColumnWriter::write(self.writer, BLOCK_FIRSTS, self.firsts)?)
    }
}

/// A list on its way into blocks.
struct LongWriter {
    /// Its first block.
    first: u32,
    count: u64,
    /// Ordinals that are not in a block yet.
    rest: Vec<Ordinal>,
    /// Shorter lists are not written.
    least: u64,
}

impl LongWriter {
    fn begin(blocks: &PostingBlockWriter<'_>, least: u64) -> Result<LongWriter, ElementBuildError> {
        Ok(LongWriter { first: blocks.next()?, count: 0, rest: Vec::new(), least })
    }

    fn push(&mut self, blocks: &mut PostingBlockWriter<'_>, ordinal: Ordinal) -> Result<(), ElementBuildError> {
        if self.rest.len() == BLOCK {
            blocks.push(std::mem::take(&mut self.rest))?;
        }
        self.rest.push(ordinal);
        self.count += 1;
        Ok(())
    }

    /// Returns the number of ordinals, and the first block of the list if it was written.
    fn finish(self, blocks: &mut PostingBlockWriter<'_>) -> Result<(u64, Option<u32>), ElementBuildError> {
        if self.count < self.least {
            return Ok((self.count, None));
        }
        if !self.rest.is_empty() {
            blocks.push(self.rest)?;
        }
        Ok((self.count, Some(self.first)))
    }
}

/// Writes the long lists of pairs, those of nodes first.
fn write_long_lists(blocks: &mut PostingBlockWriter<'_>, postings: &Postings) -> Result<LongLists, ElementBuildError> {
    let mut long = LongLists::new();
    for (kind, postings) in postings.iter().enumerate() {
        let begin = |blocks: &PostingBlockWriter<'_>| LongWriter::begin(blocks, LONG_LIST as u64);
        let (mut pair, mut list) = (0, begin(blocks)?);
        let mut end = |pair, list: LongWriter, blocks: &mut PostingBlockWriter<'_>| {
            if let (count, Some(block)) = list.finish(blocks)? {
                long.insert((pair, kind), LongList { block, count });
            }
            Ok::<_, ElementBuildError>(())
        };
        let mut stream = postings.stream();
        loop {
            let window = stream.take(WINDOW)?.records;
            for posting in window {
                if posting.pair != pair {
                    end(pair, list, blocks)?;
                    (pair, list) = (posting.pair, begin(blocks)?);
                }
                list.push(blocks, posting.ordinal())?;
            }
            if window.is_empty() {
                end(pair, list, blocks)?;
                break;
            }
        }
    }
    Ok(long)
}

/// Writes the lists of keys; where those of each key are.
fn write_key_lists(
    blocks: &mut PostingBlockWriter<'_>,
    keys: &KeyTable,
    postings: &Postings,
) -> Result<Vec<[KeyList; 3]>, ElementBuildError> {
    let mut lists = vec![[KeyList::default(); 3]; keys.names.len()];
    let mut streams = postings.each_ref().map(Sorted::stream);
    for (key, lists) in lists.iter_mut().enumerate() {
        for (list, stream) in lists.iter_mut().zip(&mut streams) {
            *list = write_key_list(blocks, keys, key, stream)?;
        }
    }
    Ok(lists)
}

/// Writes the number of elements with a key, and their list if it is long enough to be worthwhile. No element has a key
/// twice, therefore none is counted twice.
fn write_key_list(
    blocks: &mut PostingBlockWriter<'_>,
    keys: &KeyTable,
    key: usize,
    stream: &mut SortedStream<'_, Posting>,
) -> Result<KeyList, ElementBuildError> {
    let pairs = keys.first_pairs[key]..keys.first_pairs[key + 1];
    let mut ordinals = Sorter::new(blocks.context.scratch);
    let mut count = 0;
    loop {
        let window = stream.take_while(WINDOW, |posting| posting.pair < pairs.end)?.records;
        if window.is_empty() {
            break;
        }
        count += window.len() as u64;
        if pairs.len() > 1 {
            ordinals.extend(&window.iter().map(|posting| Bare(posting.ordinal())).collect::<Vec<_>>())?;
        }
    }
    if ordinals.len() < KEY_LIST {
        return Ok(KeyList { count, place: None });
    }
    let ordinals = ordinals.finish()?;
    let (mut stream, mut list) = (ordinals.stream(), LongWriter::begin(blocks, KEY_LIST)?);
    loop {
        let window = stream.take(WINDOW)?.records;
        if window.is_empty() {
            let (count, place) = list.finish(blocks)?;
            return Ok(KeyList { count, place });
        }
        window.iter().try_for_each(|ordinal| list.push(blocks, ordinal.0))?;
    }
}

/// Writes the lists of pairs, those of some pairs on a page.
fn write_pair_lists(
    context: &BuildContext<'_>,
    writer: &mut SnapshotWriter,
    keys: &KeyTable,
    postings: &Postings,
    long: &LongLists,
) -> Result<(), ElementBuildError> {
    let pairs = keys.first_pairs.last().copied().unwrap_or_default();
    let firsts: Vec<PairId> = (0..pairs).step_by(PAIRS_ON_PAGE).collect();
    context.progress.phase("writing posting lists", firsts.len() as u64);
    let mut pages = PageWriter::begin(writer, Paged::Postings.name())?;
    let mut streams = postings.each_ref().map(Sorted::stream);
    for firsts in firsts.chunks(PAGES) {
        let end = |first: PairId| pairs.min(first.saturating_add(PAIRS_ON_PAGE as PairId));
        let last = firsts.last().map_or(pairs, |&first| end(first));
        let mut short: [Vec<Posting>; 3] = Default::default();
        for (kind, (stream, short)) in streams.iter_mut().zip(&mut short).enumerate() {
            loop {
                let window = stream.take_while(WINDOW, |posting| posting.pair < last)?.records;
                if window.is_empty() {
                    break;
                }
                for same in window.chunk_by(|a, b| a.pair == b.pair) {
                    if !long.contains_key(&(same[0].pair, kind)) {
                        short.extend_from_slice(same);
                    }
                }
            }
        }
        let page = |&first: &PairId| compressed(&pair_lists(first..end(first), &short, long), context.level);
        let frames: Vec<_> = firsts.par_iter().map(page).collect();
        for frame in frames {
            context.progress.advance(1);
            pages.push(writer, &frame?)?;
        }
    }
    Ok(pages.finish(writer)?)
}

fn of_pairs(list: &[Posting], pairs: std::ops::Range<PairId>) -> &[Posting] {
    let start = list.partition_point(|p| p.pair < pairs.start);
    let len = list[start..].partition_point(|p| p.pair < pairs.end);
    &list[start..start + len]
}

/// Returns the lists of some pairs by type, including the entries for long lists.
fn pair_lists(pairs: std::ops::Range<PairId>, short: &[Vec<Posting>; 3], long: &LongLists) -> Vec<u8> {
    let runs = short.each_ref().map(|list| of_pairs(list, pairs.clone()));
    let mut out = Vec::new();
    for pair in pairs {
        for (kind, run) in runs.iter().enumerate() {
            match long.get(&(pair, kind)) {
                Some(LongList { block, count }) => {
                    codec::put(&mut out, count << 1 | 1);
                    codec::put(&mut out, (*block).into());
                }
                None => {
                    let list = of_pairs(run, pair..pair + 1);
                    codec::put(&mut out, (list.len() as u64) << 1);
                    put_list(&mut out, list.iter().map(Posting::ordinal));
                }
            }
        }
    }
    out
}
