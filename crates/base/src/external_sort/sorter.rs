//! Sorts records that may exceed the memory. Runs that fill a share of the memory are sorted there and written to a
//! temporary file in blocks. They are merged on reading: the keys are cut into ranges that each contain about as many
//! records as a thread may have in memory. Several threads merge one range each, and the ranges are returned in order.
//! Within each run, reading is sequential, whatever the number of runs, and no record is written a second time.

use rayon::prelude::*;

use super::file::{FilePiece, Input, SpillOutput};
use super::rows::{RowsView, SortRecord, SortRows, decode, encode};
use super::{SpillError, SpillScratch};

/// Bytes of records that a block of a run holds, about, before they are encoded.
const BLOCK: usize = 1 << 16;
/// Bytes of records that a thread merges at a time: no more than this, ...
const MOST: usize = 32 << 20;
/// ... and no fewer than this many blocks of every run, since the first and the last are read twice.
const FEWEST_BLOCKS: usize = 8;

/// Bytes of records beyond which a run is expected to be a full one.
const GROWN: usize = 4 << 20;

/// A record that has a place in an order.
pub trait Sortable: SortRecord {
    /// The sort key. Records with equal keys must be equal in every field; otherwise their order would depend on the
    /// amount of memory.
    type Key: Ord + Copy + Send + Sync;
    /// Returns the key.
    fn key(&self) -> Self::Key;
}

/// The first key of a block of a run, and where it is.
struct RunBlock<K> {
    first: K,
    piece: FilePiece,
}

/// Collects records.
pub struct Sorter<T: Sortable> {
    scratch: SpillScratch,
    rows: SortRows<T>,
    output: Option<SpillOutput>,
    runs: Vec<Vec<RunBlock<T::Key>>>,
    len: u64,
}

impl<T: Sortable> Sorter<T> {
    /// Creates an empty sorter.
    pub fn new(scratch: &SpillScratch) -> Sorter<T> {
        Sorter { scratch: scratch.clone(), rows: SortRows::default(), output: None, runs: Vec::new(), len: 0 }
    }

    /// Returns the number of records.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds copies of records with their payloads.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn append(&mut self, rows: RowsView<'_, T>) -> Result<(), SpillError> {
        self.rows.append(rows);
        self.added(rows.records.len())
    }

    /// Adds records without payloads.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn extend(&mut self, records: &[T]) -> Result<(), SpillError> {
        self.rows.records.extend_from_slice(records);
        self.added(records.len())
    }

    fn added(&mut self, records: usize) -> Result<(), SpillError> {
        self.len += records as u64;
        // Beyond this size, the capacity of a whole run is reserved at once. Unused capacity takes no memory, and
        // growing in steps would copy all records repeatedly.
        if self.rows.records.len() * size_of::<T>() >= GROWN {
            let most = self.scratch.share() / size_of::<T>().max(1);
            self.rows.records.reserve_exact(most.saturating_sub(self.rows.records.len()));
        }
        if self.rows.bytes() >= self.scratch.share() { self.spill() } else { Ok(()) }
    }

    fn sort(&mut self) {
        self.rows.records.par_sort_unstable_by_key(T::key);
    }

    fn spill(&mut self) -> Result<(), SpillError> {
        self.sort();
        let output = match &mut self.output {
            Some(output) => output,
            None => self.output.insert(SpillOutput::new(&self.scratch)?),
        };
        let mut run = Vec::new();
        let all = self.rows.view();
        for blocks in cuts(&self.rows).chunks(16 * rayon::current_num_threads()) {
            let encoded: Vec<_> = blocks
                .par_iter()
                .map(|block| (all.records[block.start].key(), encode(all.range(block.clone()))))
                .collect();
            for (first, bytes) in encoded {
                run.push(RunBlock { first, piece: output.append(&bytes)? });
            }
        }
        self.runs.push(run);
        self.rows.clear();
        Ok(())
    }

    /// Returns the records by ascending key.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn finish(mut self) -> Result<Sorted<T>, SpillError> {
        let records = self.len;
        if self.output.is_none() {
            self.sort();
            return Ok(Sorted { kept: SortedStorage::Memory(self.rows), records });
        }
        if !self.rows.records.is_empty() {
            self.spill()?;
        }
        // The memory is the next one's.
        self.rows = SortRows::default();
        let Some(output) = self.output else { unreachable!("looked at above") };
        let share = self.scratch.share() / 2 / rayon::current_num_threads();
        let bounds = bounds(&self.runs, share.min(MOST));
        Ok(Sorted { kept: SortedStorage::Runs(Runs { input: output.finish()?, runs: self.runs, bounds }), records })
    }
}

/// Splits rows into blocks: ranges of records.
fn cuts<T: SortRecord>(rows: &SortRows<T>) -> Vec<std::ops::Range<usize>> {
    let (mut cuts, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (i, record) in rows.records.iter().enumerate() {
        bytes += size_of::<T>() + record.span().len as usize;
        if bytes >= BLOCK {
            cuts.push(start..i + 1);
            (start, bytes) = (i + 1, 0);
        }
    }
    if start < rows.records.len() {
        cuts.push(start..rows.records.len());
    }
    cuts
}

/// Returns the keys that cut all runs into ranges of about `bytes` bytes.
fn bounds<K: Ord + Copy>(runs: &[Vec<RunBlock<K>>], bytes: usize) -> Vec<K> {
    let blocks = (bytes / BLOCK).max(FEWEST_BLOCKS * runs.len());
    let mut firsts: Vec<K> = runs.iter().flatten().map(|block| block.first).collect();
    firsts.sort_unstable();
    let mut bounds: Vec<K> = firsts.iter().copied().step_by(blocks).skip(1).collect();
    bounds.dedup();
    bounds
}

/// Sorted records.
pub struct Sorted<T: Sortable> {
    kept: SortedStorage<T>,
    records: u64,
}

enum SortedStorage<T: Sortable> {
    Memory(SortRows<T>),
    Runs(Runs<T>),
}

/// Memory that ranges are merged in, one after the other.
#[derive(Default)]
struct MergeBuffers<T> {
    rows: SortRows<T>,
    /// The bytes read from a run.
    bytes: Vec<u8>,
}

struct Runs<T: Sortable> {
    input: Input,
    runs: Vec<Vec<RunBlock<T::Key>>>,
    /// The boundaries between the ranges.
    bounds: Vec<T::Key>,
}

impl<T: Sortable> Runs<T> {
    /// Merges the records of a range of keys and returns them in the memory of `into`. Their payloads are scattered
    /// among other bytes.
    fn range(&self, number: usize, into: MergeBuffers<T>) -> Result<MergeBuffers<T>, SpillError> {
        let low = number.checked_sub(1).map(|n| self.bounds[n]);
        let high = self.bounds.get(number).copied();
        let MergeBuffers { mut rows, mut bytes } = into;
        rows.clear();
        for run in &self.runs {
            // The last block that begins at or below the range may reach into it.
            let start = low.map_or(0, |low| run.partition_point(|b| b.first <= low).saturating_sub(1));
            let end = high.map_or(run.len(), |high| run.partition_point(|b| b.first < high));
            let Some(blocks) = run.get(start..end).filter(|blocks| !blocks.is_empty()) else { continue };
            let (first, last) = (blocks[0].piece, blocks[blocks.len() - 1].piece);
            bytes.resize((last.offset + u64::from(last.len) - first.offset) as usize, 0);
            self.input.read(first.offset, &mut bytes)?;
            let begin = rows.records.len();
            for RunBlock { piece, .. } in blocks {
                let at = (piece.offset - first.offset) as usize;
                decode(&bytes[at..at + piece.len as usize], &mut rows).ok_or_else(|| self.input.damaged())?;
            }
            let inside = |keep: &dyn Fn(T::Key) -> bool| {
                begin + rows.records[begin..].partition_point(|record| keep(record.key()))
            };
            let until = high.map_or(rows.records.len(), |high| inside(&|key| key < high));
            let from = low.map_or(begin, |low| inside(&|key| key < low));
            rows.records.truncate(until);
            rows.records.drain(begin..from.min(until));
        }
        // A stable sort: it finds the runs and merges them.
        rows.records.sort_by_key(T::key);
        Ok(MergeBuffers { rows, bytes })
    }
}

impl<T: Sortable> Default for Sorted<T> {
    fn default() -> Sorted<T> {
        Sorted { kept: SortedStorage::Memory(SortRows::default()), records: 0 }
    }
}

impl<T: Sortable> Sorted<T> {
    /// Returns the number of records.
    pub fn len(&self) -> u64 {
        self.records
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Reads them from the first on.
    pub fn stream(&self) -> SortedStream<'_, T> {
        SortedStream {
            sorted: self,
            next: 0,
            ready: Vec::new().into_iter(),
            spare: Vec::new(),
            rows: SortRows::default(),
            at: 0,
        }
    }
}

/// Sorted records, read from the first to the last.
pub struct SortedStream<'s, T: Sortable> {
    sorted: &'s Sorted<T>,
    /// The next range to merge.
    next: usize,
    /// Ranges that are merged.
    ready: std::vec::IntoIter<MergeBuffers<T>>,
    /// Memory for those that come next.
    spare: Vec<MergeBuffers<T>>,
    /// The merged records, in one contiguous piece.
    rows: SortRows<T>,
    /// Number of records taken from the current rows.
    at: usize,
}

impl<T: Sortable> SortedStream<'_, T> {
    /// Returns the next `most` records; fewer only at the end.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn take(&mut self, most: usize) -> Result<RowsView<'_, T>, SpillError> {
        self.take_while(most, |_| true)
    }

    /// Returns the next records, at most `most`, for which `keep` is true. Once it is false, it must stay false for all
    /// later records.
    ///
    /// # Errors
    /// Returns an error if the temporary file fails.
    pub fn take_while(&mut self, most: usize, keep: impl Fn(&T) -> bool) -> Result<RowsView<'_, T>, SpillError> {
        let range = loop {
            let rest = &self.at_hand().records[self.at..];
            let (enough, rest) = (rest.len() >= most, &rest[..rest.len().min(most)]);
            let kept = rest.partition_point(&keep);
            if enough || kept < rest.len() || !self.merge_more()? {
                break self.at..self.at + kept;
            }
        };
        self.at = range.end;
        Ok(self.at_hand().view().range(range))
    }

    fn at_hand(&self) -> &SortRows<T> {
        match &self.sorted.kept {
            SortedStorage::Memory(rows) => rows,
            SortedStorage::Runs(_) => &self.rows,
        }
    }

    /// Adds a range to the current rows. Returns whether there was another one.
    fn merge_more(&mut self) -> Result<bool, SpillError> {
        let SortedStorage::Runs(runs) = &self.sorted.kept else { return Ok(false) };
        let mut more = match self.ready.next() {
            Some(more) => more,
            None => {
                let end = (self.next + rayon::current_num_threads()).min(runs.bounds.len() + 1);
                let ranges: Vec<_> = (self.next..end).map(|n| (n, self.spare.pop().unwrap_or_default())).collect();
                let merged = ranges.into_par_iter().map(|(number, into)| runs.range(number, into));
                (self.ready, self.next) = (merged.collect::<Result<Vec<_>, SpillError>>()?.into_iter(), end);
                match self.ready.next() {
                    Some(more) => more,
                    None => return Ok(false),
                }
            }
        };
        let rest = self.at..self.rows.records.len();
        self.at = 0;
        if rest.is_empty() {
            std::mem::swap(&mut self.rows, &mut more.rows);
        } else {
            let mut rows = self.spare.pop().unwrap_or_default();
            rows.rows.clear();
            rows.rows.append(self.rows.view().range(rest));
            rows.rows.append(more.rows.view());
            std::mem::swap(&mut self.rows, &mut rows.rows);
            self.spare.push(rows);
        }
        self.spare.push(more);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{ByteReader, put, put_signed};
    use crate::external_sort::{PayloadSpan, SpoolWriter};

    #[derive(Clone, Copy, Default, PartialEq, Debug)]
    struct TestWord {
        key: u64,
        number: u64,
        span: PayloadSpan,
    }

    impl SortRecord for TestWord {
        fn write(&self, previous: &TestWord, out: &mut Vec<u8>) {
            put_signed(out, self.key.wrapping_sub(previous.key) as i64);
            put(out, self.number);
        }
        fn read(reader: &mut ByteReader<'_>, previous: &TestWord) -> Option<TestWord> {
            let key = previous.key.wrapping_add(reader.get_signed()? as u64);
            Some(TestWord { key, number: reader.get()?, span: PayloadSpan::default() })
        }
        fn span(&self) -> PayloadSpan {
            self.span
        }
        fn set_span(&mut self, span: PayloadSpan) {
            self.span = span;
        }
    }

    impl Sortable for TestWord {
        type Key = (u64, u64);
        fn key(&self) -> (u64, u64) {
            (self.key, self.number)
        }
    }

    /// Numbers that repeat, some with payloads, in pieces of some dozens.
    fn words() -> Vec<SortRows<TestWord>> {
        let mut random = 1_u64;
        let mut pieces = Vec::new();
        for piece in 0..3000 {
            let mut rows = SortRows::default();
            for i in 0..70 {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let payload =
                    vec![random as u8; if random.is_multiple_of(5) { (random >> 40) as usize % 50 } else { 0 }];
                rows.push(
                    TestWord { key: random >> 52, number: piece * 70 + i, span: PayloadSpan::default() },
                    &payload,
                );
            }
            pieces.push(rows);
        }
        pieces
    }

    fn all<'a>(words: impl Iterator<Item = (&'a TestWord, &'a [u8])>) -> Vec<((u64, u64), Vec<u8>)> {
        words.map(|(word, payload)| (word.key(), payload.to_vec())).collect()
    }

    #[test]
    fn sorted_alike_in_memory_and_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let pieces = words();
        let mut expected = all(pieces.iter().flat_map(|p| p.records.iter().map(|w| (w, p.payload(w)))));
        expected.sort();
        for memory in [1_u64, 20 << 20, 1 << 30] {
            let mut sorter = Sorter::new(&SpillScratch::new(folder.path(), memory));
            pieces.iter().for_each(|rows| sorter.append(rows.view()).unwrap());
            let sorted = sorter.finish().unwrap();
            assert_eq!(matches!(sorted.kept, SortedStorage::Memory(_)), memory == 1 << 30);
            assert_eq!(sorted.len() as usize, expected.len());
            for most in [1000, 77_777, usize::MAX] {
                let (mut stream, mut found) = (sorted.stream(), Vec::new());
                loop {
                    let view = stream.take(most).unwrap();
                    if view.records.is_empty() {
                        break;
                    }
                    found.extend(all(view.records.iter().map(|w| (w, view.payload(w)))));
                }
                assert!(found == expected, "{memory} bytes, {most} at a time");
            }
            // By key, in the way that joins read.
            let (mut stream, mut found) = (sorted.stream(), 0);
            for bound in 0..=4096 {
                let view = stream.take_while(usize::MAX, |w| w.key < bound).unwrap();
                assert!(view.records.iter().all(|w| w.key == bound - 1));
                found += view.records.len();
            }
            assert_eq!(found, expected.len());
        }
    }

    #[test]
    fn spooled_alike_in_memory_and_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let pieces = words();
        for memory in [1, 1 << 30] {
            let mut writer = SpoolWriter::new(&SpillScratch::new(folder.path(), memory));
            for (head, rows) in pieces.iter().enumerate() {
                writer.push(head, rows.clone()).unwrap();
            }
            let spool = writer.finish().unwrap();
            assert_eq!(spool.len(), 210_000);
            let mut next = 0;
            spool
                .for_each(|blocks| {
                    for block in blocks {
                        assert_eq!(block.head, next);
                        let rows = &block.rows;
                        let expected = &pieces[next];
                        assert_eq!(
                            all(rows.records.iter().map(|w| (w, rows.payload(w)))),
                            all(expected.records.iter().map(|w| (w, expected.payload(w))))
                        );
                        next += 1;
                    }
                    Ok::<_, SpillError>(())
                })
                .unwrap();
            assert_eq!(next, pieces.len());
        }
    }
}
