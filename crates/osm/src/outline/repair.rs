//! What can be drawn of a border whose lines cross: with new points where they do.

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

/// The borders of what lies behind an odd number of these segments, each a closed line without its first point at the end;
/// new points lie on whole steps. `clip` is a box to which they are cut. Nothing where the segments reach too far.
pub(super) fn uncrossed(segments: &[Segment], clip: Option<[Coord; 2]>) -> Option<Vec<Line>> {
    budget::charge(BYTES * segments.len() as u64);
    budget::checkpoints(STEPS * segments.len());
    let ends = || segments.iter().flat_map(|s| [s.a, s.b]).chain(clip.into_iter().flatten());
    let extent = |along: fn(Coord) -> i32| {
        let (low, high) = (ends().map(along).min()?, ends().map(along).max()?);
        let (low, high) = (i64::from(low), i64::from(high));
        (high - low <= 2 * LARGEST).then_some(low + (high - low) / 2)
    };
    let (lat, lon) = (extent(|c| c.lat)?, extent(|c| c.lon)?);
    // They fit: no end is farther than `LARGEST` from the middle.
    let point = |c: Coord| IntPoint::new((i64::from(c.lon) - lon) as i32, (i64::from(c.lat) - lat) as i32);
    let coord = |p: &IntPoint| Coord { lat: (i64::from(p.y) + lat) as i32, lon: (i64::from(p.x) + lon) as i32 };

    let mut overlay = Overlay::new_custom(segments.len() + 4, IntOverlayOptions::keep_all_points(), Solver::default());
    for ring in closed_lines(segments) {
        overlay.add_contour(&ring.into_iter().map(point).collect::<Vec<_>>(), ShapeType::Subject);
    }
    let mut rule = OverlayRule::Subject;
    if let Some([low, high]) = clip {
        let corners = [(low.lat, low.lon), (low.lat, high.lon), (high.lat, high.lon), (high.lat, low.lon)];
        let corners: Vec<IntPoint> = corners.into_iter().map(|(lat, lon)| point(Coord { lat, lon })).collect();
        overlay.add_contour(&corners, ShapeType::Clip);
        rule = OverlayRule::Intersect;
    }
    let shapes = overlay.overlay(rule, FillRule::EvenOdd);
    Some(shapes.iter().flatten().map(|contour| contour.iter().map(coord).collect()).collect())
}

/// Closed lines that together have every segment once, of segments of which an even number ends at each point.
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
