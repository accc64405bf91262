//! From ids to ordinals.

use rayon::prelude::*;

use super::BuildError;
use super::pile::{Pile, Scratch, Sealed};
use crate::osm::{Ordinal, Reference};

/// All ids of one type with their ordinals, by id.
pub struct Ids {
    entries: Sealed<[i64; 2]>,
}

impl Ids {
    /// From the ids in the order of their ordinals.
    pub fn of(scratch: &Scratch, ids: impl Iterator<Item = i64>) -> Result<Ids, BuildError> {
        let mut pile = Pile::new(scratch);
        let mut window = Vec::with_capacity(1 << 14);
        for (ordinal, id) in ids.enumerate() {
            window.push([id, ordinal as i64]);
            if window.len() == window.capacity() {
                pile.extend(&window)?;
                window.clear();
            }
        }
        pile.extend(&window)?;
        Ok(Ids { entries: pile.sort(|e| e[0])? })
    }

    /// (id, ordinal) by id.
    pub fn entries(&self) -> &[[i64; 2]] {
        self.entries.as_slice()
    }

    /// The ordinal of an id. `hint` is where the last one was found: neighbours in the source are neighbours here.
    pub fn find(&self, id: i64, hint: &mut usize) -> Option<Ordinal> {
        let entries = self.entries();
        let at = gallop(entries, id, *hint);
        *hint = at;
        entries.get(at).filter(|e| e[0] == id).map(|e| e[1] as Ordinal)
    }
}

/// The first entry whose id is not below `id`, looked for around `hint`.
fn gallop(entries: &[[i64; 2]], id: i64, hint: usize) -> usize {
    let (mut low, mut high);
    if entries.get(hint).is_some_and(|e| e[0] < id) {
        let mut step = 1;
        low = hint + 1;
        high = low;
        while entries.get(high).is_some_and(|e| e[0] < id) {
            low = high + 1;
            step *= 2;
            high += step;
        }
        high = high.min(entries.len());
    } else {
        let mut step = 1;
        high = hint.min(entries.len());
        low = high;
        while low > 0 && entries[low - 1][0] >= id {
            high = low - 1;
            step *= 2;
            low = high.saturating_sub(step);
        }
    }
    low + entries[low..high].partition_point(|e| e[0] < id)
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
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Resolved {
    /// The ordinal or the id.
    value: i64,
    /// 1 where it is an id.
    missing: u64,
}

impl Resolved {
    /// What `id` is in `ids`.
    pub fn of(ids: &Ids, id: i64, hint: &mut usize) -> Resolved {
        match ids.find(id, hint) {
            Some(ordinal) => Resolved { value: ordinal as i64, missing: 0 },
            None => Resolved { value: id, missing: 1 },
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
        let entries: Vec<[i64; 2]> = (0..100).map(|i| [i * 3, i]).collect();
        for hint in 0..=100 {
            for id in -2..305 {
                assert_eq!(gallop(&entries, id, hint), entries.partition_point(|e| e[0] < id), "{id} from {hint}");
            }
        }
        assert_eq!(gallop(&[], 5, 0), 0);
    }
}
