//! An index from words to lists of numbers: a map of words from the crate `fst`, and the lists.
//!
//! ```text
//! lists   the numbers of a word: their count, bytes, then the first and the differences, as variable-length integers
//! words   maps a word to its number, shifted left by one, plus 1; or to the place of its list, shifted left by one
//! ```
//!
//! Reading the map is not checked, so its checksum is verified as a whole on first use. The crate `fst` panics on
//! malformed bytes and follows cyclic transitions for ever. A checksum only shows that the bytes are those of the
//! manifest, so every read catches panics, and every transition is charged to the budget.

use std::io::{BufWriter, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fst::automaton::{AlwaysMatch, Automaton, Str};
use fst::{IntoStreamer, Map, MapBuilder, Streamer};

use super::near::{Behind, LevenshteinAutomaton};
use super::{CheckedSection, CheckedWriter, Error, Fault, Snapshot, SnapshotWriter};
use terrapin_base::codec::{ByteReader, put};
use terrapin_base::external_sort::{self, SpillScratch, StringSorter};
use terrapin_budget as budget;

/// The maximum number of words examined for a prefix or fuzzy search.
const MOST_WORDS: usize = 1 << 14;
/// The cost of an examined word in steps of the query's budget.
const WORD_STEPS: usize = 4;
/// The number of bytes copied at a time.
const PIECE: u64 = 1 << 18;
/// The maximum length in bytes of a list's head: two integers.
const HEAD: usize = 20;

/// The names of the two sections.
#[derive(Debug, Clone, Copy)]
pub struct WordSections {
    /// The map of words.
    pub words: &'static str,
    /// The lists of numbers.
    pub lists: &'static str,
}

/// Writes both sections from words with their numbers, which must be distinct.
///
/// # Errors
/// Returns an error if the disk is full.
pub fn write_words<E: From<Error> + From<external_sort::SpillError>>(
    words: StringSorter,
    sections: WordSections,
    scratch: &SpillScratch,
    writer: &mut SnapshotWriter,
) -> Result<(), E> {
    let failed = |error: fst::Error| match error {
        fst::Error::Io(source) => scratch.error(source),
        other => scratch.error(std::io::Error::other(other)),
    };
    // Only one section can be written at a time, so the map goes to a temporary file first.
    let mut map = MapBuilder::new(BufWriter::new(scratch.file()?)).map_err(failed)?;
    let mut lists = CheckedWriter::begin(writer, sections.lists)?;
    let (mut word, mut numbers): (Vec<u8>, Vec<u64>) = (Vec::new(), Vec::new());
    words.drain(|text, number| -> Result<(), E> {
        if text != word && !numbers.is_empty() {
            map.insert(&word, push(&mut lists, writer, &numbers)?).map_err(failed)?;
            numbers.clear();
        }
        if text != word {
            word = text.to_vec();
        }
        numbers.push(number);
        Ok(())
    })?;
    if !numbers.is_empty() {
        map.insert(&word, push(&mut lists, writer, &numbers)?).map_err(failed)?;
    }
    lists.finish(writer, 0)?;

    let file = map.into_inner().map_err(failed)?;
    let mut file = file.into_inner().map_err(|error| scratch.error(error.into_error()))?;
    file.seek(SeekFrom::Start(0)).map_err(|error| scratch.error(error))?;
    let mut buffer = Vec::with_capacity(PIECE as usize);
    writer.begin(sections.words)?;
    loop {
        buffer.clear();
        // Unlike a single call, this resumes after a signal.
        match file.by_ref().take(PIECE).read_to_end(&mut buffer).map_err(|error| scratch.error(error))? {
            0 => return Ok(()),
            _ => writer.append(&buffer)?,
        }
    }
}

/// Writes an ascending list of several numbers and returns the value of its word in the map.
fn push(lists: &mut CheckedWriter, writer: &mut SnapshotWriter, numbers: &[u64]) -> Result<u64, Error> {
    if let [only] = numbers {
        return Ok(only << 1 | 1);
    }
    let (mut body, mut previous) = (Vec::with_capacity(numbers.len() * 2), 0);
    for &number in numbers {
        put(&mut body, number - previous);
        previous = number;
    }
    let mut bytes = Vec::with_capacity(HEAD + body.len());
    put(&mut bytes, numbers.len() as u64);
    put(&mut bytes, body.len() as u64);
    bytes.extend_from_slice(&body);
    let place = lists.len();
    lists.push(writer, &bytes)?;
    Ok(place << 1)
}

/// A word of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexWord {
    /// Its text.
    pub text: String,
    /// The edit distance to the searched word.
    pub edits: u8,
    value: u64,
}

/// The index of words; its numbers are less than a bound.
pub struct WordIndex {
    snapshot: Arc<Snapshot>,
    fault: Arc<Fault>,
    map: &'static str,
    lists: CheckedSection,
    end: u64,
    /// Set once reading the map has panicked.
    broken: AtomicBool,
}

impl WordIndex {
    /// Opens the index of two sections with numbers less than `end`.
    ///
    /// # Errors
    /// Returns an error if a section is missing or damaged.
    pub fn open(
        snapshot: &Arc<Snapshot>,
        sections: WordSections,
        end: u64,
        fault: &Arc<Fault>,
    ) -> Result<WordIndex, Error> {
        Ok(WordIndex {
            lists: CheckedSection::open(snapshot, sections.lists, fault)?,
            map: sections.words,
            snapshot: Arc::clone(snapshot),
            fault: Arc::clone(fault),
            end,
            broken: AtomicBool::new(false),
        })
    }

    fn map(&self) -> Option<Map<&[u8]>> {
        let damaged = |error: fst::Error| Error::damaged(self.map, error.to_string());
        match self.snapshot.section(self.map).and_then(|bytes| Map::new(bytes).map_err(damaged)) {
            Ok(map) => Some(map),
            Err(error) => {
                self.fault.keep(error);
                None
            }
        }
    }

    /// Reads the map of words. A panic of the library counts as damage of the section.
    fn read_map<T: Default>(&self, read: impl FnOnce(&Map<&[u8]>) -> T) -> T {
        if self.broken.load(Ordering::Relaxed) {
            return T::default();
        }
        let found = budget::tolerant(|| self.map().map(|map| read(&map)));
        found
            .unwrap_or_else(|| {
                self.broken.store(true, Ordering::Relaxed);
                self.fault.report(self.map, "it is not a valid map of words");
                None
            })
            .unwrap_or_default()
    }

    /// Returns the word equal to a text.
    pub fn word(&self, text: &str) -> Option<IndexWord> {
        let value = self.read_map(|map| map.get(text))?;
        Some(IndexWord { text: text.to_owned(), edits: 0, value })
    }

    /// Returns the first word not less than a text, in byte order.
    pub fn from(&self, text: &str) -> Option<IndexWord> {
        self.read_map(|map| {
            let mut stream = map.search(BudgetedAutomaton(AlwaysMatch)).ge(text).into_stream();
            let (text, value) = stream.next()?;
            Some(IndexWord { text: std::str::from_utf8(text).ok()?.to_owned(), edits: 0, value })
        })
    }

    /// Returns the words with a prefix in byte order, limited to the first ones if there are too many.
    pub fn beginning(&self, text: &str) -> Vec<IndexWord> {
        self.read_map(|map| collect(map.search(BudgetedAutomaton(Str::new(text).starts_with())).into_stream(), |_| 0))
    }

    /// Returns the words that begin with a prefix and whose rest is within an edit distance of another text. An edit is
    /// an insertion, a deletion, a substitution, or a swap of neighbours.
    pub fn near(&self, start: &str, text: &str, edits: u8) -> Vec<IndexWord> {
        let Some(near) = LevenshteinAutomaton::new(text, edits) else { return Vec::new() };
        let behind = BudgetedAutomaton(Behind { start: start.as_bytes(), near: &near });
        let edits = |word: &str| near.edits(word.get(start.len()..).unwrap_or_default());
        self.read_map(|map| collect(map.search(behind).into_stream(), edits))
    }

    /// Returns the numbers of a word, ascending.
    pub fn list(&self, word: &IndexWord) -> Vec<u32> {
        let damaged = || {
            self.lists.report("a list is incomplete");
            Vec::new()
        };
        if word.value & 1 == 1 {
            return match u32::try_from(word.value >> 1).ok().filter(|&number| u64::from(number) < self.end) {
                Some(number) => vec![number],
                None => damaged(),
            };
        }
        self.read(word.value >> 1).unwrap_or_else(damaged)
    }

    /// Returns the first number of a word.
    pub fn first(&self, word: &IndexWord) -> Option<u32> {
        if word.value & 1 == 1 {
            return u32::try_from(word.value >> 1).ok();
        }
        let place = usize::try_from(word.value >> 1).ok()?;
        let head = self.lists.get(place, (HEAD + HEAD / 2).min(self.lists.len().checked_sub(place)?))?;
        let mut reader = ByteReader::new(head);
        reader.get()?;
        reader.get()?;
        u32::try_from(reader.get()?).ok()
    }

    fn read(&self, place: u64) -> Option<Vec<u32>> {
        let place = usize::try_from(place).ok()?;
        let head = self.lists.get(place, HEAD.min(self.lists.len().checked_sub(place)?))?;
        let mut reader = ByteReader::new(head);
        let (count, bytes) = (usize::try_from(reader.get()?).ok()?, usize::try_from(reader.get()?).ok()?);
        // Every number takes at least one byte.
        if count > bytes {
            return None;
        }
        budget::checkpoints(count >> 6);
        let mut reader = ByteReader::new(self.lists.get(place + reader.position(), bytes)?);
        let (mut numbers, mut number) = (Vec::with_capacity(count), 0_u64);
        for _ in 0..count {
            number = number.checked_add(reader.get()?)?;
            numbers.push(u32::try_from(number).ok().filter(|_| number < self.end)?);
        }
        Some(numbers)
    }
}

/// An automaton whose steps are charged to the budget of the running query.
struct BudgetedAutomaton<A>(A);

impl<A: Automaton> Automaton for BudgetedAutomaton<A> {
    type State = A::State;

    fn start(&self) -> A::State {
        self.0.start()
    }

    fn is_match(&self, state: &A::State) -> bool {
        self.0.is_match(state)
    }

    fn can_match(&self, state: &A::State) -> bool {
        self.0.can_match(state)
    }

    fn will_always_match(&self, state: &A::State) -> bool {
        self.0.will_always_match(state)
    }

    fn accept(&self, state: &A::State, byte: u8) -> A::State {
        budget::checkpoint();
        self.0.accept(state, byte)
    }
}

/// Returns the words of a stream, limited to the first ones if there are too many.
fn collect<A: Automaton>(mut stream: fst::map::Stream<'_, A>, edits: impl Fn(&str) -> u8) -> Vec<IndexWord> {
    let mut found = Vec::new();
    while let Some((text, value)) = stream.next() {
        budget::checkpoints(WORD_STEPS);
        let Ok(text) = std::str::from_utf8(text) else { continue };
        found.push(IndexWord { text: text.to_owned(), edits: edits(text), value });
        if found.len() == MOST_WORDS {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use terrapin_budget::{Budget, Limits, StopReason};

    use super::*;

    const SECTIONS: WordSections = WordSections { words: "words", lists: "lists" };

    /// Returns an unfinished snapshot, so that the checksums match the given bytes.
    fn open(folder: &std::path::Path, words: Option<&[u8]>) -> Arc<Snapshot> {
        let mut writer = SnapshotWriter::create(&folder.join("a")).unwrap();
        let scratch = SpillScratch::new(folder, 1 << 20);
        let mut sorter = StringSorter::new(&scratch);
        for (number, text) in (0..).zip(["a", "ab", "abbey", "bakery", "bar", "bars", "bart", "cafe", "café", "z"]) {
            sorter.push(text.as_bytes(), number).unwrap();
            sorter.push(b"town", number).unwrap();
        }
        let all = write_words::<TestError>(sorter, SECTIONS, &scratch, &mut writer);
        all.unwrap();
        let (file, mut sections) = writer.so_far().unwrap();
        if let Some(words) = words {
            writer.section("words", words).unwrap();
            sections.retain(|section| section.name != "words");
            sections.extend(writer.so_far().unwrap().1.into_iter().rfind(|s| s.name == "words"));
        }
        Arc::new(Snapshot::partial(&file, &sections).unwrap())
    }

    #[derive(Debug, thiserror::Error)]
    #[error(transparent)]
    enum TestError {
        Snapshot(#[from] Error),
        Temporary(#[from] external_sort::SpillError),
    }

    /// Searches in all ways; returns the words found and whether damage was recorded.
    fn ask(snapshot: &Arc<Snapshot>) -> Result<(Vec<String>, bool), StopReason> {
        let fault = Arc::default();
        let words = WordIndex::open(snapshot, SECTIONS, 100, &fault).unwrap();
        let deadline = Instant::now().checked_add(Duration::from_secs(5));
        let limits = Limits { deadline, memory: Some(64 << 20), ..Limits::default() };
        budget::watched(&Arc::new(Budget::new(&limits)), || {
            let mut all: Vec<IndexWord> =
                ["", "a", "ba", "zz"].iter().flat_map(|start| words.beginning(start)).collect();
            all.extend(words.near("b", "ar", 1));
            all.extend(["abbey", "town", "x"].iter().filter_map(|text| words.word(text)));
            all.extend(["", "b", "zzz"].iter().filter_map(|text| words.from(text)));
            for word in &all {
                words.list(word);
                words.first(word);
            }
            (all.into_iter().map(|word| word.text).collect(), fault.check().is_err())
        })
    }

    /// Valid checksums do not prove a valid map: hostile bytes are damage, never a panic, and take no longer than the
    /// budget allows.
    #[test]
    fn bytes_that_are_no_map_are_damage() {
        let folder = tempfile::tempdir().unwrap();
        let whole = open(folder.path(), None);
        let good = whole.section("words").unwrap().to_vec();
        let (expected, damaged) = ask(&whole).unwrap();
        assert!(expected.len() > 20 && !damaged);
        let (mut damage, mut out_of_bounds) = (0, 0);
        for at in 0..good.len() {
            for value in [0, 1, 0x40, 0x7f, 0x80, 0xbf, 0xc0, 0xff] {
                let mut bytes = good.clone();
                bytes[at] = value;
                match ask(&open(folder.path(), Some(&bytes))) {
                    Ok((_, damaged)) => damage += u32::from(damaged),
                    Err(StopReason::Exceeded(_)) => out_of_bounds += 1,
                    Err(StopReason::Panicked(panic)) => panic!("byte {at} as {value}: {panic}"),
                }
            }
        }
        assert!(damage > 100, "{damage} found out, {out_of_bounds} stopped");
        for cut in 0..good.len() {
            let asked = ask(&open(folder.path(), Some(&good[..cut])));
            assert!(!matches!(asked, Err(StopReason::Panicked(_))), "{cut} bytes: {asked:?}");
        }
    }

    /// A transition of `fst` can lead to any address, even its own node, so only a budget ends the traversal.
    #[test]
    fn a_map_that_goes_round_ends_with_the_budget() {
        let folder = tempfile::tempdir().unwrap();
        // The version 3 and the type 0; a node with one transition, "e", to itself; the number of words, the root's
        // address and an unchecked checksum.
        let mut bytes = [3_u64.to_le_bytes(), 0_u64.to_le_bytes()].concat();
        // One transition (0b10) with its input next to it; pack sizes 8 and 0. A node's address is that of its last
        // byte, and a difference counts from its first: -10 leads back.
        let delta = (-10_i64) as u64;
        bytes.extend_from_slice(&delta.to_le_bytes());
        bytes.extend_from_slice(&[0x80, b'e', 0b1000_0000]);
        let root = bytes.len() as u64 - 1;
        bytes.extend_from_slice(&1_u64.to_le_bytes());
        bytes.extend_from_slice(&root.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        let snapshot = open(folder.path(), Some(&bytes));
        let fault = Arc::default();
        let words = WordIndex::open(&snapshot, SECTIONS, 100, &fault).unwrap();
        let deadline = Instant::now().checked_add(Duration::from_millis(200));
        let limits = Limits { deadline, memory: Some(64 << 20), ..Limits::default() };
        let ended = budget::watched(&Arc::new(Budget::new(&limits)), || words.beginning("").len());
        assert!(matches!(ended, Err(StopReason::Exceeded(_))), "{ended:?}");
    }
}
