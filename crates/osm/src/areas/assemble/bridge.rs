//! Draws open ways of a border that lack nodes straight from each known node to the next.

use std::collections::BTreeMap;

use crate::geometry::Segment;
use crate::{Coord, ElementRef};

/// The open ways of a border that lack nodes.
#[derive(Default)]
pub(super) struct Bridges {
    segments: Vec<Segment>,
    /// Nodes without a known position at which ways end, each with the way's last known position before it.
    loose: Vec<(ElementRef, Coord)>,
    /// The ends of the ways without a known position: the same place, as far as is known.
    same: Vec<[ElementRef; 2]>,
}

impl Bridges {
    /// Adds a way: its first and last node, and the positions of all its nodes, some of which are missing.
    pub fn add(&mut self, [first, last]: [ElementRef; 2], coords: &[Coord]) {
        let known = || coords.iter().copied().filter(|c| !c.is_missing());
        let (Some(start), Some(end)) = (known().next(), known().next_back()) else {
            self.same.push([first, last]);
            return;
        };
        self.segments.extend(known().zip(known().skip(1)).map(|(a, b)| Segment { a, b }));
        let is_missing = |c: Option<&Coord>| c.is_none_or(|c| c.is_missing());
        if is_missing(coords.first()) {
            self.loose.push((first, start));
        }
        if is_missing(coords.last()) {
            self.loose.push((last, end));
        }
    }

    /// Adds their segments. Two ways that end with the same unknown node are joined; of more than two, each with the
    /// next in the order of the members.
    pub fn build(mut self, border: &mut Vec<Segment>) {
        border.append(&mut self.segments);
        let mut places: BTreeMap<ElementRef, ElementRef> = BTreeMap::new();
        for &[a, b] in &self.same {
            let (a, b) = (place_of(&mut places, a), place_of(&mut places, b));
            if a != b {
                places.insert(a.max(b), a.min(b));
            }
        }
        for (end, _) in &mut self.loose {
            *end = place_of(&mut places, *end);
        }
        // Stable: those of one place stay in the order of the members.
        self.loose.sort_by_key(|(end, _)| *end);
        for same in self.loose.chunk_by(|a, b| a.0 == b.0) {
            border.extend(same.chunks_exact(2).map(|pair| Segment { a: pair[0].1, b: pair[1].1 }));
        }
    }
}

/// Returns the first of the ends at the same place as `end`, and shortens the path to it.
fn place_of(places: &mut BTreeMap<ElementRef, ElementRef>, end: ElementRef) -> ElementRef {
    let mut first = end;
    while let Some(&next) = places.get(&first) {
        first = next;
    }
    let mut at = end;
    while let Some(next) = places.get_mut(&at) {
        at = std::mem::replace(next, first);
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn c(lat: i32, lon: i32) -> Coord {
        Coord { lat, lon }
    }

    const M: Coord = Coord::MISSING;

    fn built(ways: &[(u64, &[Coord], u64)]) -> Vec<[(i32, i32); 2]> {
        let mut bridges = Bridges::default();
        for (first, coords, last) in ways {
            bridges.add([first, last].map(|&end| ElementRef::missing(end)), coords);
        }
        let mut border = Vec::new();
        bridges.build(&mut border);
        border.iter().map(|s| [s.a, s.b].map(|c| (c.lat, c.lon))).collect()
    }

    #[test]
    fn a_way_leads_over_what_it_lacks() {
        assert_eq!(built(&[(1, &[c(0, 0), M, c(0, 2), M, M, c(0, 5)], 2)]), [[(0, 0), (0, 2)], [(0, 2), (0, 5)]]);
        assert!(built(&[(1, &[c(0, 0), M, M], 2)]).is_empty());
    }

    #[test]
    fn ways_are_joined_where_both_end_with_an_unknown_node() {
        let joined = built(&[(1, &[c(0, 0), M], 9), (9, &[M, c(0, 5)], 2)]);
        assert_eq!(joined, [[(0, 0), (0, 5)]]);
        let through_unknown = built(&[(1, &[c(0, 0), M], 8), (8, &[M, M], 7), (6, &[M, M], 7), (6, &[M, c(0, 5)], 2)]);
        assert_eq!(through_unknown, [[(0, 0), (0, 5)]]);
        let four = [c(0, 1), c(0, 2), c(0, 3), c(0, 4)].map(|c| [c, M]);
        let four: Vec<(u64, &[Coord], u64)> = (1..).zip(&four).map(|(first, coords)| (first, &coords[..], 9)).collect();
        assert_eq!(built(&four), [[(0, 1), (0, 2)], [(0, 3), (0, 4)]]);
    }
}
