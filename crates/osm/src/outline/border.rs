//! Builds the polygons within the lines of a border, by the rules at the top of `outline/mod.rs`.

use std::collections::HashSet;

use terrapin_budget as budget;

use super::{Flaw, Line, Polygon, overlay};
use crate::Coord;
use crate::geometry::planar::{self, NONE};
use crate::geometry::{Segment, split_at_antimeridian};

/// The lines of a border, in any order and direction.
#[derive(Debug, Clone, Default)]
pub struct OutlineBorder {
    lines: Vec<BorderLine>,
    is_incomplete: bool,
}

#[derive(Debug, Clone)]
struct BorderLine {
    points: Line,
    is_inner: bool,
}

impl OutlineBorder {
    /// Adds a line. A missing point breaks the line and makes the border incomplete. `is_inner` is set if its role is
    /// that of a hole; this matters only if the border is incomplete.
    pub fn add(&mut self, line: &[Coord], is_inner: bool) {
        budget::checkpoints(line.len() / 8);
        for points in line.split(|c| c.is_missing()).filter(|points| points.len() > 1) {
            self.lines.push(BorderLine { points: points.to_vec(), is_inner });
        }
        self.is_incomplete |= line.iter().any(|c| c.is_missing());
    }

    /// Notes that a line of the border is not known.
    pub fn add_missing(&mut self) {
        self.is_incomplete = true;
    }

    /// Returns whether a line or a point is missing.
    pub fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }

    /// Returns the known lines.
    pub fn into_lines(self) -> Vec<Line> {
        self.lines.into_iter().map(|line| line.points).collect()
    }

    /// Returns the polygons within the border.
    ///
    /// # Errors
    /// Returns the flaw of the border if it has no polygons.
    pub fn polygons(&self) -> Result<Vec<Polygon>, Flaw> {
        let (segments, is_cut) = self.segments(self.is_incomplete)?;
        let polygons = enclosed(&segments, &self.lines)?;
        self.without_lone_holes(polygons, is_cut || self.is_incomplete)
    }

    /// Returns the polygons to draw, whatever the flaws of the border: open lines are left out, and crossing lines get
    /// points where they cross.
    pub fn drawable(&self) -> Vec<Polygon> {
        let Ok((segments, is_cut)) = self.segments(true) else { return Vec::new() };
        let polygons = match enclosed(&segments, &self.lines) {
            Err(Flaw::Crossing) => repaired(&segments, None).unwrap_or_default(),
            polygons => polygons.unwrap_or_default(),
        };
        self.without_lone_holes(polygons, is_cut || self.is_incomplete).unwrap_or_default()
    }

    /// Returns the segments that form the border, and whether open lines were left out. They are left out only if
    /// `without_open` is set.
    fn segments(&self, without_open: bool) -> Result<(Vec<Segment>, bool), Flaw> {
        let drawn = sorted_segments(self.lines.iter().map(|line| &line.points));
        let mut segments = odd(drawn.clone());
        if segments.len() < drawn.len() && self.lines.len() > 1 {
            // Segments drawn twice are not part of the border. A whole line that is repeated counts once.
            let mut seen = HashSet::new();
            let lines = self.lines.iter().map(|line| &line.points).filter(|line| seen.insert(undirected(line)));
            segments = odd(sorted_segments(lines));
        }
        let mut is_cut = false;
        if !is_closed(&segments) {
            // Two ways may have a part of the border in common.
            let mut once = drawn;
            once.dedup();
            if is_closed(&once) {
                segments = once;
            } else if without_open {
                segments = without_open_ends(segments);
                is_cut = true;
            }
        }
        if segments.is_empty() {
            Err(if is_cut { Flaw::Open } else { Flaw::Flat })
        } else if is_closed(&segments) {
            Ok((segments, is_cut))
        } else {
            Err(Flaw::Open)
        }
    }

    /// Removes the polygons whose outer ring is known to be a hole: the polygon around that hole is missing.
    fn without_lone_holes(&self, mut polygons: Vec<Polygon>, is_partial: bool) -> Result<Vec<Polygon>, Flaw> {
        if is_partial && self.lines.iter().any(|line| line.is_inner) {
            let outer = sorted_segments(self.lines.iter().filter(|line| !line.is_inner).map(|line| &line.points));
            polygons.retain(|polygon| {
                let sides = polygon.first().into_iter().flat_map(|ring| ring.windows(2));
                let mut sides = sides.map(|side| Segment::undirected(side[0], side[1]));
                sides.any(|side| outer.binary_search(&side).is_ok())
            });
        }
        if polygons.is_empty() { Err(Flaw::Open) } else { Ok(polygons) }
    }
}

/// Returns the polygons that lines enclose. Points are added where lines cross; open lines are closed by a straight
/// segment. Coordinates may have any unit.
pub fn repair(rings: &[Line]) -> Vec<Polygon> {
    repaired(&closed_segments(rings), None).unwrap_or_default()
}

/// Returns the part of [`repair`]'s polygons within a box, given by its south-western and north-eastern corner.
pub fn clip(rings: &[Line], clip: [Coord; 2]) -> Vec<Polygon> {
    repaired(&closed_segments(rings), Some(clip)).unwrap_or_default()
}

/// Returns the part of a box outside of some areas. Each area is on the left of its ring; the inside of a ring in the
/// other direction is subtracted from the areas. Rings may cross and overlap.
pub fn outside(rings: &[Line], clip: [Coord; 2]) -> Vec<Polygon> {
    overlay::outside(rings, clip).and_then(polygons_of_closed).unwrap_or_default()
}

/// Returns the segments that occur in the lines an odd number of times; open lines are closed.
fn closed_segments(rings: &[Line]) -> Vec<Segment> {
    let mut segments = sorted_segments(rings);
    for ring in rings {
        if let [first, .., last] = ring[..]
            && first != last
        {
            segments.push(Segment::undirected(first, last));
        }
    }
    segments.sort_unstable();
    odd(segments)
}

/// Returns whether these rings form this number of valid polygons: sides meet only in corners, no ring touches itself,
/// and each polygon is connected.
pub fn is_sound(rings: &[Line], polygons: usize) -> bool {
    let drawn = sorted_segments(rings);
    let count = drawn.len();
    let segments = odd(drawn);
    segments.len() == count
        && is_closed(&segments)
        && enclosed_in_order(&segments, &[])
            .is_ok_and(|all| all.len() == polygons && all.iter().map(Vec::len).sum::<usize>() == rings.len())
}

fn repaired(segments: &[Segment], clip: Option<[Coord; 2]>) -> Option<Vec<Polygon>> {
    polygons_of_closed(overlay::uncrossed(segments, clip)?)
}

/// Returns the polygons within lines that do not cross, each without its first point at the end.
fn polygons_of_closed(mut lines: Vec<Line>) -> Option<Vec<Polygon>> {
    for line in &mut lines {
        line.extend(line.first().copied());
    }
    let segments = odd(sorted_segments(&lines));
    enclosed_in_order(&segments, &[]).ok()
}

/// Returns the polygons within closed segments, their rings in the order of these lines.
fn enclosed(segments: &[Segment], lines: &[BorderLine]) -> Result<Vec<Polygon>, Flaw> {
    let cut = split_at_antimeridian(segments.to_vec());
    let mut order: Vec<(Coord, u32)> = Vec::new();
    for (at, c) in lines.iter().flat_map(|line| &line.points).enumerate() {
        order.push((*c, u32::try_from(at).unwrap_or(NONE)));
    }
    order.sort_unstable();
    order.dedup_by_key(|(c, _)| *c);
    if cut.len() == segments.len() {
        return enclosed_in_order(segments, &order);
    }
    let cut = cut.into_iter().map(|s| Segment::undirected(s.a, s.b)).filter(|s| s.a != s.b);
    let mut cut: Vec<Segment> = cut.collect();
    cut.sort_unstable();
    enclosed_in_order(&odd(cut), &order)
}

/// Returns the polygons within closed segments, which are sorted. `order`, also sorted, ranks the points; of all other
/// points, the southernmost comes first.
fn enclosed_in_order(segments: &[Segment], order: &[(Coord, u32)]) -> Result<Vec<Polygon>, Flaw> {
    budget::checkpoints(segments.len());
    if segments.is_empty() {
        return Err(Flaw::Flat);
    }
    let mut points: Vec<Coord> = segments.iter().flat_map(|s| [s.a, s.b]).collect();
    points.sort_unstable();
    points.dedup();
    let place = |c: &Coord| points.binary_search(c).map_or(NONE, |at| at as u32);
    let pairs: Vec<[u32; 2]> = segments.iter().map(|s| [place(&s.a), place(&s.b)]).collect();
    let swept = planar::sweep(&points, &pairs).ok_or(Flaw::Crossing)?;
    let order: Vec<u32> = points
        .iter()
        .enumerate()
        .map(|(at, c)| {
            let known = order.binary_search_by_key(c, |(known, _)| *known).ok();
            known.map_or((order.len() + at) as u32, |known| order[known].1)
        })
        .collect();
    Ok(planar::polygons(&points, &pairs, &swept, &order))
}

/// Returns the segments of lines, sorted and without those of length zero.
fn sorted_segments<'l>(lines: impl IntoIterator<Item = &'l Line>) -> Vec<Segment> {
    let sides = lines.into_iter().flat_map(|line| line.windows(2)).filter(|side| side[0] != side[1]);
    let mut segments: Vec<Segment> = sides.map(|side| Segment::undirected(side[0], side[1])).collect();
    budget::checkpoints(segments.len());
    segments.sort_unstable();
    segments
}

/// Returns each segment that occurs an odd number of times, once.
fn odd(mut segments: Vec<Segment>) -> Vec<Segment> {
    let mut kept = 0;
    let mut at = 0;
    while at < segments.len() {
        let same = segments[at..].iter().take_while(|s| **s == segments[at]).count();
        if same % 2 == 1 {
            segments[kept] = segments[at];
            kept += 1;
        }
        at += same;
    }
    segments.truncate(kept);
    segments
}

/// Returns whether an even number of segments ends at each point.
fn is_closed(segments: &[Segment]) -> bool {
    let mut ends: Vec<Coord> = segments.iter().flat_map(|s| [s.a, s.b]).collect();
    ends.sort_unstable();
    ends.chunk_by(|a, b| a == b).all(|same| same.len() % 2 == 0)
}

/// Removes the segments of lines with open ends.
fn without_open_ends(segments: Vec<Segment>) -> Vec<Segment> {
    let mut ends: Vec<(Coord, u32)> = Vec::with_capacity(2 * segments.len());
    for (at, s) in segments.iter().enumerate() {
        ends.extend([(s.a, at as u32), (s.b, at as u32)]);
    }
    ends.sort_unstable();
    let begin = |c: Coord| ends.partition_point(|(other, _)| *other < c);
    let mut left: Vec<u32> = vec![0; ends.len()];
    ends.iter().for_each(|(c, _)| left[begin(*c)] += 1);
    let mut gone = vec![false; segments.len()];
    let mut open: Vec<Coord> = ends.iter().filter(|(c, _)| left[begin(*c)] == 1).map(|(c, _)| *c).collect();
    while let Some(c) = open.pop() {
        budget::checkpoint();
        let here = ends[begin(c)..].iter().take_while(|(other, _)| *other == c);
        let Some(segment) = here.map(|(_, segment)| *segment as usize).find(|&segment| !gone[segment]) else {
            continue;
        };
        gone[segment] = true;
        for end in [segments[segment].a, segments[segment].b] {
            let count = &mut left[begin(end)];
            *count = count.saturating_sub(1);
            if *count == 1 {
                open.push(end);
            }
        }
    }
    let mut gone = gone.into_iter();
    segments.into_iter().filter(|_| !gone.next().unwrap_or(false)).collect()
}

/// Returns a line independent of its direction and, if it is closed, of its first point.
fn undirected(line: &Line) -> Line {
    budget::checkpoints(line.len() / 4);
    let mut points = line.clone();
    if points.len() > 2 && points.first() == points.last() {
        points.pop();
        let least = (0..points.len()).min_by_key(|&at| points[at]).unwrap_or(0);
        points.rotate_left(least);
        if points.last() < points.get(1) {
            points[1..].reverse();
        }
        points.extend(points.first().copied());
    } else if points.last() < points.first() {
        points.reverse();
    }
    points
}
