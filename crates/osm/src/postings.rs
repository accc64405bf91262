//! Reads posting lists, either whole or only the part that a query needs. A long list is stored in blocks whose first
//! ordinals are known. Ordinals follow the Hilbert curve, therefore the elements of a region are in a few of the
//! blocks.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::layout::{BLOCK, Paged};
use super::page_cache::PageCacheKey;
use super::store::Osm;
use super::tags::get_block;
use super::types::{ElementType, Ordinal};
use terrapin_budget as budget;
use terrapin_snapshot::{Error, SectionColumn};

/// Minimum number of blocks for which a second thread is worthwhile.
const PARALLEL: usize = 16;
/// Blocks that are in hand at once.
const AT_ONCE: usize = 256;
/// Steps that reading a block costs in a query's budget.
const BLOCK_STEPS: usize = 64;

/// The elements of one type that have a tag or a key.
pub struct Postings<'a>(PostingList<'a>);

enum PostingList<'a> {
    Held(Arc<[Ordinal]>),
    Blocks(PostingBlocks<'a>),
}

/// The part of a list to read.
#[derive(Debug, Clone, Copy)]
pub enum PostingScope<'a> {
    /// All of it.
    All,
    /// Ordinals in these ranges, which ascend and do not overlap.
    Within(&'a [Range<Ordinal>]),
    /// Ordinals that are also in this list, which ascends.
    Among(&'a [Ordinal]),
}

impl<'a> Postings<'a> {
    /// Creates a list that is in memory.
    pub(super) fn held(list: Arc<[Ordinal]>) -> Postings<'a> {
        Postings(PostingList::Held(list))
    }

    /// Returns a list of `count` ordinals, stored in blocks from `first` on.
    pub(super) fn in_blocks(
        osm: &'a Osm,
        kind: ElementType,
        key: PageCacheKey,
        first: u32,
        count: u64,
    ) -> Postings<'a> {
        match PostingBlocks::of(osm, kind, key, first, count) {
            Some(blocks) => Postings(PostingList::Blocks(blocks)),
            None => Postings::held([].into()),
        }
    }

    /// Returns the length of the list.
    pub fn len(&self) -> u64 {
        match &self.0 {
            PostingList::Held(list) => list.len() as u64,
            PostingList::Blocks(blocks) => blocks.count,
        }
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all ordinals of the list, ascending.
    pub fn all(&self) -> Arc<[Ordinal]> {
        match &self.0 {
            PostingList::Held(list) => Arc::clone(list),
            PostingList::Blocks(blocks) => blocks.all(),
        }
    }

    /// Returns a part of the list, ascending.
    pub fn part(&self, scope: PostingScope<'_>) -> Arc<[Ordinal]> {
        match scope {
            PostingScope::All => self.all(),
            PostingScope::Within(ranges) => self.within(ranges).into(),
            PostingScope::Among(list) => self.among(list, true).into(),
        }
    }

    fn within(&self, ranges: &[Range<Ordinal>]) -> Vec<Ordinal> {
        match &self.0 {
            PostingList::Held(list) => {
                let mut found = Vec::new();
                add_within(list, ranges, &mut found);
                found
            }
            PostingList::Blocks(blocks) => blocks.within(ranges),
        }
    }

    /// Returns the ordinals of an ascending list that are in this one, or, if `wanted` is false, those that are not.
    pub fn among(&self, list: &[Ordinal], wanted: bool) -> Vec<Ordinal> {
        match &self.0 {
            PostingList::Held(held) => {
                let mut found = Vec::new();
                add_among(held, list, wanted, &mut found);
                found
            }
            PostingList::Blocks(blocks) => blocks.among(list, wanted),
        }
    }
}

/// Appends the ordinals of `list` that are in the ranges.
fn add_within(mut list: &[Ordinal], ranges: &[Range<Ordinal>], found: &mut Vec<Ordinal>) {
    for range in ranges {
        let Some((&first, &last)) = list.first().zip(list.last()) else { return };
        if range.end <= first {
            continue;
        }
        if range.start > last {
            return;
        }
        let start = list.partition_point(|&ordinal| ordinal < range.start);
        let end = start + list[start..].partition_point(|&ordinal| ordinal < range.end);
        found.extend_from_slice(&list[start..end]);
        list = &list[end..];
    }
}

/// Appends the ordinals of `list` that are in `held`, or, if `wanted` is false, those that are not.
fn add_among(mut held: &[Ordinal], list: &[Ordinal], wanted: bool, found: &mut Vec<Ordinal>) {
    for &ordinal in list {
        // Steps that double, then bisects: where the lists are alike the next one is near.
        let mut near = 1;
        while held.get(near).is_some_and(|&other| other < ordinal) {
            near *= 2;
        }
        let start = held[..near.min(held.len())].partition_point(|&other| other < ordinal);
        held = &held[start..];
        if (held.first() == Some(&ordinal)) == wanted {
            found.push(ordinal);
        }
    }
}

/// A list in blocks.
struct PostingBlocks<'a> {
    osm: &'a Osm,
    kind: ElementType,
    key: PageCacheKey,
    /// The first ordinals of all blocks.
    firsts: &'a SectionColumn,
    /// The list's first block and the one after its last.
    blocks: Range<u64>,
    count: u64,
}

impl<'a> PostingBlocks<'a> {
    fn of(osm: &'a Osm, kind: ElementType, key: PageCacheKey, first: u32, count: u64) -> Option<PostingBlocks<'a>> {
        let firsts = osm.block_firsts()?;
        let first = u64::from(first);
        let end = first.checked_add(count.div_ceil(BLOCK as u64)).filter(|&end| end <= firsts.len());
        // The number of elements is the upper limit for the length of a list.
        let Some(end) = end.filter(|_| count <= osm.count(kind)) else {
            firsts.report("a list goes beyond the last block");
            return None;
        };
        Some(PostingBlocks { osm, kind, key, firsts, blocks: first..end, count })
    }

    /// Returns the number of ordinals in a block.
    fn len(&self, block: u64) -> usize {
        self.count.saturating_sub((block - self.blocks.start) * BLOCK as u64).min(BLOCK as u64) as usize
    }

    /// Reads a block into `out`, which has its length.
    fn read(&self, block: u64, out: &mut [Ordinal]) -> Result<(), Error> {
        let (first, end) = (self.firsts.get(block), self.osm.count(self.kind));
        self.osm.decoded(Paged::Blocks, block as u32, |bytes| get_block(&bytes, first, end, out))
    }

    /// Returns a block from the cache, or reads it.
    fn block(&self, block: u64) -> Arc<[Ordinal]> {
        self.osm.list(PageCacheKey::Block(block as u32), self.kind, || {
            let mut list = vec![0; self.len(block)];
            self.read(block, &mut list).map(|()| list)
        })
    }

    fn all(&self) -> Arc<[Ordinal]> {
        if self.osm.keeps(self.count * size_of::<Ordinal>() as u64) {
            return self.osm.list(self.key, self.kind, || self.read_all());
        }
        self.osm.or_fault(self.read_all(), Vec::new).into()
    }

    fn read_all(&self) -> Result<Vec<Ordinal>, Error> {
        budget::charge(self.count.saturating_mul(size_of::<Ordinal>() as u64));
        let mut all = vec![0; self.count as usize];
        let current = budget::current();
        all.par_chunks_mut(BLOCK).enumerate().try_for_each(|(at, out)| {
            current.share(|| {
                budget::checkpoints(BLOCK_STEPS);
                self.read(self.blocks.start + at as u64, out)
            })
        })?;
        Ok(all)
    }

    /// Returns some blocks, each cached.
    fn some(&self, blocks: &[u64]) -> Vec<Arc<[Ordinal]>> {
        if blocks.len() < PARALLEL {
            return blocks.iter().map(|&block| self.block(block)).collect();
        }
        let current = budget::current();
        blocks.par_iter().map(|&block| current.share(|| self.block(block))).collect()
    }

    /// Returns the block that contains an ordinal if any block does. Searches from block `from` on, which is also the
    /// result for ordinals before it.
    fn with(&self, from: u64, ordinal: Ordinal) -> u64 {
        let after = self.firsts.lower_bound(from + 1, self.blocks.end, ordinal.saturating_add(1));
        after.max(from + 1) - 1
    }

    fn within(&self, ranges: &[Range<Ordinal>]) -> Vec<Ordinal> {
        let mut blocks: Vec<u64> = Vec::new();
        for range in ranges {
            let mut block = self.with(blocks.last().copied().unwrap_or(self.blocks.start), range.start);
            while block < self.blocks.end && self.firsts.get(block) < range.end {
                if blocks.last() != Some(&block) {
                    blocks.push(block);
                }
                block += 1;
            }
        }
        let mut found = Vec::new();
        let mut ranges = ranges;
        for list in blocks.chunks(AT_ONCE).flat_map(|some| self.some(some)) {
            let first = list.first().copied().unwrap_or_default();
            ranges = &ranges[ranges.partition_point(|range| range.end <= first)..];
            add_within(&list, ranges, &mut found);
        }
        found
    }

    fn among(&self, list: &[Ordinal], wanted: bool) -> Vec<Ordinal> {
        // The part of `list` that each block decides.
        let (mut blocks, mut parts) = (Vec::new(), Vec::new());
        let (mut rest, mut block) = (list, self.blocks.start);
        while let Some(&first) = rest.first() {
            block = self.with(block, first);
            let next = block + 1;
            let end = match next < self.blocks.end {
                true => rest.partition_point(|&ordinal| ordinal < self.firsts.get(next)),
                false => rest.len(),
            };
            let (part, others) = rest.split_at(end.max(1));
            blocks.push(block);
            parts.push(part);
            rest = others;
        }
        let mut found = Vec::new();
        let held = blocks.chunks(AT_ONCE).flat_map(|some| self.some(some));
        held.zip(parts).for_each(|(held, part)| add_among(&held, part, wanted, &mut found));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_lists() {
        let held = [2, 3, 5, 8, 13, 21, 34];
        let mut found = Vec::new();
        add_within(&held, &[0..3, 4..5, 8..14, 20..22, 40..50], &mut found);
        assert_eq!(found, [2, 8, 13, 21]);
        found.clear();
        add_among(&held, &[1, 2, 6, 8, 9, 34, 50], true, &mut found);
        assert_eq!(found, [2, 8, 34]);
        found.clear();
        add_among(&held, &[1, 2, 6, 8, 9, 34, 50], false, &mut found);
        assert_eq!(found, [1, 6, 9, 50]);
    }
}
