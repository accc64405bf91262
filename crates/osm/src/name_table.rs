//! The index of names, read in place: finds the names with a word, with a prefix of a word, or with a similar word.
//!
//! ```text
//! names          the tag of every name, by ascending score: a column of the tag's number, shifted left by 5, plus the
//!                number of its words
//! names.scores   the end of the names of each score: a column
//! names.words    the words, and the names that contain each
//! names.lists
//! ```

use std::ops::Deref;
use std::sync::Arc;

use super::PairId;
use super::layout;
use terrapin_snapshot::{Error, Fault, SectionColumn, Snapshot, WordIndex};

/// A tag and how many words it has, in one number.
pub(crate) struct CountOf;

impl CountOf {
    const BITS: u64 = 5;

    /// Packs a tag and its number of words, which counts as 31 if it is larger.
    pub fn pack(pair: u64, words: u64) -> u64 {
        pair << Self::BITS | words.min((1 << Self::BITS) - 1)
    }
}

/// The index of a snapshot's names. Names are `0..len`; as [`WordIndex`] it leads to them.
pub struct NameTable {
    names: SectionColumn,
    scores: SectionColumn,
    words: WordIndex,
    tags: u64,
}

impl Deref for NameTable {
    type Target = WordIndex;

    fn deref(&self) -> &WordIndex {
        &self.words
    }
}

impl NameTable {
    /// Opens the index of a snapshot with this number of tags; `None` if the snapshot has no index of names.
    ///
    /// # Errors
    /// Returns an error if sections are missing or incomplete.
    pub fn open(snapshot: &Arc<Snapshot>, tags: u64, fault: &Arc<Fault>) -> Result<Option<NameTable>, Error> {
        if snapshot.place(layout::NAMES).is_none() {
            return Ok(None);
        }
        let names = SectionColumn::open(snapshot, layout::NAMES, fault)?;
        Ok(Some(NameTable {
            words: WordIndex::open(snapshot, layout::NAME_WORDS, names.len(), fault)?,
            scores: SectionColumn::open(snapshot, layout::NAME_SCORES, fault)?,
            names,
            tags,
        }))
    }

    /// Returns the number of names.
    pub fn len(&self) -> u64 {
        self.names.len()
    }

    /// Returns whether the index is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the tag of a name and its number of words, at most 31. If the value has several names, the smallest
    /// number of words counts.
    pub fn name(&self, name: u32) -> (PairId, usize) {
        let packed = self.names.get(name.into());
        let pair = packed >> CountOf::BITS;
        if pair >= self.tags {
            self.names.report("a tag that does not exist");
            return (0, 0);
        }
        (pair as PairId, (packed & ((1 << CountOf::BITS) - 1)) as usize)
    }

    /// Returns the lowest rank, in the table of ranks, of the elements with a name. Names of streets in addresses have
    /// 31 or more.
    pub fn rank(&self, name: u32) -> u8 {
        let score = self.scores.lower_bound(0, self.scores.len(), u64::from(name) + 1);
        (score / 4).min(63) as u8
    }
}
