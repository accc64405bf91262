//! Lines joined at their ends, and rings put into each other, as osmtogeojson does it: in the same order, and where
//! something is missing with the same outcome.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use terrapin_budget as budget;
use terrapin_osm::Coord;

/// What tells nodes apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum NodeKey {
    Id(i64),
    /// Of a node whose id is not in the answer.
    At(Coord),
}

/// A node of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Vertex {
    pub(super) key: NodeKey,
    pub(super) at: Coord,
}

/// Joins lines at their ends until each is closed or nothing goes on. Begins with the last line; of several that go on
/// takes the first.
pub(super) fn join(mut lines: Vec<Vec<Vertex>>) -> Vec<Vec<Vertex>> {
    let mut ends = Ends::of(&lines);
    let mut joined = Vec::new();
    for start in (0..lines.len()).rev() {
        if std::mem::replace(&mut ends.used[start], true) {
            continue;
        }
        let mut current = VecDeque::from(std::mem::take(&mut lines[start]));
        while let (Some(first), Some(last)) = (current.front().map(|v| v.key), current.back().map(|v| v.key)) {
            let next = [ends.next(first), ends.next(last)].into_iter().flatten().min();
            let Some(next) = next.filter(|_| first != last) else { break };
            ends.used[next] = true;
            let mut line = std::mem::take(&mut lines[next]);
            budget::checkpoints(line.len());
            let (begins, stops) = (line.first().map(|v| v.key), line.last().map(|v| v.key));
            if begins == Some(last) {
                current.extend(line.into_iter().skip(1));
            } else if stops == Some(last) {
                line.pop();
                current.extend(line.into_iter().rev());
            } else if stops == Some(first) {
                line.pop();
                line.into_iter().rev().for_each(|vertex| current.push_front(vertex));
            } else {
                line.into_iter().skip(1).for_each(|vertex| current.push_front(vertex));
            }
        }
        joined.push(current.into());
    }
    joined
}

/// Which lines end at a node.
struct Ends {
    used: Vec<bool>,
    /// Ascending, so that what is used is dropped from the front.
    at: FxHashMap<NodeKey, VecDeque<usize>>,
}

impl Ends {
    fn of(lines: &[Vec<Vertex>]) -> Ends {
        let mut at: FxHashMap<NodeKey, VecDeque<usize>> = FxHashMap::default();
        for (place, line) in lines.iter().enumerate() {
            budget::checkpoint();
            for end in [line.first(), line.last()].into_iter().flatten() {
                at.entry(end.key).or_default().push_back(place);
            }
        }
        Ends { used: vec![false; lines.len()], at }
    }

    /// The first line that is left at a node.
    fn next(&mut self, node: NodeKey) -> Option<usize> {
        let lines = self.at.get_mut(&node)?;
        while lines.front().is_some_and(|&line| self.used[line]) {
            lines.pop_front();
        }
        lines.front().copied()
    }
}

/// Polygons of outer and inner rings: an inner one lies in the first outer one that has a point of it. Rings of fewer
/// than four points are dropped; outer rings run counterclockwise, holes clockwise.
pub(super) fn polygons(outers: Vec<Vec<Coord>>, inners: Vec<Vec<Coord>>) -> Vec<Vec<Vec<Coord>>> {
    let grounds: Vec<Ground> = outers.iter().map(|ring| Ground::of(ring)).collect();
    let mut polygons: Vec<Vec<Vec<Coord>>> = outers.iter().map(|ring| vec![ring.clone()]).collect();
    for inner in inners {
        if let Some(outer) = (0..outers.len()).find(|&outer| grounds[outer].meets(&outers[outer], &inner)) {
            polygons[outer].push(inner);
        }
    }
    for polygon in &mut polygons {
        polygon.retain(|ring| ring.len() >= 4);
        for (at, ring) in polygon.iter_mut().enumerate() {
            turn(ring, at == 0);
        }
    }
    polygons.retain(|polygon| !polygon.is_empty());
    polygons
}

/// The box of a ring.
struct Ground {
    low: Coord,
    high: Coord,
}

impl Ground {
    fn of(ring: &[Coord]) -> Ground {
        let (mut low, mut high) = (Coord { lat: i32::MAX, lon: i32::MAX }, Coord { lat: i32::MIN, lon: i32::MIN });
        for c in ring {
            low = Coord { lat: low.lat.min(c.lat), lon: low.lon.min(c.lon) };
            high = Coord { lat: high.lat.max(c.lat), lon: high.lon.max(c.lon) };
        }
        Ground { low, high }
    }

    /// Whether a ring's inside has one of these points.
    fn meets(&self, ring: &[Coord], points: &[Coord]) -> bool {
        points.iter().any(|point| {
            budget::checkpoint();
            let boxed = (self.low.lat..=self.high.lat).contains(&point.lat)
                && (self.low.lon..=self.high.lon).contains(&point.lon);
            boxed && has(ring, *point)
        })
    }
}

/// Whether a point lies in a ring, by counting crossings. In doubles, so that points on the border fall to the side that
/// osmtogeojson has them on.
fn has(ring: &[Coord], point: Coord) -> bool {
    let degrees = |c: &Coord| (f64::from(c.lat) / 1e7, f64::from(c.lon) / 1e7);
    let (x, y) = degrees(&point);
    let mut inside = false;
    budget::checkpoints(ring.len());
    let Some(mut before) = ring.last().map(degrees) else { return false };
    for at in ring.iter().map(degrees) {
        let ((xi, yi), (xj, yj)) = (at, before);
        if ((yi > y) != (yj > y)) && x < (xj - xi) * (y - yi) / (yj - yi) + xi {
            inside = !inside;
        }
        before = at;
    }
    inside
}

/// Turns a ring around where it does not run as it should. One without area counts as clockwise.
pub(super) fn turn(ring: &mut [Coord], counterclockwise: bool) {
    let Some(&last) = ring.last() else { return };
    let mut twice = 0_i128;
    let mut before = last;
    for &c in ring.iter() {
        twice += i128::from(c.lon) * i128::from(before.lat) - i128::from(before.lon) * i128::from(c.lat);
        before = c;
    }
    if (twice >= 0) == counterclockwise {
        ring.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(ids: &[i64]) -> Vec<Vertex> {
        let at = |id: i64| Coord { lat: id as i32, lon: 0 };
        ids.iter().map(|&id| Vertex { key: NodeKey::Id(id), at: at(id) }).collect()
    }

    fn joined(lines: &[&[i64]]) -> Vec<Vec<i32>> {
        let lines = lines.iter().map(|ids| line(ids)).collect();
        join(lines).into_iter().map(|line| line.into_iter().map(|vertex| vertex.at.lat).collect()).collect()
    }

    #[test]
    fn lines_are_joined_as_osmtogeojson_joins_them() {
        // Found by running it.
        assert_eq!(joined(&[&[1, 2, 3], &[5, 4, 3], &[5, 6, 1]]), [vec![5, 6, 1, 2, 3, 4, 5]]);
        assert_eq!(joined(&[&[1, 2], &[7, 8, 9, 7], &[3, 2]]), [vec![3, 2, 1], vec![7, 8, 9, 7]]);
        assert_eq!(joined(&[&[], &[1]]), [vec![1], vec![]]);
    }

    #[test]
    fn holes_lie_in_the_ring_around_them() {
        let square = |at: i32, side: i32| -> Vec<Coord> {
            [(at, at), (at + side, at), (at + side, at + side), (at, at + side), (at, at)]
                .into_iter()
                .map(|(lat, lon)| Coord { lat, lon })
                .collect()
        };
        let found = polygons(vec![square(0, 10), square(100, 50)], vec![square(110, 5), square(500, 5)]);
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
        let mut outer = square(100, 50);
        outer.reverse();
        assert_eq!(found[1], [outer, square(110, 5)]);
    }
}
