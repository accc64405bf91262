//! The index of entities' texts (labels, aliases, lemmas, descriptions), by kind of entity and language. It finds texts
//! by a word, by a prefix of a word, or by a similar word.
//!
//! ```text
//! rdf.labels         a column with an entry per text, best known entities first: the literal's number, shifted left by
//!                    5, plus the number of words
//! rdf.labels.words   words: a letter (`Q`, `P`, `L` for names, `q`, `p`, `l` for descriptions), the language in lower
//!                    case, a zero byte, the word
//! rdf.labels.lists   for each word, the numbers of the texts that contain it
//! ```
//!
//! The entities of a text and its predicate are looked up in the permutations. A text of both items and properties is
//! listed twice.

use std::sync::Arc;

use super::{EntityKind, TermId, layout};
use terrapin_snapshot::{Error, Fault, IndexWord, SectionColumn, Snapshot, WordIndex};

/// Number of bits for the number of words.
pub(super) const COUNT_BITS: u64 = 5;

/// The role of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextRole {
    /// A name: a label, an alias or a lemma.
    Name,
    /// A description.
    Description,
}

impl TextRole {
    pub(super) const ALL: [TextRole; 2] = [TextRole::Name, TextRole::Description];

    /// Returns the predicates of this role.
    pub fn predicates(self) -> &'static [&'static str] {
        match self {
            TextRole::Name => &[
                "http://www.w3.org/2000/01/rdf-schema#label",
                "http://www.w3.org/2004/02/skos/core#altLabel",
                "http://wikiba.se/ontology#lemma",
            ],
            TextRole::Description => &["http://schema.org/description"],
        }
    }
}

/// Returns the prefix of the words of such texts.
pub(super) fn start(kind: EntityKind, said: TextRole, language: &str) -> String {
    let letter = match said {
        TextRole::Name => kind.letter(),
        TextRole::Description => kind.letter().to_ascii_lowercase(),
    };
    format!("{letter}{language}\0")
}

/// The index of a snapshot.
pub struct LabelIndex {
    texts: SectionColumn,
    words: WordIndex,
}

impl LabelIndex {
    /// Opens the index; returns `None` if the snapshot has none.
    ///
    /// # Errors
    /// Returns an error if sections are missing or damaged.
    pub(super) fn open(snapshot: &Arc<Snapshot>, fault: &Arc<Fault>) -> Result<Option<LabelIndex>, Error> {
        if snapshot.place(layout::LABELS).is_none() {
            return Ok(None);
        }
        let texts = SectionColumn::open(snapshot, layout::LABELS, fault)?;
        Ok(Some(LabelIndex { words: WordIndex::open(snapshot, layout::LABEL_WORDS, texts.len(), fault)?, texts }))
    }

    /// Returns the number of texts.
    pub fn len(&self) -> u64 {
        self.texts.len()
    }

    /// Returns whether the index is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the literal of a text and its number of words, at most 31.
    pub fn text(&self, number: u32) -> (TermId, usize) {
        let packed = self.texts.get(number.into());
        (TermId::of_snapshot(packed >> COUNT_BITS), (packed & ((1 << COUNT_BITS) - 1)) as usize)
    }

    /// Returns the languages of the texts of a kind, in lower case and byte order.
    pub fn languages(&self, kind: EntityKind, said: TextRole) -> Vec<String> {
        let letter = start(kind, said, "");
        let letter = letter.trim_end_matches('\0');
        let (mut found, mut from) = (Vec::new(), letter.to_owned());
        while let Some(word) = self.words.from(&from) {
            let Some((language, _)) = word.text.strip_prefix(letter).and_then(|rest| rest.split_once('\0')) else {
                break;
            };
            from = format!("{letter}{language}\u{1}");
            found.push(language.to_owned());
        }
        found
    }

    /// Returns the words of the texts of a kind in a language.
    pub fn part(&self, kind: EntityKind, said: TextRole, language: &str) -> LabelPartition<'_> {
        LabelPartition { words: &self.words, start: start(kind, said, &language.to_ascii_lowercase()) }
    }
}

/// The words of one kind, role and language.
pub struct LabelPartition<'a> {
    words: &'a WordIndex,
    start: String,
}

impl LabelPartition<'_> {
    /// Returns the texts with a word, ascending.
    pub fn texts(&self, word: &str) -> Vec<u32> {
        let word = self.words.word(&format!("{}{word}", self.start));
        word.map(|word| self.words.list(&word)).unwrap_or_default()
    }

    /// Returns the words with a prefix, in byte order; only some of them if there are very many.
    pub fn beginning(&self, text: &str) -> Vec<IndexWord> {
        self.words.beginning(&format!("{}{text}", self.start))
    }

    /// Returns the words within an edit distance of `edits`.
    pub fn near(&self, text: &str, edits: u8) -> Vec<IndexWord> {
        self.words.near(&self.start, text, edits)
    }

    /// Returns the texts with a word, ascending.
    pub fn list(&self, word: &IndexWord) -> Vec<u32> {
        self.words.list(word)
    }

    /// Returns the first text with a word.
    pub fn first(&self, word: &IndexWord) -> Option<u32> {
        self.words.first(word)
    }
}
