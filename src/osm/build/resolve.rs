//! From ids to ordinals.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::BuildError;
use super::pile::{Pile, Scratch, Sealed};
use crate::osm::{Coord, Ordinal, Reference};

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
    entries: Sealed<Entry>,
}

impl Ids {
    /// From elements in the order of their ordinals.
    pub fn of<T: Sync>(
        scratch: &Scratch,
        elements: &[T],
        id_and_place: impl Fn(&T) -> (i64, Coord) + Sync,
    ) -> Result<Ids, BuildError> {
        let mut pile = Pile::new(scratch);
        let chunks: Vec<&[T]> = elements.chunks(CHUNK).collect();
        let entries = |i: usize, chunk: &&[T]| -> Vec<Entry> {
            let first = (i * CHUNK) as u64;
            let entry = |(ordinal, element)| {
                let (id, Coord { lat, lon }) = id_and_place(element);
                Entry { id, ordinal, lat, lon }
            };
            (first..).zip(chunk.iter()).map(entry).collect()
        };
        windows(&chunks, 64, entries, |entries| pile.extend(&entries))?;
        Ok(Ids { entries: pile.sort(|e| e.id)? })
    }

    /// All of them, by id.
    pub fn entries(&self) -> &[Entry] {
        self.entries.as_slice()
    }

    /// The entry of an id. `hint` is where the last one was found: neighbours in the source are neighbours here.
    pub fn find(&self, id: i64, hint: &mut usize) -> Option<&Entry> {
        let entries = self.entries();
        let at = gallop(entries, id, *hint);
        *hint = at;
        entries.get(at).filter(|e| e.id == id)
    }
}

/// How far from the hint an id is looked for before the whole table is.
const NEAR: usize = 64;

/// The first entry whose id is not below `id`, looked for around `hint` first.
fn gallop(entries: &[Entry], id: i64, hint: usize) -> usize {
    let hint = hint.min(entries.len());
    let below = |at: usize| entries[at].id < id;
    let (low, high) = if hint < entries.len() && below(hint) {
        let near = (hint + NEAR).min(entries.len() - 1);
        if below(near) { (near + 1, entries.len()) } else { (hint + 1, near) }
    } else {
        let near = hint.saturating_sub(NEAR);
        if below_or_none(near, below) { (near, hint) } else { (0, near) }
    };
    low + entries[low..high].partition_point(|e| e.id < id)
}

/// Whether everything before `at` may be left out.
fn below_or_none(at: usize, below: impl Fn(usize) -> bool) -> bool {
    at == 0 || below(at - 1)
}

/// Ids that are referred to and not there, numbered in the end by ascending id.
pub struct Missing {
    pile: Pile<i64>,
}

impl Missing {
    /// None yet.
    pub fn new(scratch: &Scratch) -> Missing {
        Missing { pile: Pile::new(scratch) }
    }

    /// Notes ids.
    pub fn extend(&mut self, ids: &[i64]) -> Result<(), BuildError> {
        self.pile.extend(ids)
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
    pub fn reference(self, missing: &[i64]) -> Reference {
        match self.ordinal() {
            Some(ordinal) => Reference::present(ordinal),
            None => Reference::missing(missing.partition_point(|&id| id < self.value) as u64),
        }
    }
}

/// Pairs (from, to) of ordinals, by both.
pub struct Links(Sealed<[u64; 2]>);

impl Links {
    /// Sorts links and drops repeated ones' effect by leaving them adjacent.
    pub fn of(pile: Pile<[u64; 2]>) -> Result<Links, BuildError> {
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
    fn galloping_finds_what_searching_finds() {
        let entries: Vec<Entry> = (0..100).map(|i| Entry { id: i * 3, ordinal: 0, lat: 0, lon: 0 }).collect();
        for hint in 0..=100 {
            for id in -2..305 {
                assert_eq!(gallop(&entries, id, hint), entries.partition_point(|e| e.id < id), "{id} from {hint}");
            }
        }
        assert_eq!(gallop(&[], 5, 0), 0);
    }
}
