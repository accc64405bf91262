//! Runs `[diff:]` and `[adiff:]`: the query runs at two moments, and `out` writes the differences.
//!
//! At the older moment, each `out` and each `compare` keeps its input set. At the newer moment, it compares its input
//! set with the kept one. Elements are matched by id. If the data has only one version of each element, an element in
//! both sets is unchanged. Otherwise its version and its coordinates are compared. Derived elements are equal if their
//! centers and tags are equal, regardless of id and type.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{RunContext, date, moment};
use crate::introsort;
use crate::plan::MetaTest;
use crate::quadtile;
use crate::reader::StoreReader;
use crate::set::{Derived, DerivedGeometry, ElementSet};
use crate::sorted;
use crate::syntax::{Script, SetName, TimeFrame, Timestamp};
use crate::{DiagnosticClass, OverpassCode, OverpassDiagnostic, OverpassFailure};
use terrapin_budget as budget;
use terrapin_osm::{Coord, ElementType, MetaRef, Ordinal, Osm};

/// The progress of a query with two moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffPhase {
    /// The query runs at the older moment and writes no output.
    Older,
    /// The query runs at the newer moment.
    Newer,
    /// The block of a `compare` runs over the older side.
    Initial,
    /// The block of a `compare` runs over the newer side.
    Final,
}

/// The state of a query with two moments, in addition to its sets.
pub struct Diff<'a> {
    /// `[adiff:]`: the output also contains the later or earlier state of elements that left or entered the set.
    pub augmented: bool,
    /// The older moment.
    pub from: Timestamp,
    /// The newer moment; `None` for the time of the data.
    pub to: Option<Timestamp>,
    /// The progress of the query.
    pub phase: DiffPhase,
    /// The input sets of statements at the older moment, by the statement's position in the text.
    recorded: BTreeMap<usize, InState<'a>>,
    /// The results of `compare`, by result set. Only `out` can read them.
    found: BTreeMap<SetName, Arc<SetChanges<'a>>>,
    /// Elements of which only the id is written in [`Phase::Initial`].
    pub bare: Arc<ElementSet>,
}

/// A set, with the state of the data that its ordinals refer to.
pub type InState<'a> = (Arc<ElementSet>, &'a Osm);

/// The differences of a set between two moments.
pub struct SetChanges<'a> {
    /// The state at the older moment.
    pub older: &'a Osm,
    /// The state at the newer moment.
    pub newer: &'a Osm,
    /// Elements of the set at the older moment only.
    pub removed: ElementSet,
    /// The subset of `removed` that still exists in the data at the newer moment.
    pub unchanged: ElementSet,
    /// Elements of the set at the newer moment only.
    pub added: ElementSet,
    /// The subset of `added` that already existed in the data at the older moment.
    pub preexisting: ElementSet,
    /// Elements of the set at both moments with another version or other coordinates: older and newer ordinal, by type.
    pub modified: [Vec<(Ordinal, Ordinal)>; 3],
}

impl SetChanges<'_> {
    /// Returns the modified elements, as of the older or the newer moment.
    pub fn modified(&self, older: bool) -> ElementSet {
        let mut set = ElementSet::default();
        for kind in ElementType::ALL {
            let side = self.modified[kind as usize].iter().map(|&(old, new)| if older { old } else { new });
            *set.part_mut(kind) = sorted::from_unsorted(side.collect());
        }
        set
    }

    /// Returns the approximate size in bytes.
    fn bytes(&self) -> u64 {
        let modified = self.modified.iter().map(|pairs| size_of_val(pairs.as_slice()) as u64).sum::<u64>();
        let sets = [&self.removed, &self.unchanged, &self.added, &self.preexisting];
        sets.into_iter().map(ElementSet::bytes).sum::<u64>() + modified
    }
}

impl<'a> Diff<'a> {
    /// Creates the state for a script with `[diff:]` or `[adiff:]`; `None` for other scripts.
    pub fn of(script: &Script) -> Option<Diff<'a>> {
        let TimeFrame::Diff { from, to, augmented } = script.settings.time else { return None };
        Some(Diff {
            augmented,
            from,
            to,
            phase: DiffPhase::Older,
            recorded: BTreeMap::new(),
            found: BTreeMap::new(),
            bare: Arc::default(),
        })
    }

    /// Keeps a statement's input set at the older moment. Returns whether it is the statement's first.
    pub fn keep(&mut self, place: usize, set: InState<'a>) -> bool {
        self.recorded.insert(place, set).is_none()
    }

    /// Returns a statement's input set at the older moment; `None` if it did not run then.
    pub fn recorded(&self, place: usize) -> Option<InState<'a>> {
        self.recorded.get(&place).cloned()
    }

    /// Returns the result of a `compare` in a set.
    pub fn found(&self, name: &str) -> Option<Arc<SetChanges<'a>>> {
        self.found.get(name).cloned()
    }

    /// Stores the result of a `compare` for a set.
    pub fn leave(&mut self, name: &str, changes: Arc<SetChanges<'a>>) {
        self.found.insert(name.to_owned(), changes);
    }

    /// Removes the result of a `compare` from a set.
    pub fn forget(&mut self, name: &str) {
        self.found.remove(name);
    }

    /// Returns the test of `(changed)` without arguments: a change between the query's two moments.
    pub fn changed(&self) -> MetaTest {
        MetaTest::Between(self.from, self.to.unwrap_or(Timestamp::MAX))
    }

    /// Returns the approximate size in bytes.
    pub fn bytes(&self) -> u64 {
        let found = self.found.values().map(|changes| changes.bytes());
        self.recorded.values().map(|(set, _)| set.bytes()).sum::<u64>() + found.sum::<u64>()
    }
}

/// Runs the whole query at both moments.
pub fn run(ctx: &mut RunContext) -> Result<(), OverpassFailure> {
    let Some(diff) = &ctx.diff else { return Ok(()) };
    let (from, to) = (diff.from, diff.to);
    let statements = &ctx.script.statements;
    ctx.look_at(Some(from))?;
    ctx.run_block(statements)?;
    ctx.sets.clear();
    ctx.loop_values.clear();
    ctx.outside.clear();
    ctx.look_at(to)?;
    if let Some(diff) = &mut ctx.diff {
        diff.phase = DiffPhase::Newer;
    }
    ctx.run_block(statements)
}

/// Computes the differences between two sets.
pub fn changes<'a>(
    ctx: &mut RunContext<'a>,
    (older, older_osm): InState<'a>,
    (newer, newer_osm): InState<'a>,
) -> SetChanges<'a> {
    let mut changes = SetChanges {
        older: older_osm,
        newer: newer_osm,
        removed: ElementSet::default(),
        unchanged: ElementSet::default(),
        added: ElementSet::default(),
        preexisting: ElementSet::default(),
        modified: Default::default(),
    };
    (changes.removed.areas, changes.added.areas) = (older.areas.clone(), newer.areas.clone());
    if std::ptr::eq(older_osm, newer_osm) {
        (changes.removed, changes.added) = (ElementSet::clone(&older), ElementSet::clone(&newer));
        changes.removed.subtract(&newer);
        changes.added.subtract(&older);
    } else {
        by_id(&mut changes, &older, &newer);
    }
    (changes.removed.derived, changes.added.derived) = apart(&older.derived, &newer.derived);
    if let Some(Diff { augmented: true, from, to, .. }) = ctx.diff {
        changes.unchanged = seen_at(ctx, to, &changes.removed, older_osm, newer_osm);
        changes.preexisting = seen_at(ctx, Some(from), &changes.added, newer_osm, older_osm);
        overlook(&mut changes);
    }
    changes
}

/// Compares the elements of two states, matched by id.
fn by_id(changes: &mut SetChanges<'_>, older: &ElementSet, newer: &ElementSet) {
    let (mut old_reader, mut new_reader) = (StoreReader::new(changes.older), StoreReader::new(changes.newer));
    for kind in ElementType::ALL {
        budget::work(older.part(kind).len() + newer.part(kind).len());
        let (olds, news) = (ids(changes.older, kind, older), ids(changes.newer, kind, newer));
        let in_other = |others: &[(i64, Ordinal)], id: i64| -> Option<Ordinal> {
            let at = others.binary_search_by_key(&id, |&(id, _)| id).ok()?;
            others.get(at).map(|&(_, ordinal)| ordinal)
        };
        let only = |these: &[(i64, Ordinal)], others: &[(i64, Ordinal)]| {
            let alone = these.iter().filter(|&&(id, _)| in_other(others, id).is_none());
            sorted::from_unsorted(alone.map(|&(_, ordinal)| ordinal).collect())
        };
        *changes.removed.part_mut(kind) = only(&olds, &news);
        *changes.added.part_mut(kind) = only(&news, &olds);
        for &(id, new) in &news {
            if let Some(old) = in_other(&olds, id)
                && differ((&mut old_reader, old), (&mut new_reader, new), kind)
            {
                changes.modified[kind as usize].push((old, new));
            }
        }
    }
}

/// Returns the ids and ordinals of a set's elements, sorted by id.
fn ids(osm: &Osm, kind: ElementType, set: &ElementSet) -> Vec<(i64, Ordinal)> {
    let mut ids: Vec<(i64, Ordinal)> = osm.ids(kind, set.part(kind)).into_iter().zip(set.part(kind).to_vec()).collect();
    ids.sort_unstable();
    ids
}

/// Returns whether an element's version, timestamp or coordinates differ between two moments. Compares the coordinates
/// of a way's nodes, and those of a relation's member nodes and ways.
fn differ(
    (old, a): (&mut StoreReader<'_>, Ordinal),
    (new, b): (&mut StoreReader<'_>, Ordinal),
    kind: ElementType,
) -> bool {
    let version = |meta: MetaRef| (meta.version, meta.timestamp);
    if version(old.meta(kind, a)) != version(new.meta(kind, b)) {
        return true;
    }
    match kind {
        ElementType::Node => old.coord(a) != new.coord(b),
        ElementType::Way => course(old, a) != course(new, b),
        ElementType::Relation => {
            let ((page, slot), (other, other_slot)) = (old.relation(a), new.relation(b));
            let mut members = page.members(slot).iter().zip(other.members(other_slot));
            members.any(|(a, b)| match (a.kind, a.element.ordinal(), b.element.ordinal()) {
                (ElementType::Relation, ..) | (_, None, None) => false,
                (ElementType::Node, Some(a), Some(b)) => old.coord(a) != new.coord(b),
                (ElementType::Way, Some(a), Some(b)) => course(old, a) != course(new, b),
                _ => true,
            })
        }
    }
}

/// Returns the coordinates of a way's nodes.
fn course(reader: &mut StoreReader<'_>, way: Ordinal) -> Vec<Coord> {
    let (page, slot) = reader.way(way);
    page.coords(slot).to_vec()
}

/// Keeps only those preexisting elements that the reference finds. It runs a binary search by id in the list of all
/// added elements, which is sorted by quadtile instead of id.
fn overlook(changes: &mut SetChanges<'_>) {
    for kind in ElementType::ALL {
        if changes.preexisting.part(kind).is_empty() {
            continue;
        }
        budget::work(changes.added.part(kind).len());
        let listed = quadtile::keyed(&mut StoreReader::new(changes.newer), kind, changes.added.part(kind));
        let listed: Vec<i64> = listed.into_iter().map(|(_, id, _)| id).collect();
        let ids = changes.newer.ids(kind, changes.preexisting.part(kind));
        let seen = changes.preexisting.part(kind).iter().zip(ids).filter(|&(_, id)| is_found(&listed, id));
        *changes.preexisting.part_mut(kind) = seen.map(|(&ordinal, _)| ordinal).collect();
    }
}

/// Returns whether a binary search finds a number in a list that may be unsorted. Written out, because the result in
/// such a list depends on each step.
fn is_found(list: &[i64], wanted: i64) -> bool {
    let (mut first, mut count) = (0, list.len());
    while count > 0 {
        let half = count / 2;
        if list.get(first + half).is_some_and(|&id| id < wanted) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    list.get(first) == Some(&wanted)
}

/// Returns the elements of a set that exist in the data at another moment.
fn seen_at(ctx: &mut RunContext, moment: Option<Timestamp>, set: &ElementSet, of: &Osm, there: &Osm) -> ElementSet {
    let elements = ElementSet { derived: Vec::new(), areas: Vec::new(), ..set.clone() };
    if ctx.history().is_some() {
        return moment::carried(&moment::carried(&elements, of, there), there, of);
    }
    let now = std::mem::replace(&mut ctx.date, moment);
    let seen = date::restrict(ctx, elements);
    ctx.date = now;
    seen
}

/// Returns the derived elements without an equal on the other side, in the reference's order. The reference sorts both
/// sides and merges them. Of several equal elements, the first ones are matched.
fn apart(older: &[Arc<Derived>], newer: &[Arc<Derived>]) -> (Vec<Arc<Derived>>, Vec<Arc<Derived>>) {
    let sorted = |list: &[Arc<Derived>]| {
        let mut list = list.to_vec();
        introsort::sort(&mut list, |a, b| by_content(a, b).is_lt());
        list.into_iter().peekable()
    };
    let (mut older, mut newer) = (sorted(older), sorted(newer));
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    loop {
        let order = match (older.peek(), newer.peek()) {
            (Some(old), Some(new)) => by_content(old, new),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return (removed, added),
        };
        let old = if order.is_le() { older.next() } else { None };
        let new = if order.is_ge() { newer.next() } else { None };
        match order {
            Ordering::Less => removed.extend(old),
            Ordering::Equal => {}
            Ordering::Greater => added.extend(new),
        }
    }
}

/// Compares derived elements by center, those without one first, then by tags.
fn by_content(a: &Derived, b: &Derived) -> Ordering {
    let center = |derived: &Derived| derived.geometry.as_ref().and_then(DerivedGeometry::middle);
    let places = match (center(a), center(b)) {
        (Some(a), Some(b)) => a.lat.total_cmp(&b.lat).then(a.lon.total_cmp(&b.lon)),
        (a, b) => a.is_some().cmp(&b.is_some()),
    };
    places.then_with(|| own_tags(a).cmp(own_tags(b)))
}

/// Returns the tags except `_next` and `_previous`. These link the pieces that `local` makes by their ids, which
/// continue to count up at the newer moment.
fn own_tags(derived: &Derived) -> impl Iterator<Item = &(String, String)> {
    derived.tags.iter().filter(|(key, _)| key != "_next" && key != "_previous")
}

/// Returns the error for an `out` that runs more than once at the older moment.
pub fn in_a_loop() -> OverpassFailure {
    let message = "A print statement cannot be executed in a loop in a diff setting.";
    let error = OverpassDiagnostic::new(DiagnosticClass::Runtime, OverpassCode::DiffInALoop, message);
    error.help("gather the elements in a union and write them after the loop").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(type_name: &str, id: i64, value: &str) -> Arc<Derived> {
        let tags = vec![("n".to_owned(), value.to_owned())];
        Arc::new(Derived { type_name: type_name.to_owned(), id, tags, geometry: None })
    }

    #[test]
    fn halving_overlooks_what_is_out_of_order() {
        let found = |list: &[i64]| -> Vec<bool> { list.iter().map(|&id| is_found(list, id)).collect() };
        assert_eq!(found(&[1, 4, 6, 9]), [true; 4]);
        assert_eq!(found(&[5, 6, 1, 2, 3, 4]), [false, false, false, false, true, true]);
    }

    #[test]
    fn derived_elements_are_matched_one_to_one_by_content() {
        let older = [made("x", 1, "1"), made("x", 2, "2"), made("x", 3, "0")];
        let newer = [made("y", 5, "1"), made("x", 6, "2"), made("x", 7, "1")];
        let (removed, added) = apart(&older, &newer);
        assert_eq!((removed, added), (vec![made("x", 3, "0")], vec![made("x", 7, "1")]));
    }
}
