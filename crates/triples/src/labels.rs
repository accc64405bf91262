//! The index of entities' texts: which labels, aliases, lemmas and descriptions have a word, or words that begin so or
//! are written nearly so, by what the entity is and by language.
//!
//! ```text
//! rdf.labels         the literal of every text, those of the best known entities first: a column of the literal's number,
//!                    shifted left by 5, and of how many words it has
//! rdf.labels.words   words: a letter (`Q`, `P`, `L` for names, `q`, `p`, `l` for descriptions), the language in small
//!                    letters, a zero, the word
//! rdf.labels.lists   the numbers of the texts that have a word
//! ```
//!
//! Which entities have a text, and as what, the permutations tell. A text that is of items and of properties is in it twice.

use std::sync::Arc;

use oxrdf::{NamedNodeRef, Term};
use rustc_hash::FxHashMap;

use super::build::BuildError;
use super::{EntityId, EntityKind, Store, TermId, layout};
use terrapin_base::Progress;
use terrapin_base::external_sort::{Scratch, SpillBuffer, StringSorter};
use terrapin_base::words::words;
use terrapin_snapshot::{Column, ColumnWriter, Error, Fault, Snapshot, Word, Words, Writer, write_words};

/// Bits of the number of words.
const COUNT_BITS: u64 = 5;
/// Texts that are put aside at once.
const AT_ONCE: usize = 1 << 16;

/// What a text says of an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Said {
    /// What it is called: a label, an alias, a lemma.
    Name,
    /// What it is.
    Description,
}

impl Said {
    const ALL: [Said; 2] = [Said::Name, Said::Description];

    /// The predicates that say it.
    pub fn predicates(self) -> &'static [&'static str] {
        match self {
            Said::Name => &[
                "http://www.w3.org/2000/01/rdf-schema#label",
                "http://www.w3.org/2004/02/skos/core#altLabel",
                "http://wikiba.se/ontology#lemma",
            ],
            Said::Description => &["http://schema.org/description"],
        }
    }
}

/// What words of such texts begin with.
fn start(kind: EntityKind, said: Said, language: &str) -> String {
    let letter = match said {
        Said::Name => kind.letter(),
        Said::Description => kind.letter().to_ascii_lowercase(),
    };
    format!("{letter}{language}\0")
}

/// The index of a snapshot.
pub struct Labels {
    texts: Column,
    words: Words,
}

impl Labels {
    /// `None` where a snapshot has none.
    ///
    /// # Errors
    /// Sections are missing or not whole.
    pub(super) fn open(snapshot: &Arc<Snapshot>, fault: &Arc<Fault>) -> Result<Option<Labels>, Error> {
        if snapshot.place(layout::LABELS).is_none() {
            return Ok(None);
        }
        let texts = Column::open(snapshot, layout::LABELS, fault)?;
        Ok(Some(Labels { words: Words::open(snapshot, layout::LABEL_WORDS, texts.len(), fault)?, texts }))
    }

    /// How many texts there are.
    pub fn len(&self) -> u64 {
        self.texts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The literal of a text and how many words it has, at most 31.
    pub fn text(&self, number: u32) -> (TermId, usize) {
        let packed = self.texts.get(number.into());
        (TermId::of_snapshot(packed >> COUNT_BITS), (packed & ((1 << COUNT_BITS) - 1)) as usize)
    }

    /// The languages of the texts of a kind, in small letters, in byte order.
    pub fn languages(&self, kind: EntityKind, said: Said) -> Vec<String> {
        let letter = start(kind, said, "");
        let letter = letter.trim_end_matches('\0');
        let (mut found, mut from) = (Vec::new(), letter.to_owned());
        while let Some(word) = self.words.from(&from) {
            let Some((language, _)) = word.text.strip_prefix(letter).and_then(|rest| rest.split_once('\0')) else { break };
            from = format!("{letter}{language}\u{1}");
            found.push(language.to_owned());
        }
        found
    }

    /// The words of the texts of a kind in a language.
    pub fn part(&self, kind: EntityKind, said: Said, language: &str) -> Part<'_> {
        Part { words: &self.words, start: start(kind, said, &language.to_ascii_lowercase()) }
    }
}

/// The words of some of the texts.
pub struct Part<'a> {
    words: &'a Words,
    start: String,
}

impl Part<'_> {
    /// The texts that have a word, ascending.
    pub fn texts(&self, word: &str) -> Vec<u32> {
        let word = self.words.word(&format!("{}{word}", self.start));
        word.map(|word| self.words.list(&word)).unwrap_or_default()
    }

    /// The words that begin with a text, in byte order; some of them where there are very many.
    pub fn beginning(&self, text: &str) -> Vec<Word> {
        self.words.beginning(&format!("{}{text}", self.start))
    }

    /// The words that are at most so many edits away from a text.
    pub fn near(&self, text: &str, edits: u8) -> Vec<Word> {
        self.words.near(&self.start, text, edits)
    }

    /// The texts that have a word, ascending.
    pub fn list(&self, word: &Word) -> Vec<u32> {
        self.words.list(word)
    }

    /// The first of them.
    pub fn first(&self, word: &Word) -> Option<u32> {
        self.words.first(word)
    }
}

/// A literal and what it is of in one number; what is left of the largest number by how well the entity is known.
type Scored = [u64; 2];

fn of(literal: u64, kind: EntityKind, said: Said) -> u64 {
    literal << 3 | (said as u64) << 2 | kind as u64
}

/// Writes the index of the entities' texts.
///
/// # Errors
/// A full disk, or damage.
pub fn write_labels(
    store: &Store,
    scratch: &Scratch,
    writer: &mut Writer,
    progress: &dyn Progress,
) -> Result<(), BuildError> {
    progress.phase("indexing labels", 0);
    let texts = scored(store, scratch)?;
    if texts.is_empty() {
        return Ok(());
    }
    let texts = texts.sort(|text| *text)?;
    // Each once, by its best known entity.
    let mut by_fame = SpillBuffer::<Scored>::new(scratch);
    let mut last = None;
    for some in texts.as_slice().chunks(AT_ONCE) {
        let first = some.iter().filter(|[text, _]| last.replace(*text) != Some(*text));
        by_fame.extend(&first.copied().collect::<Vec<_>>())?;
    }
    let by_fame = by_fame.sort(|[text, fame]| [*fame, *text])?;

    let mut column = ColumnWriter::begin(writer, layout::LABELS)?;
    let mut sorter = StringSorter::new(scratch);
    let mut number = 0;
    for &[text, _] in by_fame.as_slice() {
        let literal = text >> 3;
        let Some(Term::Literal(value)) = store.term(TermId::of_snapshot(literal)) else { continue };
        let mut all = words(value.value());
        column.push(writer, literal << COUNT_BITS | all.len() as u64)?;
        let language = value.language().unwrap_or_default().to_ascii_lowercase();
        let start = start(EntityKind::ALL[(text & 3) as usize], Said::ALL[(text >> 2 & 1) as usize], &language);
        all.sort_unstable();
        all.dedup();
        all.iter().try_for_each(|word| sorter.push(format!("{start}{word}").as_bytes(), number))?;
        number += 1;
    }
    column.finish(writer)?;
    store.check()?;
    write_words(sorter, layout::LABEL_WORDS, scratch, writer)
}

/// Every text of an entity with how well that is known.
fn scored(store: &Store, scratch: &Scratch) -> Result<SpillBuffer<Scored>, BuildError> {
    let mut texts = SpillBuffer::new(scratch);
    let mut some = Vec::new();
    // Properties have many names and are looked up by several predicates.
    let mut properties: FxHashMap<u64, u64> = FxHashMap::default();
    for said in Said::ALL {
        for predicate in said.predicates() {
            let Some(predicate) = store.id(NamedNodeRef::new_unchecked(predicate).into()) else { continue };
            for [entity, _, object] in store.triples(None, Some(predicate), None) {
                let (Some(id), Some(literal)) = (EntityId::of_term(store, entity), object.number()) else { continue };
                let fame = match id.kind {
                    EntityKind::Property => *properties.entry(id.number).or_insert_with(|| id.fame(store)),
                    _ => id.fame(store),
                };
                some.push([of(literal, id.kind, said), u64::MAX - fame]);
                if some.len() == AT_ONCE {
                    texts.extend(&some)?;
                    some.clear();
                }
            }
        }
    }
    texts.extend(&some)?;
    store.check()?;
    Ok(texts)
}
