//! Builds the index of entities' texts that labels.rs reads, with sorts that spill to temporary files.

use oxrdf::{NamedNodeRef, Term};
use rustc_hash::FxHashMap;

use super::build::TripleBuildError;
use super::labels::{COUNT_BITS, TextRole, start};
use super::{EntityId, EntityKind, Store, TermId, layout};
use terrapin_base::LoadProgress;
use terrapin_base::external_sort::{SpillBuffer, SpillScratch, StringSorter};
use terrapin_base::words::words;
use terrapin_snapshot::{ColumnWriter, SnapshotWriter, write_words};

/// Number of texts added to a buffer at a time.
const AT_ONCE: usize = 1 << 16;

/// A literal with its kind and role in one number; and the fame of the entity subtracted from the largest number.
type Scored = [u64; 2];

fn of(literal: u64, kind: EntityKind, said: TextRole) -> u64 {
    literal << 3 | (said as u64) << 2 | kind as u64
}

/// Writes the index of the entities' texts.
///
/// # Errors
/// Returns an error if the disk is full, or the snapshot is damaged.
pub fn write_labels(
    store: &Store,
    scratch: &SpillScratch,
    writer: &mut SnapshotWriter,
    progress: &dyn LoadProgress,
) -> Result<(), TripleBuildError> {
    progress.phase("indexing labels", 0);
    let texts = scored(store, scratch)?;
    if texts.is_empty() {
        return Ok(());
    }
    let texts = texts.sort(|text| *text)?;
    // Keep each text once, with its best known entity.
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
        let start = start(EntityKind::ALL[(text & 3) as usize], TextRole::ALL[(text >> 2 & 1) as usize], &language);
        all.sort_unstable();
        all.dedup();
        all.iter().try_for_each(|word| sorter.push(format!("{start}{word}").as_bytes(), number))?;
        number += 1;
    }
    column.finish(writer)?;
    store.check()?;
    write_words(sorter, layout::LABEL_WORDS, scratch, writer)
}

/// Returns every text of an entity with the entity's fame.
fn scored(store: &Store, scratch: &SpillScratch) -> Result<SpillBuffer<Scored>, TripleBuildError> {
    let mut texts = SpillBuffer::new(scratch);
    let mut some = Vec::new();
    // Cache the fame of properties, which have many names and need several lookups.
    let mut properties: FxHashMap<u64, u64> = FxHashMap::default();
    for said in TextRole::ALL {
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
