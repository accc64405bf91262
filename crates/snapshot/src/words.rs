//! Words that lead to lists of numbers: a map of words, of the crate `fst`, and the lists.
//!
//! ```text
//! lists   numbers that have a word: how many, bytes, then the first and the differences, as variable-length integers
//! words   to a number, shifted left by one, and 1; where there are several, to the place of their list, shifted left by one
//! ```
//!
//! Of what the map of words has nothing is checked while it is read, so it is compared with its checksum as a whole when it
//! is first asked for.

use std::io::{BufWriter, Read, Seek, SeekFrom};
use std::sync::Arc;

use fst::automaton::{Automaton, Str};
use fst::{IntoStreamer, Map, MapBuilder, Streamer};

use super::near::{Behind, Near};
use super::{Checked, CheckedWriter, Error, Fault, Snapshot, Writer};
use terrapin_base::codec::{Reader, put};
use terrapin_base::external_sort::{self, Scratch, StringSorter};
use terrapin_budget as budget;

/// Words that are looked at where many begin alike or are nearly so.
const MOST_WORDS: usize = 1 << 14;
/// What a word that is looked at counts for in a query's budget.
const WORD_STEPS: usize = 4;
/// Bytes of a file that are copied at a time.
const PIECE: u64 = 1 << 18;
/// A head of a list: two integers.
const HEAD: usize = 20;

/// The names of the two sections.
#[derive(Debug, Clone, Copy)]
pub struct WordSections {
    /// The map of words.
    pub words: &'static str,
    /// The lists of numbers.
    pub lists: &'static str,
}

/// Writes both sections: of every word the numbers that it was given with, which must be distinct.
///
/// # Errors
/// A full disk.
pub fn write_words<E: From<Error> + From<external_sort::Error>>(
    words: StringSorter,
    sections: WordSections,
    scratch: &Scratch,
    writer: &mut Writer,
) -> Result<(), E> {
    let failed = |error: fst::Error| match error {
        fst::Error::Io(source) => scratch.error(source),
        other => scratch.error(std::io::Error::other(other)),
    };
    // Only one section can be written at a time.
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
        // Unlike a single call, this goes on where a signal interrupts it.
        match file.by_ref().take(PIECE).read_to_end(&mut buffer).map_err(|error| scratch.error(error))? {
            0 => return Ok(()),
            _ => writer.append(&buffer)?,
        }
    }
}

/// Writes an ascending list, if it has more than one number; what its word is mapped to.
fn push(lists: &mut CheckedWriter, writer: &mut Writer, numbers: &[u64]) -> Result<u64, Error> {
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
pub struct Word {
    /// Its text.
    pub text: String,
    /// How many letters it is away from what was asked for.
    pub edits: u8,
    value: u64,
}

/// Words that lead to numbers, which are all less than a bound.
pub struct Words {
    snapshot: Arc<Snapshot>,
    fault: Arc<Fault>,
    map: &'static str,
    lists: Checked,
    end: u64,
}

impl Words {
    /// Those of two sections, whose numbers are less than `end`.
    ///
    /// # Errors
    /// A section is missing or not whole.
    pub fn open(
        snapshot: &Arc<Snapshot>,
        sections: WordSections,
        end: u64,
        fault: &Arc<Fault>,
    ) -> Result<Words, Error> {
        Ok(Words {
            lists: Checked::open(snapshot, sections.lists, fault)?,
            map: sections.words,
            snapshot: Arc::clone(snapshot),
            fault: Arc::clone(fault),
            end,
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

    /// A word as it stands.
    pub fn word(&self, text: &str) -> Option<Word> {
        let value = self.map()?.get(text)?;
        Some(Word { text: text.to_owned(), edits: 0, value })
    }

    /// The first word that is not before a text, in byte order.
    pub fn from(&self, text: &str) -> Option<Word> {
        let map = self.map()?;
        let mut stream = map.range().ge(text).into_stream();
        let (text, value) = stream.next()?;
        Some(Word { text: std::str::from_utf8(text).ok()?.to_owned(), edits: 0, value })
    }

    /// Words that begin with a text, in byte order; some of them where there are very many.
    pub fn beginning(&self, text: &str) -> Vec<Word> {
        let Some(map) = self.map() else { return Vec::new() };
        self.collect(map.search(Str::new(text).starts_with()).into_stream(), |_| 0)
    }

    /// Words that begin with a text and of which the rest is at most so many edits away from another one: a letter more,
    /// one less, another one, or two that changed places.
    pub fn near(&self, start: &str, text: &str, edits: u8) -> Vec<Word> {
        let (Some(map), Some(near)) = (self.map(), Near::new(text, edits)) else { return Vec::new() };
        let behind = Behind { start: start.as_bytes(), near: &near };
        self.collect(map.search(behind).into_stream(), |word| near.edits(word.get(start.len()..).unwrap_or_default()))
    }

    fn collect<A: Automaton>(&self, mut stream: fst::map::Stream<'_, A>, edits: impl Fn(&str) -> u8) -> Vec<Word> {
        let mut found = Vec::new();
        while let Some((text, value)) = stream.next() {
            budget::checkpoints(WORD_STEPS);
            let Ok(text) = std::str::from_utf8(text) else { continue };
            found.push(Word { text: text.to_owned(), edits: edits(text), value });
            if found.len() == MOST_WORDS {
                break;
            }
        }
        found
    }

    /// The numbers that a word has, ascending.
    pub fn list(&self, word: &Word) -> Vec<u32> {
        let damaged = || {
            self.lists.report("a list is not whole");
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

    /// The first of the numbers that a word has.
    pub fn first(&self, word: &Word) -> Option<u32> {
        if word.value & 1 == 1 {
            return u32::try_from(word.value >> 1).ok();
        }
        let place = usize::try_from(word.value >> 1).ok()?;
        let head = self.lists.get(place, (HEAD + HEAD / 2).min(self.lists.len().checked_sub(place)?))?;
        let mut reader = Reader::new(head);
        reader.get()?;
        reader.get()?;
        u32::try_from(reader.get()?).ok()
    }

    fn read(&self, place: u64) -> Option<Vec<u32>> {
        let place = usize::try_from(place).ok()?;
        let head = self.lists.get(place, HEAD.min(self.lists.len().checked_sub(place)?))?;
        let mut reader = Reader::new(head);
        let (count, bytes) = (usize::try_from(reader.get()?).ok()?, usize::try_from(reader.get()?).ok()?);
        // Every number takes a byte.
        if count > bytes {
            return None;
        }
        budget::checkpoints(count >> 6);
        let mut reader = Reader::new(self.lists.get(place + reader.position(), bytes)?);
        let (mut numbers, mut number) = (Vec::with_capacity(count), 0_u64);
        for _ in 0..count {
            number = number.checked_add(reader.get()?)?;
            numbers.push(u32::try_from(number).ok().filter(|_| number < self.end)?);
        }
        Some(numbers)
    }
}
