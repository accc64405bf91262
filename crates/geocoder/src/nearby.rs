//! Reads the elements near a point, page by page.

use std::ops::Range;

use terrapin_budget as budget;
use terrapin_osm::geometry::{LatLon, LineVectors, Segment, around_box, metres};
use terrapin_osm::{BoundingBox, Coord, ElementType, KeyId, Ordinal, Osm, PairId};

/// Returns the tags of a key; empty if no element has it.
pub fn pairs_of(osm: &Osm, key: &str) -> Range<PairId> {
    osm.key(key).map_or(0..0, |key: KeyId| osm.pairs_of(key))
}

/// Returns the tag of an element within a range, by its tags in ascending order.
pub fn find_pair(tags: &[PairId], range: &Range<PairId>) -> Option<PairId> {
    let at = tags.partition_point(|&pair| pair < range.start);
    tags.get(at).copied().filter(|pair| range.contains(pair))
}

/// Returns whether an element has a tag within a range.
pub fn has_pair(tags: &[PairId], range: &Range<PairId>) -> bool {
    find_pair(tags, range).is_some()
}

/// A callback for an element: its type, its ordinal, its tags, and a function that computes its distance in metres.
type EachNear<'a> = dyn FnMut(ElementType, Ordinal, &[PairId], &dyn Fn() -> f64) + 'a;

/// Calls `each` for the nodes and ways with tags that may be within `radius` metres of a point.
pub fn each_near(
    osm: &Osm,
    at: Coord,
    radius: f64,
    mut each: impl FnMut(ElementType, Ordinal, &[PairId], &dyn Fn() -> f64),
) {
    each_node_near(osm, at, radius, &mut each);
    each_way_near(osm, at, radius, &mut each);
}

/// Calls `each` for nodes, see [`each_near`].
pub fn each_node_near(osm: &Osm, at: Coord, radius: f64, each: &mut EachNear<'_>) {
    let here = LatLon::from(at);
    let area = around_box(here, radius);
    for page in osm.pages_in(ElementType::Node, &area) {
        let (nodes, tags) = (osm.node_page(page), osm.tag_page(ElementType::Node, page));
        budget::checkpoints(nodes.coords.len() >> 3);
        for (slot, &coord) in nodes.coords.iter().enumerate() {
            let own = tags.tags(slot);
            if !own.is_empty() && area.contains(coord) {
                let ordinal = u64::from(page) * osm.page_size(ElementType::Node) + slot as u64;
                each(ElementType::Node, ordinal, own, &|| metres(here, coord.into()));
            }
        }
    }
}

/// Calls `each` for ways, see [`each_near`]. The distance inside of a closed way is 0, except of streets.
pub fn each_way_near(osm: &Osm, at: Coord, radius: f64, each: &mut EachNear<'_>) {
    let here = LatLon::from(at);
    let area = around_box(here, radius);
    let highways = pairs_of(osm, "highway");
    for page in osm.pages_in(ElementType::Way, &area) {
        let (ways, tags) = (osm.way_page(page), osm.tag_page(ElementType::Way, page));
        budget::checkpoints(ways.ids.len());
        for slot in 0..ways.ids.len() {
            let (own, line) = (tags.tags(slot), ways.coords(slot));
            if own.is_empty() || !may_meet(line, &area) {
                continue;
            }
            let ordinal = u64::from(page) * osm.page_size(ElementType::Way) + slot as u64;
            each(ElementType::Way, ordinal, own, &|| {
                let is_ring = line.len() > 3 && line.first() == line.last();
                if is_ring && !has_pair(own, &highways) && contains(line, at) {
                    return 0.0;
                }
                LineVectors::new(line).metres_to(here)
            });
        }
    }
}

fn may_meet(line: &[Coord], area: &BoundingBox) -> bool {
    let mut bounds = BoundingBox::EMPTY;
    line.iter().for_each(|at| bounds.extend(*at));
    !bounds.is_empty() && area.intersects(&bounds)
}

/// Returns whether a point is inside of a ring.
pub fn contains(ring: &[Coord], at: Coord) -> bool {
    let sides = ring.windows(2).map(|side| Segment { a: side[0], b: side[1] });
    let crossed = sides
        .filter(|Segment { a, b }| !a.is_missing() && !b.is_missing() && (a.lat > at.lat) != (b.lat > at.lat))
        .filter(|Segment { a, b }| {
            let (dx, dy) = (i128::from(b.lon) - i128::from(a.lon), i128::from(b.lat) - i128::from(a.lat));
            let left = (i128::from(at.lon) - i128::from(a.lon)) * dy - (i128::from(at.lat) - i128::from(a.lat)) * dx;
            (left < 0) == (dy > 0)
        });
    crossed.count() % 2 == 1
}

/// Returns the ordinals on the pages of a type that meet a box.
pub fn ranges(osm: &Osm, kind: ElementType, within: &BoundingBox) -> Vec<Range<Ordinal>> {
    let size = osm.page_size(kind);
    let mut ranges: Vec<Range<Ordinal>> = Vec::new();
    for page in osm.pages_in(kind, within) {
        let range = u64::from(page) * size..(u64::from(page) + 1) * size;
        match ranges.last_mut().filter(|last| last.end == range.start) {
            Some(last) => last.end = range.end,
            None => ranges.push(range),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_rings() {
        let ring: Vec<Coord> =
            [(0, 0), (0, 10), (10, 10), (10, 0), (0, 0)].iter().map(|&(lat, lon)| Coord { lat, lon }).collect();
        assert!(contains(&ring, Coord { lat: 5, lon: 5 }));
        assert!(!contains(&ring, Coord { lat: 5, lon: 15 }) && !contains(&ring, Coord { lat: 5, lon: -5 }));
        assert!(!contains(&ring, Coord { lat: 15, lon: 5 }));
    }
}
