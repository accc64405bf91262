//! Builds the index of names by a scan of all tags and by sorts with total keys that spill to temporary files.

use std::sync::Arc;

use rayon::prelude::*;

use super::rank::{self, RANKS};
use super::{NameTarget, named_by};
use crate::build::ElementBuildError;
use crate::name_table::CountOf;
use crate::{ElementType, Osm, PairId, Remembered, ValuePage, layout};
use terrapin_base::LoadProgress;
use terrapin_base::codec::{ByteReader, put_delta};
use terrapin_base::external_sort::{SortRecord, Sortable, Sorter, SpillScratch, StringSorter};
use terrapin_base::words::{WORDS, words};
use terrapin_snapshot::{ColumnWriter, SnapshotWriter, write_words};

/// Number of pages whose tags are read before the collected names are put into the sort.
const AT_ONCE: usize = 256;
/// Numbers that are read of a sort at once.
const WINDOW: usize = 1 << 16;
/// Scores: four times the rank, plus two if no Wikipedia or Wikidata article is known. Names of streets in addresses
/// come last.
const STREETS: u8 = 200;
/// Scores are less.
const SCORES: usize = 256;

/// Several numbers in one sort key, the first of them in the highest bits.
#[derive(Debug, Clone, Copy, Default)]
struct PackedNumber(u64);

impl SortRecord for PackedNumber {
    fn write(&self, previous: &PackedNumber, out: &mut Vec<u8>) {
        put_delta(out, &mut (previous.0 as i64), self.0 as i64);
    }

    fn read(reader: &mut ByteReader<'_>, previous: &PackedNumber) -> Option<PackedNumber> {
        reader.get_delta(&mut (previous.0 as i64)).map(|value| PackedNumber(value as u64))
    }
}

impl Sortable for PackedNumber {
    type Key = u64;

    fn key(&self) -> u64 {
        self.0
    }
}

/// The tags that names and ranks depend on.
struct NameTags {
    /// The tags that are names, ascending.
    names: Vec<(std::ops::Range<PairId>, NameTarget)>,
    /// The tags with a rank, ascending, with their place in [`RANKS`].
    ranks: Vec<(PairId, usize)>,
    /// The tags of administrative levels, ascending.
    levels: Vec<(PairId, u8)>,
    /// `boundary=administrative`.
    border: Option<PairId>,
    /// The tags of Wikipedia and Wikidata articles.
    articles: Vec<std::ops::Range<PairId>>,
}

impl NameTags {
    fn of(osm: &Osm) -> NameTags {
        let names = (0..osm.key_count()).filter_map(|key| Some((osm.pairs_of(key), named_by(osm.key_name(key))?)));
        let mut ranks: Vec<(PairId, usize)> =
            (0..).zip(RANKS).filter_map(|(at, (key, value, _))| Some((osm.pair(key, value)?, at))).collect();
        ranks.sort_unstable();
        let levels =
            (0..=rank::MOST_LEVEL).filter_map(|level| Some((osm.pair("admin_level", &level.to_string())?, level)));
        let mut levels: Vec<(PairId, u8)> = levels.collect();
        levels.sort_unstable();
        let articles = ["wikidata", "wikipedia"].into_iter().filter_map(|key| Some(osm.pairs_of(osm.key(key)?)));
        NameTags {
            names: names.collect(),
            ranks,
            levels,
            border: osm.pair("boundary", "administrative"),
            articles: articles.collect(),
        }
    }

    /// Returns what a tag names.
    fn names(&self, pair: PairId) -> Option<NameTarget> {
        let at = self.names.partition_point(|(range, _)| range.end <= pair);
        self.names.get(at).filter(|(range, _)| range.contains(&pair)).map(|(_, names)| *names)
    }

    /// Returns the score of an element with these tags.
    fn score(&self, tags: &[PairId]) -> u8 {
        let level = || {
            let border = self.border.filter(|border| tags.contains(border));
            let level = |pair| self.levels.binary_search_by_key(pair, |level| level.0).ok().map(|at| self.levels[at].1);
            border.and_then(|_| tags.iter().find_map(level)).map(rank::of_level)
        };
        let ranked = || {
            let place = |pair| self.ranks.binary_search_by_key(pair, |rank| rank.0).ok().map(|at| self.ranks[at].1);
            tags.iter().filter_map(place).min().map(|place| RANKS[place].2)
        };
        let rank = level().or_else(ranked).unwrap_or(rank::LAST);
        let known = tags.iter().any(|pair| self.articles.iter().any(|range| range.contains(pair)));
        rank * 4 + if known { 0 } else { 2 }
    }
}

/// Writes the sections of the index of names over a snapshot's elements.
///
/// # Errors
/// Returns an error if the snapshot or a temporary file cannot be read or written.
pub fn write(
    osm: &Osm,
    scratch: &SpillScratch,
    writer: &mut SnapshotWriter,
    progress: &dyn LoadProgress,
) -> Result<(), ElementBuildError> {
    progress.phase("indexing names", 0);
    let tags = NameTags::of(osm);
    let numbered = numbered(osm, scored(osm, &tags, scratch)?, scratch)?;
    osm.check()?;
    let by_pair = write_names(numbered, scratch, writer)?;
    let words = words_of(osm, by_pair, scratch)?;
    osm.check()?;
    write_words(words, layout::NAME_WORDS, scratch, writer)
}

/// Collects every tag that is a name, 32 bits, with the scores of its elements, 8 bits.
fn scored(osm: &Osm, tags: &NameTags, scratch: &SpillScratch) -> Result<Sorter<PackedNumber>, ElementBuildError> {
    let mut sorter = Sorter::new(scratch);
    for kind in ElementType::ALL {
        let pages: Vec<u32> = (0..osm.page_count(kind)).collect();
        for pages in pages.chunks(AT_ONCE) {
            let found: Vec<Vec<PackedNumber>> =
                pages.par_iter().map(|&page| scored_on(osm, tags, kind, page)).collect();
            found.iter().try_for_each(|found| sorter.extend(found))?;
        }
    }
    Ok(sorter)
}

fn scored_on(osm: &Osm, tags: &NameTags, kind: ElementType, page: u32) -> Vec<PackedNumber> {
    let all = osm.tag_page(kind, page);
    let slots = osm.count(kind).saturating_sub(u64::from(page) * osm.page_size(kind)).min(osm.page_size(kind));
    let mut found: Vec<PackedNumber> = Vec::new();
    for slot in 0..slots as usize {
        let own = all.tags(slot);
        let mut score = None;
        for &pair in own {
            let score = match tags.names(pair) {
                None => continue,
                Some(NameTarget::Itself) => *score.get_or_insert_with(|| tags.score(own)),
                Some(NameTarget::Street) => STREETS,
            };
            found.push(PackedNumber(u64::from(pair) << 8 | u64::from(score)));
        }
    }
    found.sort_unstable_by_key(PackedNumber::key);
    found.dedup_by_key(|packed| packed.0 >> 8);
    found
}

/// Collects every tag that is a name once: its score, 8 bits, its id, 32 bits, and the number of its words, 8 bits.
fn numbered(
    osm: &Osm,
    scored: Sorter<PackedNumber>,
    scratch: &SpillScratch,
) -> Result<Sorter<PackedNumber>, ElementBuildError> {
    let (scored, mut numbered) = (scored.finish()?, Sorter::new(scratch));
    let (mut stream, mut values, mut last) = (scored.stream(), Remembered::new(|page| osm.value_page(page)), None);
    loop {
        let some = stream.take(WINDOW)?.records;
        if some.is_empty() {
            return Ok(numbered);
        }
        let mut found = Vec::new();
        for &PackedNumber(packed) in some {
            let pair = packed >> 8;
            // The first has the lowest score.
            if last.replace(pair) == Some(pair) {
                continue;
            }
            let count = folded(&mut values, pair as PairId).iter().map(Vec::len).min().unwrap_or_default();
            if count > 0 {
                found.push(PackedNumber((packed & 0xff) << 40 | pair << 8 | count as u64));
            }
        }
        numbered.extend(&found)?;
    }
}

/// Returns the words of each name in a tag's value; several names are separated by semicolons.
fn folded<F: FnMut(u32) -> Arc<ValuePage>>(values: &mut Remembered<ValuePage, F>, pair: PairId) -> Vec<Vec<String>> {
    let per = Osm::VALUES_ON_PAGE as PairId;
    let value = values.get(pair / per).get((pair % per) as usize);
    value.split(';').map(words).filter(|words| !words.is_empty()).take(WORDS).collect()
}

/// Writes the tags by their numbers; with these numbers, 32 bits, behind them, 32.
fn write_names(
    numbered: Sorter<PackedNumber>,
    scratch: &SpillScratch,
    writer: &mut SnapshotWriter,
) -> Result<Sorter<PackedNumber>, ElementBuildError> {
    let (numbered, mut by_pair) = (numbered.finish()?, Sorter::new(scratch));
    let mut column = ColumnWriter::begin(writer, layout::NAMES)?;
    let (mut stream, mut number) = (numbered.stream(), 0);
    let mut ends = [0; SCORES];
    loop {
        let some = stream.take(WINDOW)?.records;
        if some.is_empty() {
            break;
        }
        let mut found = Vec::with_capacity(some.len());
        for &PackedNumber(packed) in some {
            let (score, pair, count) = (packed >> 40, packed >> 8 & 0xffff_ffff, packed & 0xff);
            column.push(writer, CountOf::pack(pair, count))?;
            found.push(PackedNumber(pair << 32 | number));
            number += 1;
            ends[score as usize] = number;
        }
        by_pair.extend(&found)?;
    }
    column.finish(writer)?;
    for score in 1..SCORES {
        ends[score] = ends[score].max(ends[score - 1]);
    }
    ColumnWriter::write(writer, layout::NAME_SCORES, ends)?;
    Ok(by_pair)
}

/// Collects every word with the numbers of the names that contain it.
fn words_of(
    osm: &Osm,
    by_pair: Sorter<PackedNumber>,
    scratch: &SpillScratch,
) -> Result<StringSorter, ElementBuildError> {
    let (by_pair, mut sorter) = (by_pair.finish()?, StringSorter::new(scratch));
    let (mut stream, mut values) = (by_pair.stream(), Remembered::new(|page| osm.value_page(page)));
    loop {
        let some = stream.take(WINDOW)?.records;
        if some.is_empty() {
            return Ok(sorter);
        }
        for &PackedNumber(packed) in some {
            let mut all: Vec<String> = folded(&mut values, (packed >> 32) as PairId).into_iter().flatten().collect();
            all.sort_unstable();
            all.dedup();
            all.iter().try_for_each(|word| sorter.push(word.as_bytes(), packed & 0xffff_ffff))?;
        }
    }
}
