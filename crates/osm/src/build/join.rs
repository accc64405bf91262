//! Maps ids to ordinals: ids and references to them are both sorted by id and read together, as in a merge join.

use rayon::prelude::*;
use terrapin_base::codec;
use terrapin_base::external_sort::{PieceFile, PiecesWriter, RowsView, Sorted, Sorter, SpillScratch};
use terrapin_budget as budget;

use super::ElementBuildError;
use super::pages::compressed;
use super::records::{ElementReference, IdEntry, ReferenceAnswer};
use crate::layout::{self, IDS_ON_PAGE};
use crate::{ElementRef, ElementType};

/// Pages of ids that are handled at once.
const PAGES: usize = 256;
/// References that are answered at once.
const REFERENCES: usize = 1 << 18;
/// References that one piece of parallel work answers.
const CHUNK: usize = 1 << 12;

/// The id index of a type and the answers to all references to its ids.
pub struct Joined<F: terrapin_base::external_sort::Sortable> {
    /// The answers, by the numbers of the references.
    pub found: Sorted<F>,
    /// The ids that are referred to and not there, ascending.
    pub missing: Vec<i64>,
    /// The pages of the id index.
    pub pages: PieceFile,
    /// The first id on each.
    pub first_ids: Vec<i64>,
}

/// Writes the id index of a type and answers all references.
pub fn join<E: IdEntry>(
    scratch: &SpillScratch,
    kind: ElementType,
    entries: &Sorted<E>,
    references: Sorted<ElementReference>,
    level: i32,
) -> Result<Joined<E::Found>, ElementBuildError> {
    let (mut found, mut missing) = (Sorter::new(scratch), Vec::new());
    let (mut pages, mut first_ids) = (PiecesWriter::new(scratch)?, Vec::new());
    let (mut entries, mut references) = (entries.stream(), references.stream());
    loop {
        budget::checkpoint();
        let window = entries.take(IDS_ON_PAGE * PAGES)?;
        write_ids(kind, window, level, &mut pages, &mut first_ids)?;
        let ended = window.records.len() < IDS_ON_PAGE * PAGES;
        let last = window.records.last().filter(|_| !ended).map_or(i64::MAX, E::id);
        loop {
            let wanted = references.take_while(REFERENCES, |reference| reference.id <= last)?;
            if wanted.records.is_empty() {
                break;
            }
            let answers: Vec<_> = wanted.records.par_chunks(CHUNK).map(|chunk| answer(window.records, chunk)).collect();
            for (mut answers, absent) in answers {
                number_missing(&mut missing, &mut answers, &absent);
                found.extend(&answers)?;
            }
        }
        if ended {
            return Ok(Joined { found: found.finish()?, missing, pages: pages.finish()?, first_ids });
        }
    }
}

/// Returns the answers to some references, by id, and the ids that are missing. Missing elements are numbered within
/// these ids.
fn answer<E: IdEntry>(entries: &[E], references: &[ElementReference]) -> (Vec<E::Found>, Vec<i64>) {
    let mut missing: Vec<i64> = Vec::new();
    let mut at = references.first().map_or(0, |first| entries.partition_point(|entry| entry.id() < first.id));
    let answers = references.iter().map(|reference| {
        while entries.get(at).is_some_and(|entry| entry.id() < reference.id) {
            at += 1;
        }
        let entry = entries.get(at).filter(|entry| entry.id() == reference.id);
        E::found(
            reference.number,
            entry.ok_or_else(|| {
                if missing.last() != Some(&reference.id) {
                    missing.push(reference.id);
                }
                ElementRef::missing(missing.len() as u64 - 1)
            }),
        )
    });
    (answers.collect(), missing)
}

/// Adds the ids that are not there to those of before, and gives the answers their numbers among all.
fn number_missing<A: ReferenceAnswer>(missing: &mut Vec<i64>, answers: &mut [A], absent: &[i64]) {
    let known = usize::from(absent.first().is_some_and(|first| missing.last() == Some(first)));
    let base = (missing.len() - known) as u64;
    missing.extend(&absent[known..]);
    for answer in answers {
        if let Some(index) = answer.element().missing_index() {
            answer.set_element(ElementRef::missing(base + index));
        }
    }
}

/// Writes pages of the id index.
fn write_ids<E: IdEntry>(
    kind: ElementType,
    window: RowsView<'_, E>,
    level: i32,
    pages: &mut PiecesWriter,
    first_ids: &mut Vec<i64>,
) -> Result<(), ElementBuildError> {
    let size = layout::page_size(kind);
    let page = |entries: &[E]| {
        let mut content = Vec::new();
        let mut previous = 0;
        entries.iter().for_each(|entry| codec::put_delta(&mut content, &mut previous, entry.id()));
        previous = 0;
        let page = |entry: &E| (entry.ordinal() / size) as i64;
        entries.iter().for_each(|entry| codec::put_delta(&mut content, &mut previous, page(entry)));
        compressed(&content, level)
    };
    let frames: Vec<_> = window.records.par_chunks(IDS_ON_PAGE).map(page).collect();
    for (frame, entries) in frames.into_iter().zip(window.records.chunks(IDS_ON_PAGE)) {
        pages.push(&frame?)?;
        first_ids.push(entries[0].id());
    }
    Ok(())
}
