//! Finds the changes between two moments: elements with a new version, ways whose nodes moved, and relations whose
//! nodes moved or whose ways changed their course. As in the reference, an element that is restored after a deletion
//! does not change the ways and relations that contain it.

use terrapin_base::external_sort::SortRows;

use super::{History, PageEntry, each_page};
use crate::build::{Version as Row, get_members, get_nodes, get_tags};
use crate::store::Osm;
use crate::types::ElementType;

/// An element and when it moved, was deleted or, a way, got another course.
type Moved = (i64, u32);

/// A finding about an element of a page.
enum ElementChange {
    /// The element with this id has another version.
    Changed(i64),
    /// It is no longer where it was.
    Moved(Moved),
}

/// A time after the first and not after the second.
#[derive(Clone, Copy)]
struct TimeInterval {
    since: i64,
    until: i64,
}

impl TimeInterval {
    fn has(self, time: u32) -> bool {
        i64::from(time) > self.since && i64::from(time) <= self.until
    }

    /// Returns whether a page has any version of that time.
    fn meets(self, page: &PageEntry) -> bool {
        i64::from(page.newest) > self.since && i64::from(page.oldest) <= self.until
    }
}

impl History {
    /// Returns the ids of the elements that changed after the first moment and not after the second, by type and
    /// ascending.
    pub fn changed(&self, osm: &Osm, since: i64, until: i64) -> [Vec<i64>; 3] {
        changed(osm, since, until)
    }
}

/// See [`History::changed`].
pub(super) fn changed(osm: &Osm, since: i64, until: i64) -> [Vec<i64>; 3] {
    let span = TimeInterval { since, until };
    let node = each_page(osm, ElementType::Node, |page| span.meets(page), |rows| of_nodes(rows, span));
    let (nodes, moved_nodes) = parted(node);
    let nothing = moved_nodes.is_empty();
    let way = each_page(
        osm,
        ElementType::Way,
        |page| i64::from(page.oldest) <= until && (!nothing || span.meets(page)),
        |rows| of_ways(rows, span, &moved_nodes),
    );
    let (ways, moved_ways) = parted(way);
    let nothing = nothing && moved_ways.is_empty();
    let relation = each_page(
        osm,
        ElementType::Relation,
        |page| i64::from(page.oldest) <= until && (!nothing || span.meets(page)),
        |rows| of_relations(rows, span, &moved_nodes, &moved_ways),
    );
    [nodes, ways, parted(relation).0]
}

/// Splits the findings into changed and moved elements, each ascending and without duplicates.
fn parted(found: Vec<ElementChange>) -> (Vec<i64>, Vec<Moved>) {
    let (mut changed, mut moved) = (Vec::new(), Vec::new());
    for found in found {
        match found {
            ElementChange::Changed(id) => changed.push(id),
            ElementChange::Moved(at) => moved.push(at),
        }
    }
    changed.dedup();
    moved.sort_unstable();
    moved.dedup();
    (changed, moved)
}

/// Returns the times at which the element `id` moved, limited to those for which `holds` returns true.
fn moves(moved: &[Moved], id: i64, holds: impl Fn(u32) -> bool) -> impl Iterator<Item = u32> {
    let first = moved.partition_point(|&(other, _)| other < id);
    moved[first..].iter().take_while(move |(other, _)| *other == id).map(|&(_, time)| time).filter(move |&t| holds(t))
}

fn of_nodes(rows: &SortRows<Row>, span: TimeInterval) -> Vec<ElementChange> {
    let mut found = Vec::new();
    for (before, node) in versions(rows) {
        if !span.has(node.timestamp) {
            continue;
        }
        found.push(ElementChange::Changed(node.id));
        let moves = |before: &Row| !before.is_deleted() && (node.is_deleted() || before.key != node.key);
        found.extend(before.filter(|before| moves(before)).map(|_| ElementChange::Moved((node.id, node.timestamp))));
    }
    found
}

fn of_ways(rows: &SortRows<Row>, span: TimeInterval, moved: &[Moved]) -> Vec<ElementChange> {
    let mut found = Vec::new();
    each_version(rows, |before, way, until| {
        let nodes = nodes(rows, way);
        if span.has(way.timestamp) {
            found.push(ElementChange::Changed(way.id));
            let other = |before: &Row| !before.is_deleted() && (way.is_deleted() || self::nodes(rows, before) != nodes);
            found.extend(before.filter(|before| other(before)).map(|_| ElementChange::Moved((way.id, way.timestamp))));
        }
        if !way.is_deleted() {
            let from = way.timestamp;
            for time in nodes.iter().flat_map(|&node| moves(moved, node, move |time| time >= from && time < until)) {
                found.push(ElementChange::Changed(way.id));
                found.push(ElementChange::Moved((way.id, time)));
            }
        }
    });
    found
}

fn of_relations(rows: &SortRows<Row>, span: TimeInterval, nodes: &[Moved], ways: &[Moved]) -> Vec<ElementChange> {
    let mut found = Vec::new();
    each_version(rows, |_, relation, until| {
        let from = relation.timestamp;
        let (_, mut reader) = get_tags(rows.payload(relation));
        let mut members = get_members(&mut reader, relation.parts());
        let moved = |kind: usize, id: i64| {
            let moved = match kind {
                kind if kind == ElementType::Node as usize => nodes,
                kind if kind == ElementType::Way as usize => ways,
                _ => return false,
            };
            moves(moved, id, |time| time >= from && time < until).next().is_some()
        };
        let changed = span.has(from) || !relation.is_deleted() && members.any(|m| moved(m.kind, m.value));
        found.extend(changed.then_some(ElementChange::Changed(relation.id)));
    });
    found
}

/// Returns the nodes of a way.
fn nodes(rows: &SortRows<Row>, way: &Row) -> Vec<i64> {
    let (_, mut reader) = get_tags(rows.payload(way));
    get_nodes(&mut reader, way.parts()).collect()
}

/// Every version with the one before it.
fn versions(rows: &SortRows<Row>) -> impl Iterator<Item = (Option<&Row>, &Row)> {
    let records = &rows.records;
    let before = move |at: usize| at.checked_sub(1).and_then(|at| records.get(at));
    records.iter().enumerate().map(move |(at, row)| (before(at).filter(|before| before.id == row.id), row))
}

/// Hands over every version with the one before it, and until when it was the last.
fn each_version(rows: &SortRows<Row>, mut each: impl FnMut(Option<&Row>, &Row, u32)) {
    for (at, (before, row)) in versions(rows).enumerate() {
        let next = rows.records.get(at + 1).filter(|next| next.id == row.id);
        each(before, row, next.map_or(u32::MAX, |next| next.timestamp));
    }
}
