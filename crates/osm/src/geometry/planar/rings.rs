//! Builds rings along segments that meet only in their ends, and polygons of these rings.

use std::cmp::Ordering;

use terrapin_budget as budget;

use super::sweep::Swept;
use super::{NONE, Planar};
use crate::geometry::LineSide;

/// The rings of a polygon, the outer one first, each with its first point again at the end.
pub type Rings<P> = Vec<Vec<P>>;

/// Builds the polygons between segments by the even-odd rule. Outer rings run counterclockwise, holes clockwise. A ring
/// does not touch itself, touches other rings only in single points, and the inside of each polygon is connected.
///
/// `order` has the rank of each point: a ring begins with its first point in this order, and rings are sorted by these
/// points.
pub fn polygons<P: Planar>(points: &[P], segments: &[[u32; 2]], swept: &Swept, order: &[u32]) -> Vec<Rings<P>> {
    // Whether the inside is east of a segment: it alternates along the sweep line.
    let mut is_inside_east = vec![true; segments.len()];
    for &segment in &swept.order {
        let west = swept.western[segment as usize];
        is_inside_east[segment as usize] = west == NONE || !is_inside_east[west as usize];
    }
    let around = SegmentSuccessors::new(points, segments);
    // Each segment in the direction in which the inside is on its left.
    let directed = |segment: u32| {
        let [a, b] = segments[segment as usize];
        if is_inside_east[segment as usize] { [b, a] } else { [a, b] }
    };
    let mut walks = Walks { walk_of: vec![NONE; segments.len()], all: Vec::new() };
    let mut path: Vec<u32> = Vec::new();
    let mut on_path = vec![NONE; points.len()];
    for first in 0..segments.len() as u32 {
        if walks.walk_of[first as usize] != NONE {
            continue;
        }
        let walk = walks.all.len() as u32;
        let (mut loops, mut lowest) = (Vec::new(), (NONE, NONE));
        let mut segment = first;
        loop {
            budget::checkpoint();
            walks.walk_of[segment as usize] = walk;
            let [from, to] = directed(segment);
            let south = segments[segment as usize][0];
            // Of the segments that begin at the first point, the westernmost is used: the sweep gave it the least
            // neighbour.
            if (south, NONE) < lowest || south == lowest.0 && is_before(points, segments, segment, lowest.1) {
                lowest = (south, segment);
            }
            // A point that the walk comes back to ends a ring.
            let known = on_path[from as usize];
            if known != NONE {
                let ring: Vec<u32> = path.drain(known as usize..).collect();
                ring.iter().for_each(|&point| on_path[point as usize] = NONE);
                loops.push(ring);
            }
            on_path[from as usize] = path.len() as u32;
            path.push(from);
            segment = around.next(segment, usize::from(to == segments[segment as usize][1]));
            if segment == first {
                break;
            }
        }
        path.iter().for_each(|&point| on_path[point as usize] = NONE);
        loops.push(std::mem::take(&mut path));
        walks.all.push(Walk { loops, lowest: lowest.1, from: lowest.0 });
    }
    walks.into_polygons(points, &swept.western, order)
}

/// Returns whether `segment` is west of `other`, which begins in the same point.
fn is_before<P: Planar>(points: &[P], segments: &[[u32; 2]], segment: u32, other: u32) -> bool {
    if other == NONE {
        return true;
    }
    let ([a, b], [_, c]) = (segments[segment as usize], segments[other as usize]);
    P::side(points[a as usize], points[c as usize], points[b as usize]) == LineSide::Left
}

/// The next segment, clockwise, at each end of each segment.
struct SegmentSuccessors {
    next: Vec<[u32; 2]>,
}

impl SegmentSuccessors {
    fn new<P: Planar>(points: &[P], segments: &[[u32; 2]]) -> SegmentSuccessors {
        // The ends of segments by their points.
        let mut ends: Vec<(u32, u32)> = Vec::with_capacity(2 * segments.len());
        for (segment, [a, b]) in segments.iter().enumerate() {
            ends.extend([(*a, segment as u32), (*b, segment as u32)]);
        }
        ends.sort_unstable();
        let end = |point: u32, segment: u32| usize::from(segments[segment as usize][1] == point);
        let mut next = vec![[NONE; 2]; segments.len()];
        for here in ends.chunk_by_mut(|(a, _), (b, _)| a == b) {
            budget::checkpoint();
            if here.len() > 2 {
                let other =
                    |(point, segment): (u32, u32)| points[segments[segment as usize][1 - end(point, segment)] as usize];
                here.sort_unstable_by(|&s, &t| counterclockwise(points[s.0 as usize], other(s), other(t)));
            }
            let mut before = here.last().map_or(NONE, |(_, segment)| *segment);
            for &(point, segment) in here.iter() {
                next[segment as usize][end(point, segment)] = before;
                before = segment;
            }
        }
        SegmentSuccessors { next }
    }

    /// Returns the segment that continues the border of the same inside at an end of one: the next one clockwise.
    fn next(&self, segment: u32, end: usize) -> u32 {
        self.next[segment as usize][end]
    }
}

/// Returns the order of directions around a point, counterclockwise, beginning just after west.
fn counterclockwise<P: Planar>(center: P, a: P, b: P) -> Ordering {
    // South of the point, or west of it on its parallel: the first half.
    let half = |c: P| c > center;
    half(a).cmp(&half(b)).then_with(|| match P::side(center, a, b) {
        LineSide::Left => Ordering::Less,
        LineSide::Right => Ordering::Greater,
        LineSide::On => Ordering::Equal,
    })
}

/// One way around a part of the inside.
struct Walk {
    /// Rings, each without its first point at the end: an outer one and holes that touch it, or holes that touch each
    /// other.
    loops: Vec<Vec<u32>>,
    /// The first point in the order of the sweep.
    from: u32,
    /// The westernmost of its segments there.
    lowest: u32,
}

struct Walks {
    walk_of: Vec<u32>,
    all: Vec<Walk>,
}

impl Walks {
    fn into_polygons<P: Planar>(self, points: &[P], western: &[u32], order: &[u32]) -> Vec<Rings<P>> {
        let mut sorted: Vec<usize> = (0..self.all.len()).collect();
        sorted.sort_by_key(|&walk| self.all[walk].from);
        // The polygon of each walk; the rings of each polygon with the rank of their first point, the outer ring first.
        let mut polygon_of = vec![usize::MAX; self.all.len()];
        let mut polygons: Vec<Vec<(u32, Vec<P>)>> = Vec::new();
        for walk in sorted {
            let Walk { loops, lowest, .. } = &self.all[walk];
            let rings: Vec<(u32, Vec<P>, bool)> = loops.iter().map(|ring| finished(ring, points, order)).collect();
            let west = western[*lowest as usize];
            if rings.iter().any(|(_, _, is_outer)| *is_outer) {
                polygon_of[walk] = polygons.len();
                polygons.push(Vec::new());
            } else if west != NONE {
                // The inside between the two is the same.
                polygon_of[walk] = polygon_of[self.walk_of[west as usize] as usize];
            }
            let Some(polygon) = polygons.get_mut(polygon_of[walk]) else { continue };
            for (begin, ring, is_outer) in rings {
                if is_outer { polygon.insert(0, (begin, ring)) } else { polygon.push((begin, ring)) }
            }
        }
        for polygon in &mut polygons {
            polygon[1..].sort_by_key(|(begin, _)| *begin);
        }
        polygons.sort_by_key(|polygon| polygon.first().map(|(begin, _)| *begin));
        polygons.into_iter().map(|polygon| polygon.into_iter().map(|(_, ring)| ring).collect()).collect()
    }
}

/// Returns a closed ring that begins with the first of its points, the rank of that point, and whether the ring runs
/// counterclockwise.
fn finished<P: Planar>(ring: &[u32], points: &[P], order: &[u32]) -> (u32, Vec<P>, bool) {
    budget::checkpoints(ring.len() / 8);
    let first = (0..ring.len()).min_by_key(|&at| order[ring[at] as usize]).unwrap_or(0);
    let mut line: Vec<P> = ring[first..].iter().chain(&ring[..first]).map(|&point| points[point as usize]).collect();
    line.extend(line.first().copied());
    let is_outer = is_counterclockwise(&line);
    (ring.get(first).map_or(NONE, |&point| order[point as usize]), line, is_outer)
}

/// Returns whether a closed ring that does not cross itself runs counterclockwise, by its direction at the southernmost
/// point.
pub fn is_counterclockwise<P: Planar>(ring: &[P]) -> bool {
    let count = ring.len().saturating_sub(1);
    let Some(least) = (0..count).min_by_key(|&at| ring[at]) else { return false };
    let (before, after) = (ring[(least + count - 1) % count], ring[(least + 1) % count]);
    P::side(before, ring[least], after) == LineSide::Left
}
