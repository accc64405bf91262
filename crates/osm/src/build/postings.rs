//! Writing posting lists: of pairs, and of keys whose pairs have many elements. Each is read from the sorted postings as
//! often as it is needed, and only lists of which one alone fills a page are ever whole in memory.

use std::collections::BTreeMap;

use rayon::prelude::*;
use terrapin_base::codec;
use terrapin_base::external_sort::{Scratch, Sorted, Sorter, Stream};
use terrapin_snapshot::{PageWriter, Writer};

use super::pages::compressed;
use super::records::{Bare, Posting};
use super::{BuildError, Context};
use crate::layout::{KEYS, LONG_LIST, LONG_LISTS, PAIRS_ON_PAGE, POSTINGS};
use crate::tags::{KeyList, KeyTable, put_list};
use crate::{Ordinal, PairId};

/// A key with fewer elements, or fewer values, needs no list of its own: the union of its pairs' lists is quick.
const KEY_LIST: u64 = 64;
/// Postings read at once.
const WINDOW: usize = 1 << 18;
/// Pages of pairs that are handled at once.
const PAGES: usize = 1024;

/// The postings of nodes, ways and relations.
type Postings = [Sorted<Posting>; 3];

/// A posting list that is too long for others' pages.
#[derive(Clone, Copy)]
struct LongList {
    page: u32,
    count: u64,
}

/// The posting lists that have a page of their own, by pair and type.
type LongLists = BTreeMap<(PairId, usize), LongList>;

/// Writes all posting lists and the table of keys.
pub fn write_postings(
    context: &Context<'_>,
    writer: &mut Writer,
    mut keys: KeyTable,
    postings: &Postings,
) -> Result<KeyTable, BuildError> {
    let mut long_pages = LongPages { pages: PageWriter::begin(writer, LONG_LISTS.0)?, written: 0 };
    let long = write_long_lists(context, writer, &mut long_pages, postings)?;
    keys.lists = write_key_lists(context, writer, &mut long_pages, &keys, postings)?;
    long_pages.pages.finish(writer)?;
    write_pair_lists(context, writer, &keys, postings, &long)?;

    let mut key_pages = PageWriter::begin(writer, KEYS.0)?;
    let bytes = bincode::serde::encode_to_vec(&keys, bincode::config::standard())
        .map_err(|e| terrapin_snapshot::Error::damaged(KEYS.0, e.to_string()))?;
    key_pages.push(writer, &compressed(&bytes, context.level)?)?;
    key_pages.finish(writer)?;
    Ok(keys)
}

/// The pages of long lists.
struct LongPages {
    pages: PageWriter,
    written: u32,
}

impl LongPages {
    /// Writes a page; its number.
    fn push(&mut self, writer: &mut Writer, frame: &[u8]) -> Result<u32, BuildError> {
        let page = self.written;
        self.pages.push(writer, frame)?;
        self.written = page.checked_add(1).ok_or(BuildError::TooMany("long posting lists"))?;
        Ok(page)
    }
}

/// A posting list while it is read: the bytes that it becomes.
struct Encoder {
    pair: PairId,
    count: u64,
    previous: Ordinal,
    bytes: Vec<u8>,
}

impl Encoder {
    fn new(pair: PairId) -> Encoder {
        Encoder { pair, count: 0, previous: 0, bytes: Vec::new() }
    }

    fn push(&mut self, ordinal: Ordinal) {
        codec::put(&mut self.bytes, ordinal - self.previous);
        self.previous = ordinal;
        self.count += 1;
    }
}

/// Writes the long lists of pairs, a page each, those of nodes first.
fn write_long_lists(
    context: &Context<'_>,
    writer: &mut Writer,
    pages: &mut LongPages,
    postings: &Postings,
) -> Result<LongLists, BuildError> {
    let mut long = LongLists::new();
    for (kind, postings) in postings.iter().enumerate() {
        let mut list = Encoder::new(0);
        let mut waiting = Vec::new();
        let mut stream = postings.stream();
        loop {
            let window = stream.take(WINDOW)?.records;
            for posting in window {
                if posting.pair != list.pair {
                    let ended = std::mem::replace(&mut list, Encoder::new(posting.pair));
                    waiting.extend((ended.count >= LONG_LIST as u64).then_some(ended));
                }
                list.push(posting.ordinal());
            }
            let ended = window.is_empty();
            if ended {
                let last = std::mem::replace(&mut list, Encoder::new(0));
                waiting.extend((last.count >= LONG_LIST as u64).then_some(last));
            }
            let frames: Vec<_> = waiting.par_iter().map(|list| compressed(&list.bytes, context.level)).collect();
            for (list, frame) in waiting.drain(..).zip(frames) {
                let page = pages.push(writer, &frame?)?;
                long.insert((list.pair, kind), LongList { page, count: list.count });
            }
            if ended {
                break;
            }
        }
    }
    Ok(long)
}

/// The elements of a type that have a key.
struct OfKey {
    key: usize,
    kind: usize,
    count: u64,
    /// Empty where the key needs no list.
    list: Vec<u8>,
}

/// Writes the lists of keys; where those of each key are.
fn write_key_lists(
    context: &Context<'_>,
    writer: &mut Writer,
    pages: &mut LongPages,
    keys: &KeyTable,
    postings: &Postings,
) -> Result<Vec<[KeyList; 3]>, BuildError> {
    let mut lists = vec![[KeyList::default(); 3]; keys.names.len()];
    let mut streams = postings.each_ref().map(Sorted::stream);
    let (mut waiting, mut bytes) = (Vec::new(), 0);
    for key in 0..keys.names.len() {
        for (kind, stream) in streams.iter_mut().enumerate() {
            let found = elements_of_key(context.scratch, keys, key, stream)?;
            let (count, list) = found;
            bytes += list.len();
            waiting.push(OfKey { key, kind, count, list });
        }
        if bytes >= context.scratch.share() / 4 || waiting.len() >= 3 << 12 || key + 1 == keys.names.len() {
            let frames: Vec<_> = waiting.par_iter().map(|of| compressed(&of.list, context.level)).collect();
            for (of, frame) in waiting.drain(..).zip(frames) {
                let list = &mut lists[of.key][of.kind];
                list.count = of.count;
                if !of.list.is_empty() {
                    list.page = Some(pages.push(writer, &frame?)?);
                }
            }
            bytes = 0;
        }
    }
    Ok(lists)
}

/// How many elements have a key, and their list where it is worth one. No element has a key twice, so nothing is counted
/// twice.
fn elements_of_key(
    scratch: &Scratch,
    keys: &KeyTable,
    key: usize,
    stream: &mut Stream<'_, Posting>,
) -> Result<(u64, Vec<u8>), BuildError> {
    let pairs = keys.first_pairs[key]..keys.first_pairs[key + 1];
    let mut ordinals = Sorter::new(scratch);
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
        return Ok((count, Vec::new()));
    }
    let ordinals = ordinals.finish()?;
    let (mut stream, mut list) = (ordinals.stream(), Encoder::new(0));
    loop {
        let window = stream.take(WINDOW)?.records;
        if window.is_empty() {
            return Ok((count, list.bytes));
        }
        window.iter().for_each(|ordinal| list.push(ordinal.0));
    }
}

/// Writes the lists of pairs, those of some pairs on a page.
fn write_pair_lists(
    context: &Context<'_>,
    writer: &mut Writer,
    keys: &KeyTable,
    postings: &Postings,
    long: &LongLists,
) -> Result<(), BuildError> {
    let pairs = keys.first_pairs.last().copied().unwrap_or_default();
    let firsts: Vec<PairId> = (0..pairs).step_by(PAIRS_ON_PAGE).collect();
    context.progress.phase("writing posting lists", firsts.len() as u64);
    let mut pages = PageWriter::begin(writer, POSTINGS.0)?;
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

/// The lists of some pairs by type, where those that are long are, too.
fn pair_lists(pairs: std::ops::Range<PairId>, short: &[Vec<Posting>; 3], long: &LongLists) -> Vec<u8> {
    let runs = short.each_ref().map(|list| of_pairs(list, pairs.clone()));
    let mut out = Vec::new();
    for pair in pairs {
        for (kind, run) in runs.iter().enumerate() {
            match long.get(&(pair, kind)) {
                Some(LongList { page, count }) => {
                    codec::put(&mut out, count << 1 | 1);
                    codec::put(&mut out, (*page).into());
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
