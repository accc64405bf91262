//! The shape of an element as GeoJSON has it: rings with holes, put together from an area's ways.

mod areal;

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use terrapin_budget as budget;

use crate::areas::{Shape, is_closed};
use crate::geometry::Location;
use crate::{BoundingBox, Coord, ElementRef, ElementType, Ordinal, Osm};

pub use areal::is_area;

/// A line, of a ring with its first point again at the end.
pub type Line = Vec<Coord>;

/// An element's shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outline {
    /// A node's.
    Point(Coord),
    /// An open way's.
    Line(Line),
    /// An area's: for each polygon its outer ring, which runs counterclockwise, and its holes, which run clockwise.
    Polygons(Vec<Vec<Line>>),
}

impl Outline {
    /// Of an element; `None` where it has no place, or is a relation and no area.
    pub fn of(osm: &Osm, kind: ElementType, ordinal: Ordinal) -> Option<Outline> {
        match kind {
            ElementType::Node => {
                osm.coords(&[ordinal]).first().filter(|c| !c.is_missing()).copied().map(Outline::Point)
            }
            ElementType::Way => {
                let (nodes, line) = way(osm, ordinal);
                if line.is_empty() {
                    return None;
                }
                let ring = is_closed(&nodes) && line.len() >= 4;
                Some(if ring { Outline::Polygons(polygons(vec![line])) } else { Outline::Line(line) })
            }
            ElementType::Relation => {
                osm.areas().of_relation(ordinal)?;
                Some(Outline::Polygons(polygons(rings(ways_of(osm, ordinal)))))
            }
        }
    }

    /// The box around it; empty where it has no point.
    pub fn bounds(&self) -> BoundingBox {
        let mut bounds = BoundingBox::EMPTY;
        match self {
            Outline::Point(point) => bounds.extend(*point),
            Outline::Line(line) => line.iter().for_each(|c| bounds.extend(*c)),
            Outline::Polygons(all) => all.iter().flatten().flatten().for_each(|c| bounds.extend(*c)),
        }
        bounds
    }
}

/// The polygons that the ways of a relation make, whether it is an area of queries or not: each its outer ring, which runs
/// counterclockwise, and its holes, which run clockwise. What does not close is left out.
pub fn multipolygon(osm: &Osm, relation: Ordinal) -> Vec<Vec<Line>> {
    polygons(rings(ways_of(osm, relation)))
}

/// The polygons that lines make: joined where they end in the same place, rings in rings as holes; as [`Outline::Polygons`]
/// has them. What closes no ring is left out.
pub fn polygons_of(lines: Vec<Line>) -> Vec<Vec<Line>> {
    let part = |line: Line| Some(Part { ends: [*line.first()?, *line.last()?], line });
    polygons(rings(lines.into_iter().filter(|line| line.len() >= 2).filter_map(part).collect()))
}

/// A way's nodes, and the positions of those that are there.
fn way(osm: &Osm, ordinal: Ordinal) -> (Vec<ElementRef>, Line) {
    let (nodes, mut line) = osm.way(ordinal);
    line.retain(|c| !c.is_missing());
    (nodes, line)
}

/// A part of a border: the nodes at its ends and what lies between them.
struct Part<Node> {
    ends: [Node; 2],
    line: Line,
}

/// The ways of a relation, each once.
fn ways_of(osm: &Osm, relation: Ordinal) -> Vec<Part<ElementRef>> {
    let (page, slot) = osm.place(ElementType::Relation, relation);
    let page = osm.relation_page(page);
    let mut seen = HashSet::new();
    let ways = page.members(slot).iter().filter(|m| m.kind == ElementType::Way).filter_map(|m| m.element.ordinal());
    ways.filter(|way| seen.insert(*way))
        .filter_map(|ordinal| {
            budget::checkpoint();
            let (nodes, line) = way(osm, ordinal);
            let ends = [*nodes.first()?, *nodes.last()?];
            (line.len() >= 2).then_some(Part { ends, line })
        })
        .collect()
}

/// Joins parts at their ends. Where more than two meet, a ring is closed as soon as the walk comes back to a node.
fn rings<Node: Copy + Eq + Hash>(mut parts: Vec<Part<Node>>) -> Vec<Line> {
    let mut at: HashMap<Node, Vec<usize>> = HashMap::new();
    for (i, part) in parts.iter().enumerate() {
        at.entry(part.ends[0]).or_default().push(i);
        at.entry(part.ends[1]).or_default().push(i);
    }
    let mut used = vec![false; parts.len()];
    let mut rings = Vec::new();
    for first in 0..parts.len() {
        // The parts walked along, and where each begins.
        let mut path: Vec<(Node, Line)> = Vec::new();
        let mut next = (!used[first]).then_some(first);
        let mut here = parts[first].ends[0];
        while let Some(part) = next {
            budget::checkpoint();
            used[part] = true;
            let Part { ends, line } = &mut parts[part];
            let mut line = std::mem::take(line);
            let mut to = ends[1];
            if ends[0] != here {
                line.reverse();
                to = ends[0];
            }
            path.push((here, line));
            here = to;
            if let Some(from) = path.iter().position(|(begin, _)| *begin == here) {
                rings.push(joined(path.drain(from..).map(|(_, line)| line)));
            }
            next = at.get_mut(&here).and_then(|ways| {
                ways.retain(|way| !used[*way]);
                ways.first().copied()
            });
        }
    }
    rings.retain(|ring| ring.len() >= 4);
    rings
}

fn joined(lines: impl Iterator<Item = Line>) -> Line {
    let mut ring = Line::new();
    for line in lines {
        // It begins where the one before ends.
        ring.pop();
        ring.extend(line);
    }
    ring
}

/// Rings in rings are holes, those in holes are outer ones again.
fn polygons(rings: Vec<Line>) -> Vec<Vec<Line>> {
    let shapes: Vec<Shape> = rings.iter().map(|ring| Shape::from_closed_line(ring)).collect();
    let around: Vec<Vec<usize>> = (0..rings.len())
        .map(|inner| {
            (0..rings.len())
                .filter(|&outer| outer != inner && holds(&shapes[outer], &shapes[inner], &rings[inner]))
                .collect()
        })
        .collect();
    let mut polygons: Vec<Vec<Line>> = Vec::new();
    let mut place = HashMap::new();
    for outer in (0..rings.len()).filter(|&ring| around[ring].len().is_multiple_of(2)) {
        place.insert(outer, polygons.len());
        polygons.push(vec![turned(&rings[outer], true)]);
    }
    for hole in (0..rings.len()).filter(|&ring| !around[ring].len().is_multiple_of(2)) {
        // The innermost of those around it.
        let outer = around[hole].iter().filter(|ring| place.contains_key(ring)).max_by_key(|ring| around[**ring].len());
        if let Some(polygon) = outer.and_then(|outer| polygons.get_mut(place[outer])) {
            polygon.push(turned(&rings[hole], false));
        }
    }
    polygons
}

/// Whether a ring lies in another: by its first point that is not on the other's border.
fn holds(outer: &Shape, inner: &Shape, ring: &[Coord]) -> bool {
    let (around, within) = (outer.bbox(), inner.bbox());
    let boxed = around.south <= within.south
        && around.north >= within.north
        && around.west <= within.west
        && around.east >= within.east;
    budget::checkpoint();
    boxed && ring.iter().map(|c| outer.locate(*c)).find(|at| *at != Location::Border) == Some(Location::Inside)
}

/// A ring in the direction asked for.
fn turned(ring: &[Coord], counterclockwise: bool) -> Line {
    let twice: i128 = ring
        .windows(2)
        .map(|side| {
            i128::from(side[0].lon) * i128::from(side[1].lat) - i128::from(side[1].lon) * i128::from(side[0].lat)
        })
        .sum();
    let mut ring = ring.to_vec();
    if (twice > 0) != counterclockwise {
        ring.reverse();
    }
    ring
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[(i32, i32)]) -> Line {
        points.iter().map(|&(lat, lon)| Coord { lat, lon }).collect()
    }

    fn square(at: i32, side: i32) -> Line {
        line(&[(at, at), (at + side, at), (at + side, at + side), (at, at + side), (at, at)])
    }

    #[test]
    fn rings_in_rings_are_holes_and_islands_in_them_polygons() {
        let all = polygons(vec![square(40, 10), square(0, 100), square(20, 60), square(200, 5)]);
        let sizes: Vec<Vec<i32>> = all
            .iter()
            .map(|polygon| polygon.iter().map(|ring| ring.iter().map(|c| c.lat).max().unwrap_or(0)).collect())
            .collect();
        assert_eq!(sizes, [vec![50], vec![100, 80], vec![205]]);
        // Given clockwise; the outer ring runs the other way, the hole does not.
        assert_eq!(all[1][0], {
            let mut ring = square(0, 100);
            ring.reverse();
            ring
        });
        assert_eq!(all[1][1], square(20, 60));
    }

    #[test]
    fn parts_in_any_order_and_direction_make_rings() {
        let part = |a: u8, b: u8, points: &[(i32, i32)]| Part { ends: [a, b], line: line(points) };
        // Two squares that touch in node 1.
        let found = rings(vec![
            part(1, 2, &[(0, 0), (0, 9)]),
            part(1, 3, &[(0, 0), (-9, 0), (-9, -9)]),
            part(2, 1, &[(0, 9), (9, 9), (9, 0), (0, 0)]),
            part(1, 3, &[(0, 0), (0, -9), (-9, -9)]),
        ]);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|ring| ring.len() == 5 && ring.first() == ring.last()), "{found:?}");
    }
}
