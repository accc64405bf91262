//! The index of names, read in place: which names have a word, or words that begin so or are written nearly so.
//!
//! ```text
//! names          a tag for every name, by ascending score: a column of the tag's number, shifted left by 5, and of how
//!                many words it has
//! names.scores   where the names of a score end: a column
//! names.lists    names that have a word: how many, bytes, then the first and the differences, as variable-length integers
//! names.words    the words, as a map of the crate `fst`: to a name, shifted left by one, and 1; where there are several, to
//!                the place of their list, shifted left by one
//! ```
//!
//! Of what the map of words has nothing is checked while it is read, so it is compared with its checksum as a whole when it
//! is first asked for.

mod near;

use std::sync::Arc;

use fst::automaton::{Automaton, Str};
use fst::{IntoStreamer, Map, Streamer};

use super::PairId;
use super::layout;
use near::Near;
use terrapin_base::codec::{Reader, put};
use terrapin_budget as budget;
use terrapin_snapshot::{Checked, CheckedWriter, Column, Error, Fault, Snapshot, Writer};

/// Words that are looked at where many begin alike or are nearly so.
const MOST_WORDS: usize = 1 << 14;
/// What a word that is looked at counts for in a query's budget.
const WORD_STEPS: usize = 4;
/// A head of a list: two integers.
const HEAD: usize = 20;

/// A tag and how many words it has, in one number.
pub(crate) struct CountOf;

impl CountOf {
    const BITS: u64 = 5;

    /// At most 31 words.
    pub fn pack(pair: u64, words: u64) -> u64 {
        pair << Self::BITS | words.min((1 << Self::BITS) - 1)
    }
}

/// Writes lists of names.
pub(crate) struct ListsWriter(CheckedWriter);

impl ListsWriter {
    pub fn begin(writer: &mut Writer) -> Result<ListsWriter, Error> {
        CheckedWriter::begin(writer, layout::NAME_LISTS).map(ListsWriter)
    }

    /// Writes an ascending list, if it has more than one name; what a word is mapped to.
    pub fn push(&mut self, writer: &mut Writer, names: &[u64]) -> Result<u64, Error> {
        if let [only] = names {
            return Ok(only << 1 | 1);
        }
        let (mut body, mut previous) = (Vec::with_capacity(names.len() * 2), 0);
        for &name in names {
            put(&mut body, name - previous);
            previous = name;
        }
        let mut bytes = Vec::with_capacity(HEAD + body.len());
        put(&mut bytes, names.len() as u64);
        put(&mut bytes, body.len() as u64);
        bytes.extend_from_slice(&body);
        let place = self.0.len();
        self.0.push(writer, &bytes)?;
        Ok(place << 1)
    }

    pub fn finish(self, writer: &mut Writer) -> Result<(), Error> {
        self.0.finish(writer, 0)
    }
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

/// The index of a snapshot's names. Names are `0..len`.
pub struct NameTable {
    snapshot: Arc<Snapshot>,
    fault: Arc<Fault>,
    names: Column,
    scores: Column,
    lists: Checked,
    tags: u64,
}

impl NameTable {
    /// Of a snapshot with so many tags; `None` where it has no index, as before format 3.
    ///
    /// # Errors
    /// Sections are missing or not whole.
    pub fn open(snapshot: &Arc<Snapshot>, tags: u64, fault: &Arc<Fault>) -> Result<Option<NameTable>, Error> {
        if snapshot.place(layout::NAMES).is_none() {
            return Ok(None);
        }
        Ok(Some(NameTable {
            names: Column::open(snapshot, layout::NAMES, fault)?,
            scores: Column::open(snapshot, layout::NAME_SCORES, fault)?,
            lists: Checked::open(snapshot, layout::NAME_LISTS, fault)?,
            snapshot: Arc::clone(snapshot),
            fault: Arc::clone(fault),
            tags,
        }))
    }

    /// How many names there are.
    pub fn len(&self) -> u64 {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tag of a name, and how many words it has: at most 31, and the fewest of several names in one value.
    pub fn name(&self, name: u32) -> (PairId, usize) {
        let packed = self.names.get(name.into());
        let pair = packed >> CountOf::BITS;
        if pair >= self.tags {
            self.names.report("a tag that does not exist");
            return (0, 0);
        }
        (pair as PairId, (packed & ((1 << CountOf::BITS) - 1)) as usize)
    }

    /// The lowest rank, in the table of ranks, of the elements that have a name; 31 and more for names of streets in
    /// addresses.
    pub fn rank(&self, name: u32) -> u8 {
        let score = self.scores.lower_bound(0, self.scores.len(), u64::from(name) + 1);
        (score / 4).min(63) as u8
    }

    fn map(&self) -> Option<Map<&[u8]>> {
        let damaged = |error: fst::Error| Error::damaged(layout::NAME_WORDS, error.to_string());
        match self.snapshot.section(layout::NAME_WORDS).and_then(|bytes| Map::new(bytes).map_err(damaged)) {
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

    /// Words that begin with a text, in byte order; some of them where there are very many.
    pub fn beginning(&self, text: &str) -> Vec<Word> {
        let Some(map) = self.map() else { return Vec::new() };
        self.collect(map.search(Str::new(text).starts_with()).into_stream(), |_| 0)
    }

    /// Words that are at most so many edits away: a letter more, one less, another one, or two that changed places.
    pub fn near(&self, text: &str, edits: u8) -> Vec<Word> {
        let (Some(map), Some(near)) = (self.map(), Near::new(text, edits)) else { return Vec::new() };
        self.collect(map.search(&near).into_stream(), |word| near.edits(word))
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

    /// The names that have a word, ascending.
    pub fn list(&self, word: &Word) -> Vec<u32> {
        let damaged = || {
            self.lists.report("a list is not whole");
            Vec::new()
        };
        if word.value & 1 == 1 {
            return match u32::try_from(word.value >> 1).ok().filter(|&name| u64::from(name) < self.len()) {
                Some(name) => vec![name],
                None => damaged(),
            };
        }
        self.read(word.value >> 1).unwrap_or_else(damaged)
    }

    /// The first of the names that have a word.
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
        // Every name takes a byte.
        if count > bytes {
            return None;
        }
        budget::checkpoints(count >> 6);
        let mut reader = Reader::new(self.lists.get(place + reader.position(), bytes)?);
        let (mut names, mut name) = (Vec::with_capacity(count), 0_u64);
        for _ in 0..count {
            name = name.checked_add(reader.get()?)?;
            names.push(u32::try_from(name).ok().filter(|_| name < self.len())?);
        }
        Some(names)
    }
}
