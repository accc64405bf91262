//! From ids to ordinals.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::BuildError;
use crate::{Coord, ElementRef, Ordinal};
use terrapin_base::external_sort::{Records, Scratch, SpillBuffer};

/// Elements handled at once.
const CHUNK: usize = 4096;

/// An id, where its element is in order, and for nodes where in the world: references are resolved in runs of
/// neighbouring ids, so what they need stands together here and not in the elements' own order.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Entry {
    /// The id.
    pub id: i64,
    /// The ordinal.
    pub ordinal: u64,
    /// The position of a node.
    pub lat: i32,
    /// The position of a node.
    pub lon: i32,
}

/// All ids of one type with their ordinals, by id.
pub struct Ids {
    entries: Records<Entry>,
    /// Every [`SAMPLE`]th id: few enough to stay in the processor's cache, where most steps of a search then are.
    samples: Vec<i64>,
}

/// Ids from one sample to the next.
const SAMPLE: usize = 64;

impl Ids {
    /// From elements in the order of their ordinals.
    pub fn of<T: Sync>(
        scratch: &Scratch,
        elements: &[T],
        id_and_place: impl Fn(&T) -> (i64, Coord) + Sync,
    ) -> Result<Ids, BuildError> {
        let mut pile = SpillBuffer::new(scratch);
        let chunks: Vec<&[T]> = elements.chunks(CHUNK).collect();
        let entries = |i: usize, chunk: &&[T]| -> Vec<Entry> {
            let first = (i * CHUNK) as u64;
            let entry = |(ordinal, element)| {
                let (id, Coord { lat, lon }) = id_and_place(element);
                Entry { id, ordinal, lat, lon }
            };
            (first..).zip(chunk.iter()).map(entry).collect()
        };
        windows(&chunks, 64, entries, |entries| Ok(pile.extend(&entries)?))?;
        let entries = pile.sort(|e| e.id)?;
        let samples = entries.as_slice().iter().step_by(SAMPLE).map(|e| e.id).collect();
        Ok(Ids { entries, samples })
    }

    /// All of them, by id.
    pub fn entries(&self) -> &[Entry] {
        self.entries.as_slice()
    }

    /// The entry of an id. `hint` is where the last one was found: neighbours in the source are neighbours here.
    pub fn find(&self, id: i64, hint: &mut usize) -> Option<&Entry> {
        let entries = self.entries();
        let at = near(entries, id, *hint).unwrap_or_else(|| {
            let sample = self.samples.partition_point(|&s| s < id);
            let (low, high) = (sample.saturating_sub(1) * SAMPLE, (sample * SAMPLE).min(entries.len()));
            low + entries[low..high].partition_point(|e| e.id < id)
        });
        *hint = at;
        entries.get(at).filter(|e| e.id == id)
    }
}

/// How far from the hint an id is looked for before the whole table is.
const NEAR: usize = 16;

/// The first entry whose id is not below `id`, where that is near `hint`.
fn near(entries: &[Entry], id: i64, hint: usize) -> Option<usize> {
    let low = hint.saturating_sub(NEAR);
    let high = hint.saturating_add(NEAR).min(entries.len());
    let around = entries.get(low..high)?;
    let first_is_below = low == 0 || around.first().is_some_and(|e| e.id < id);
    let last_is_not = high == entries.len() || around.last().is_some_and(|e| e.id >= id);
    (first_is_below && last_is_not).then(|| low + around.partition_point(|e| e.id < id))
}

/// Ids that are referred to and not there, numbered in the end by ascending id.
pub struct Missing {
    pile: SpillBuffer<i64>,
}

impl Missing {
    /// None yet.
    pub fn new(scratch: &Scratch) -> Missing {
        Missing { pile: SpillBuffer::new(scratch) }
    }

    /// Notes ids.
    pub fn extend(&mut self, ids: &[i64]) -> Result<(), BuildError> {
        Ok(self.pile.extend(ids)?)
    }

    /// The distinct ids, ascending.
    pub fn finish(self) -> Result<Vec<i64>, BuildError> {
        let sorted = self.pile.sort(|&id| id)?;
        let mut ids = sorted.as_slice().to_vec();
        ids.dedup();
        Ok(ids)
    }
}

/// A reference while missing ids have no numbers yet: an ordinal, or the bits of `!id` marked by the highest bit pattern
/// that no ordinal has.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Resolved {
    /// The ordinal or the id.
    value: i64,
    /// 1 where it is an id.
    missing: u64,
}

impl Resolved {
    /// An element that is there.
    pub fn present(ordinal: Ordinal) -> Resolved {
        Resolved { value: ordinal as i64, missing: 0 }
    }

    /// One that is not.
    pub fn missing(id: i64) -> Resolved {
        Resolved { value: id, missing: 1 }
    }

    /// What `id` is in `ids`.
    pub fn of(ids: &Ids, id: i64, hint: &mut usize) -> Resolved {
        match ids.find(id, hint) {
            Some(entry) => Resolved::present(entry.ordinal),
            None => Resolved::missing(id),
        }
    }

    /// The ordinal, where the element is there.
    pub fn ordinal(self) -> Option<Ordinal> {
        (self.missing == 0).then_some(self.value as Ordinal)
    }

    /// The id, where it is not.
    pub fn missing_id(self) -> Option<i64> {
        (self.missing != 0).then_some(self.value)
    }

    /// The final reference; `missing` are the missing ids of that type.
    pub fn reference(self, missing: &[i64]) -> ElementRef {
        match self.ordinal() {
            Some(ordinal) => ElementRef::present(ordinal),
            None => ElementRef::missing(missing.partition_point(|&id| id < self.value) as u64),
        }
    }
}

/// Pairs (from, to) of ordinals, by both.
pub struct Links(Records<[u64; 2]>);

impl Links {
    /// Sorts links and drops repeated ones' effect by leaving them adjacent.
    pub fn of(pile: SpillBuffer<[u64; 2]>) -> Result<Links, BuildError> {
        Ok(Links(pile.sort(|l| *l)?))
    }

    /// The links from the ordinals `from..to`.
    pub fn range(&self, from: u64, to: u64) -> &[[u64; 2]] {
        let links = self.0.as_slice();
        let start = links.partition_point(|l| l[0] < from);
        let len = links[start..].partition_point(|l| l[0] < to);
        &links[start..start + len]
    }
}

/// Maps windows of `items` in parallel and hands the results over in order, so that memory holds one window's.
pub fn windows<T: Sync, R: Send>(
    items: &[T],
    window: usize,
    map: impl Fn(usize, &T) -> R + Sync,
    mut each: impl FnMut(R) -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    for (w, window_items) in items.chunks(window).enumerate() {
        let results: Vec<R> = window_items.par_iter().enumerate().map(|(i, item)| map(w * window + i, item)).collect();
        results.into_iter().try_for_each(&mut each)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_from_any_hint() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(folder.path(), 1 << 20);
        for n in [0, 1, 63, 64, 65, 300] {
            let elements: Vec<i64> = (0..n).map(|i| i * 3).collect();
            let ids = Ids::of(&scratch, &elements, |&id| (id, Coord::MISSING)).unwrap();
            for hint in [0, 1, 17, 64, 150, 299, 1000] {
                for id in -2..n * 3 + 2 {
                    let expected = (id >= 0 && id % 3 == 0 && id / 3 < n).then_some(id as u64 / 3);
                    let mut at = hint;
                    assert_eq!(ids.find(id, &mut at).map(|e| e.ordinal), expected, "{id} of {n} from {hint}");
                    assert_eq!(at, elements.partition_point(|&e| e < id));
                }
            }
        }
    }
}
