//! Overlays crossing lines and adds points where they cross: repair, clipping, difference.

use i_overlay::core::fill_rule::FillRule;
use i_overlay::core::overlay::{IntOverlayOptions, Overlay, ShapeType};
use i_overlay::core::overlay_rule::OverlayRule;
use i_overlay::core::solver::Solver;
use i_overlay::i_float::int::point::IntPoint;
use terrapin_budget as budget;

use super::Line;
use crate::Coord;
use crate::geometry::Segment;

/// Most steps between a border's ends and its middle: the library multiplies differences of coordinates.
const LARGEST: i64 = 1 << 29;
/// Bytes and steps that the library takes for a segment, about.
const BYTES: u64 = 256;
const STEPS: usize = 32;

/// Returns the borders of the area that these segments enclose by the even-odd rule, each a closed line without its
/// first point at the end. New points are rounded to whole steps. The area is clipped to the box `clip`. Returns `None`
/// if the segments are too far apart for the library.
pub(super) fn uncrossed(segments: &[Segment], clip: Option<[Coord; 2]>) -> Option<Vec<Line>> {
    let ends = segments.iter().flat_map(|s| [s.a, s.b]).chain(clip.into_iter().flatten());
    let grid = Grid::around(ends)?;
    let mut overlay = new_overlay(segments.len());
    for ring in closed_lines(segments) {
        grid.add(&mut overlay, &ring, ShapeType::Subject);
    }
    let mut rule = OverlayRule::Subject;
    if let Some(clip) = clip {
        grid.add(&mut overlay, &corners(clip), ShapeType::Clip);
        rule = OverlayRule::Intersect;
    }
    Some(grid.lines(&mut overlay, rule, FillRule::EvenOdd))
}

/// Returns the borders of the part of a box outside of the areas on the left of these rings; `None` if they are too far
/// apart for the library.
pub(super) fn outside(rings: &[Line], clip: [Coord; 2]) -> Option<Vec<Line>> {
    let grid = Grid::around(rings.iter().flatten().copied().chain(clip))?;
    let mut overlay = new_overlay(rings.iter().map(Vec::len).sum());
    for ring in rings {
        grid.add(&mut overlay, ring, ShapeType::Subject);
    }
    grid.add(&mut overlay, &corners(clip), ShapeType::Clip);
    Some(grid.lines(&mut overlay, OverlayRule::InverseDifference, FillRule::Positive))
}

fn new_overlay(segments: usize) -> Overlay {
    budget::charge(BYTES * segments as u64);
    budget::checkpoints(STEPS * segments);
    Overlay::new_custom(segments + 4, IntOverlayOptions::keep_all_points(), Solver::default())
}

/// Returns the corners of a box, counterclockwise.
fn corners([low, high]: [Coord; 2]) -> Line {
    let corners = [(low.lat, low.lon), (low.lat, high.lon), (high.lat, high.lon), (high.lat, low.lon)];
    corners.map(|(lat, lon)| Coord { lat, lon }).to_vec()
}

/// The library's coordinates: whole steps from the middle of all points.
struct Grid {
    lat: i64,
    lon: i64,
}

impl Grid {
    fn around(ends: impl Iterator<Item = Coord> + Clone) -> Option<Grid> {
        let middle = |along: fn(Coord) -> i32| {
            let (low, high) = (ends.clone().map(along).min()?, ends.clone().map(along).max()?);
            let (low, high) = (i64::from(low), i64::from(high));
            (high - low <= 2 * LARGEST).then_some(low + (high - low) / 2)
        };
        Some(Grid { lat: middle(|c| c.lat)?, lon: middle(|c| c.lon)? })
    }

    fn add(&self, overlay: &mut Overlay, ring: &[Coord], shape: ShapeType) {
        // They fit: no end is farther than `LARGEST` from the middle.
        let point =
            |c: &Coord| IntPoint::new((i64::from(c.lon) - self.lon) as i32, (i64::from(c.lat) - self.lat) as i32);
        overlay.add_contour(&ring.iter().map(point).collect::<Vec<_>>(), shape);
    }

    fn lines(&self, overlay: &mut Overlay, rule: OverlayRule, fill: FillRule) -> Vec<Line> {
        let coord =
            |p: &IntPoint| Coord { lat: (i64::from(p.y) + self.lat) as i32, lon: (i64::from(p.x) + self.lon) as i32 };
        let shapes = overlay.overlay(rule, fill);
        shapes.iter().flatten().map(|contour| contour.iter().map(coord).collect()).collect()
    }
}

/// Returns closed lines that together contain every segment once. An even number of segments must end at each point.
fn closed_lines(segments: &[Segment]) -> Vec<Line> {
    let mut ends: Vec<(Coord, u32)> = Vec::with_capacity(2 * segments.len());
    for (at, s) in segments.iter().enumerate() {
        ends.extend([(s.a, at as u32), (s.b, at as u32)]);
    }
    ends.sort_unstable();
    // How far the ends at each point have been looked at, at the place of the first of them.
    let mut looked: Vec<usize> = (0..ends.len()).collect();
    let mut used = vec![false; segments.len()];
    let mut lines = Vec::new();
    for (first, begin) in segments.iter().enumerate() {
        if used[first] {
            continue;
        }
        let mut line = Vec::new();
        let mut here = begin.a;
        loop {
            let place = ends.partition_point(|(c, _)| *c < here);
            let mut at = looked[place];
            while ends.get(at).is_some_and(|(c, segment)| *c == here && used[*segment as usize]) {
                at += 1;
            }
            looked[place] = at;
            let Some(&(_, segment)) = ends.get(at).filter(|(c, _)| *c == here) else { break };
            used[segment as usize] = true;
            line.push(here);
            let Segment { a, b } = segments[segment as usize];
            here = if a == here { b } else { a };
        }
        lines.push(line);
    }
    lines
}
