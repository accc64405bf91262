//! Overlays two geometries of any kinds. Edges are cut where they meet, so that two edges share at most their ends. For
//! each point, edge and face, the arrangement records which geometries contain it. Relations and set operations are
//! derived from it.
//!
//! - A geometry is the union of its parts. A position that an area covers belongs to the area only. Elsewhere, lines
//!   take precedence over points.
//! - End points and contacts of edges are determined exactly. A crossing point is rounded, and replaced by an existing
//!   point if they differ by no more than rounding.
//! - The end of a line is a boundary if an odd number of lines ends there (the mod-2 rule of simple features). A line
//!   without length is a point.

use std::cmp::Ordering;

use geo::{Coord, GeoNum, Geometry, Kernel, LineString, Orientation, Polygon};
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree, RTreeObject};
use rustc_hash::FxHashMap;
use terrapin_budget as budget;
use terrapin_osm::geometry::LineSide;
use terrapin_osm::geometry::planar::{NONE, Planar, Rings, polygons, sweep};

/// Maximum distance by which a crossing point is moved to an existing point, relative to the largest coordinate.
const NEAR: f64 = 1e-12;
/// Maximum number of passes that cut edges until none cross. Rounding creates new crossings, and few of these create
/// others.
const ROUNDS: usize = 8;

/// A position with a total order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct At(pub(super) Coord);

impl Eq for At {}

impl Ord for At {
    fn cmp(&self, other: &At) -> Ordering {
        self.0.y.total_cmp(&other.0.y).then(self.0.x.total_cmp(&other.0.x))
    }
}

impl PartialOrd for At {
    fn partial_cmp(&self, other: &At) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Planar for At {
    fn side(a: At, b: At, p: At) -> LineSide {
        match <f64 as GeoNum>::Ker::orient2d(a.0, b.0, p.0) {
            Orientation::CounterClockwise => LineSide::Left,
            Orientation::Clockwise => LineSide::Right,
            Orientation::Collinear => LineSide::On,
        }
    }
}

/// The location of a point or an edge relative to a geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TopologicalLocation {
    Interior,
    Boundary,
    Exterior,
}

/// A value for each of the two geometries.
pub(super) type Both<T> = [T; 2];

/// A piece of an edge of either geometry, from its smaller to its greater end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    /// The ends, as indices of points.
    pub(super) ends: [u32; 2],
    /// Whether the western side is inside an area.
    pub(super) west: Both<bool>,
    /// Whether the eastern side is inside an area.
    pub(super) east: Both<bool>,
    /// Whether it is a piece of a line.
    pub(super) line: Both<bool>,
    /// Whether the line runs from the greater to the smaller end.
    pub(super) is_backward: bool,
}

impl Edge {
    /// Returns the location of the edge in each geometry.
    pub(super) fn location(&self) -> Both<TopologicalLocation> {
        [0, 1].map(|of| match (self.west[of], self.east[of]) {
            (true, true) => TopologicalLocation::Interior,
            (false, false) if self.line[of] => TopologicalLocation::Interior,
            (false, false) => TopologicalLocation::Exterior,
            _ => TopologicalLocation::Boundary,
        })
    }
}

/// A point of either geometry, or a point where their edges meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct OverlayVertex {
    pub(super) at: At,
    /// The location of the point in each geometry.
    pub(super) location: Both<TopologicalLocation>,
    /// Whether the point touches the interior of an area.
    pub(super) covered: Both<bool>,
}

/// The overlay of two geometries.
#[derive(Debug, Default)]
pub(super) struct Arrangement {
    pub(super) points: Vec<OverlayVertex>,
    pub(super) edges: Vec<Edge>,
}

/// A segment of a geometry, before or after it is cut.
#[derive(Debug, Clone, Copy)]
struct EdgePiece {
    a: At,
    b: At,
    of: usize,
    /// Whether it belongs to an area's ring; the interior is then on its left.
    is_area: bool,
}

/// The segments, points and line ends of the geometries.
#[derive(Default)]
struct GeometryPieces {
    all: Vec<EdgePiece>,
    points: Vec<(At, usize)>,
    ends: Vec<(At, usize)>,
}

impl Arrangement {
    /// Creates the arrangement of two geometries. Returns `None` if edges still cross after the last pass.
    pub(super) fn of(a: &Geometry, b: &Geometry) -> Option<Arrangement> {
        let mut pieces = GeometryPieces::default();
        pieces.take(a, 0);
        pieces.take(b, 1);
        for _ in 0..ROUNDS {
            if !cut(&mut pieces) {
                break;
            }
        }
        pieces.arranged()
    }

    /// Returns the polygons formed by the faces for which `is_in` is true. It receives whether each geometry covers the
    /// face.
    pub(super) fn areas(&self, is_in: impl Fn(Both<bool>) -> bool) -> Option<Vec<Rings<At>>> {
        let borders: Vec<&Edge> = self.edges.iter().filter(|edge| is_in(edge.west) != is_in(edge.east)).collect();
        let mut used: Vec<u32> = borders.iter().flat_map(|edge| edge.ends).collect();
        used.sort_unstable();
        used.dedup();
        let place = |end: u32| used.binary_search(&end).map_or(NONE, |at| at as u32);
        let segments: Vec<[u32; 2]> = borders.iter().map(|edge| edge.ends.map(place)).collect();
        let points: Vec<At> = used.iter().map(|&at| self.points[at as usize].at).collect();
        let order: Vec<u32> = (0..points.len() as u32).collect();
        Some(polygons(&points, &segments, &sweep(&points, &segments)?, &order))
    }
}

impl GeometryPieces {
    fn take(&mut self, geometry: &Geometry, of: usize) {
        match geometry {
            Geometry::Point(p) => self.points.push((normal(p.0), of)),
            Geometry::MultiPoint(all) => self.points.extend(all.iter().map(|p| (normal(p.0), of))),
            Geometry::Line(line) => self.line(&LineString::from(*line), of),
            Geometry::LineString(line) => self.line(line, of),
            Geometry::MultiLineString(all) => all.iter().for_each(|line| self.line(line, of)),
            Geometry::Polygon(polygon) => self.polygon(polygon, of),
            Geometry::MultiPolygon(all) => all.iter().for_each(|polygon| self.polygon(polygon, of)),
            Geometry::Rect(rect) => self.polygon(&rect.to_polygon(), of),
            Geometry::Triangle(triangle) => self.polygon(&triangle.to_polygon(), of),
            Geometry::GeometryCollection(parts) => parts.iter().for_each(|part| self.take(part, of)),
        }
    }

    fn line(&mut self, line: &LineString, of: usize) {
        let (Some(first), Some(last)) = (line.0.first(), line.0.last()) else { return };
        let before = self.all.len();
        self.sides(line, of, false, false);
        if self.all.len() == before {
            self.points.push((normal(*first), of));
        } else {
            self.ends.extend([(normal(*first), of), (normal(*last), of)]);
        }
    }

    fn polygon(&mut self, polygon: &Polygon, of: usize) {
        for (at, ring) in std::iter::once(polygon.exterior()).chain(polygon.interiors()).enumerate() {
            // The sign of the area determines the direction of a ring, as in the library. Rounding does not decide it
            // for thin rings.
            let is_turned = signed_area(ring) < 0.0;
            self.sides(ring, of, true, is_turned == (at == 0));
        }
    }

    fn sides(&mut self, line: &LineString, of: usize, is_area: bool, is_turned: bool) {
        for side in line.0.windows(2) {
            let (a, b) = (normal(side[0]), normal(side[1]));
            let (a, b) = if is_turned { (b, a) } else { (a, b) };
            if a != b {
                self.all.push(EdgePiece { a, b, of, is_area });
            }
        }
    }

    /// Builds the arrangement from the cut segments.
    fn arranged(self) -> Option<Arrangement> {
        let mut points: Vec<At> = self.all.iter().flat_map(|piece| [piece.a, piece.b]).collect();
        points.extend(self.points.iter().map(|(at, _)| at));
        points.sort_unstable();
        points.dedup();
        let place = |at: &At| points.binary_search(at).map_or(NONE, |at| at as u32);
        let mut labels: Vec<Label> = Vec::with_capacity(self.all.len());
        for piece in &self.all {
            let (a, b) = (place(&piece.a), place(&piece.b));
            let mut label = Label { ends: [a.min(b), a.max(b)], line: [false; 2], step: [0; 2], is_backward: a > b };
            if piece.is_area {
                label.step[piece.of] = if a < b { -1 } else { 1 };
            } else {
                label.line[piece.of] = true;
            }
            labels.push(label);
        }
        labels.sort_by_key(|label| label.ends);
        labels.dedup_by(|next, kept| next.ends == kept.ends && kept.add(next));
        budget::checkpoints(8 * labels.len());
        let segments: Vec<[u32; 2]> = labels.iter().map(|label| label.ends).collect();
        let swept = sweep(&points, &segments)?;

        // The number of polygons that cover the eastern side of each segment.
        let mut depths: Vec<Both<i32>> = vec![[0; 2]; segments.len()];
        let depth = |depths: &[Both<i32>], at: u32| if at == NONE { [0; 2] } else { depths[at as usize] };
        let edge = |label: &Label| {
            let Label { ends, line, is_backward, .. } = *label;
            Edge { ends, west: [false; 2], east: [false; 2], line, is_backward }
        };
        let mut edges: Vec<Edge> = labels.iter().map(edge).collect();
        for &at in &swept.order {
            let west = depth(&depths, swept.western[at as usize]);
            let east = [0, 1].map(|of| west[of] + labels[at as usize].step[of]);
            depths[at as usize] = east;
            edges[at as usize].west = west.map(|depth| depth > 0);
            edges[at as usize].east = east.map(|depth| depth > 0);
        }

        let mut odd_ends = vec![[false; 2]; points.len()];
        for (at, of) in &self.ends {
            odd_ends[place(at) as usize][*of] ^= true;
        }
        let mut seen: Vec<Both<PointTopology>> = vec![[PointTopology::default(); 2]; points.len()];
        for (at, of) in &self.points {
            seen[place(at) as usize][*of].is_point = true;
        }
        for (at, west) in swept.west_of_point.iter().enumerate().filter(|(_, west)| **west != NONE) {
            depths[*west as usize].iter().enumerate().for_each(|(of, depth)| seen[at][of].is_inside = *depth > 0);
        }
        for edge in &edges {
            for (end, of) in edge.ends.into_iter().flat_map(|end| [(end, 0), (end, 1)]) {
                let seen = &mut seen[end as usize][of];
                seen.is_border |= edge.west[of] != edge.east[of];
                seen.is_inside |= edge.west[of] && edge.east[of];
                seen.is_line |= edge.line[of];
            }
        }
        let vertex = |at: usize| OverlayVertex {
            at: points[at],
            location: [0, 1].map(|of| seen[at][of].location(odd_ends[at][of])),
            covered: seen[at].map(|seen| seen.is_inside),
        };
        let vertices = (0..points.len()).map(vertex).collect();
        Some(Arrangement { points: vertices, edges })
    }
}

/// The combined properties of pieces with the same ends.
struct Label {
    ends: [u32; 2],
    line: Both<bool>,
    /// The number of polygons on the eastern side minus that on the western side.
    step: Both<i32>,
    is_backward: bool,
}

impl Label {
    /// Merges the label of another piece. Always returns true, for `dedup_by`.
    fn add(&mut self, other: &Label) -> bool {
        for of in [0, 1] {
            self.line[of] |= other.line[of];
            self.step[of] += other.step[of];
        }
        true
    }
}

/// The kinds of parts that meet in a point.
#[derive(Debug, Clone, Copy, Default)]
struct PointTopology {
    is_border: bool,
    is_inside: bool,
    is_line: bool,
    is_point: bool,
}

impl PointTopology {
    fn location(self, is_odd_end: bool) -> TopologicalLocation {
        if self.is_border {
            TopologicalLocation::Boundary
        } else if self.is_inside {
            TopologicalLocation::Interior
        } else if self.is_line {
            if is_odd_end { TopologicalLocation::Boundary } else { TopologicalLocation::Interior }
        } else if self.is_point {
            TopologicalLocation::Interior
        } else {
            TopologicalLocation::Exterior
        }
    }
}

/// Replaces -0 by 0.
fn normal(c: Coord) -> At {
    At(Coord { x: c.x + 0.0, y: c.y + 0.0 })
}

/// Returns twice the area of a ring, positive if it runs counterclockwise.
fn signed_area(ring: &LineString) -> f64 {
    let Some(&origin) = ring.0.first() else { return 0.0 };
    let sides = ring.0.windows(2).map(|side| {
        let [a, b] = [side[0] - origin, side[1] - origin];
        a.x * b.y - a.y * b.x
    });
    sides.sum()
}

type Indexed = GeomWithData<Rectangle<[f64; 2]>, u32>;

/// Cuts pieces where they meet others, except at common ends. Returns whether any two crossed; the rounded crossing
/// points may then have created new crossings.
fn cut(pieces: &mut GeometryPieces) -> bool {
    let all = &pieces.all;
    let boxed = |a: At, b: At, data: usize| {
        let corners = |pick: fn(f64, f64) -> f64| [pick(a.0.x, b.0.x), pick(a.0.y, b.0.y)];
        Indexed::new(Rectangle::from_corners(corners(f64::min), corners(f64::max)), data as u32)
    };
    let tree = RTree::bulk_load(all.iter().enumerate().map(|(at, piece)| boxed(piece.a, piece.b, at)).collect());
    let mut known = SnappedPoints::of(pieces);
    let mut cuts: Vec<(u32, At)> = Vec::new();
    let mut crossed = false;
    for (at, piece) in all.iter().enumerate() {
        let envelope: AABB<[f64; 2]> = boxed(piece.a, piece.b, at).envelope();
        for other in tree.locate_in_envelope_intersecting(envelope) {
            budget::checkpoint();
            if other.data as usize <= at {
                continue;
            }
            let other_piece = &all[other.data as usize];
            match meet(piece, other_piece) {
                PieceIntersection::None => {}
                PieceIntersection::Ends(ends) => {
                    for (second, end) in ends.into_iter().flatten() {
                        cuts.push((if second { other.data } else { at as u32 }, end));
                    }
                }
                PieceIntersection::Crossing => {
                    if let Some(point) = known.near(crossing(piece, other_piece)) {
                        crossed = true;
                        cuts.extend([(at as u32, point), (other.data, point)]);
                    }
                }
            }
        }
    }
    for (point, _) in &pieces.points {
        for other in tree.locate_in_envelope_intersecting(AABB::from_point([point.0.x, point.0.y])) {
            budget::checkpoint();
            let piece = &all[other.data as usize];
            if lies_on(piece, *point) {
                cuts.push((other.data, *point));
            }
        }
    }
    // The squared distance from the start of the piece, to sort the cuts along it.
    let along = |(at, point): &(u32, At)| {
        let piece = &all[*at as usize];
        let step = point.0 - piece.a.0;
        step.x * step.x + step.y * step.y
    };
    cuts.sort_by(|a, b| a.0.cmp(&b.0).then(along(a).total_cmp(&along(b))));
    let mut cuts = cuts.into_iter().peekable();
    let mut next = Vec::with_capacity(all.len());
    for (at, piece) in all.iter().enumerate() {
        let mut from = piece.a;
        let mut add = |to: At| {
            if to != from {
                next.push(EdgePiece { a: from, b: to, ..*piece });
                from = to;
            }
        };
        while let Some((_, point)) = cuts.next_if(|(of, _)| *of as usize == at) {
            add(point);
        }
        add(piece.b);
    }
    pieces.all = next;
    crossed
}

/// The way in which two pieces meet.
enum PieceIntersection {
    None,
    /// Ends of one piece are on the other: whether the second piece is the one to cut, and the end.
    Ends([Option<(bool, At)>; 4]),
    /// The pieces cross in a point that is an end of neither.
    Crossing,
}

fn meet(s: &EdgePiece, t: &EdgePiece) -> PieceIntersection {
    let sides = |of: &EdgePiece, other: &EdgePiece| [At::side(of.a, of.b, other.a), At::side(of.a, of.b, other.b)];
    let (of_t, of_s) = (sides(s, t), sides(t, s));
    let is_one_sided = |[a, b]: [LineSide; 2]| a == b && a != LineSide::On;
    if is_one_sided(of_t) || is_one_sided(of_s) {
        return PieceIntersection::None;
    }
    let is_on = |of: &EdgePiece, end: At, side: LineSide| {
        side == LineSide::On && end != of.a && end != of.b && is_boxed(of, end)
    };
    let ends = [
        is_on(s, t.a, of_t[0]).then_some((false, t.a)),
        is_on(s, t.b, of_t[1]).then_some((false, t.b)),
        is_on(t, s.a, of_s[0]).then_some((true, s.a)),
        is_on(t, s.b, of_s[1]).then_some((true, s.b)),
    ];
    if ends.iter().any(Option::is_some) {
        PieceIntersection::Ends(ends)
    } else if of_t.contains(&LineSide::On) || of_s.contains(&LineSide::On) {
        // They share ends, or are disjoint parts of one straight line.
        PieceIntersection::None
    } else {
        PieceIntersection::Crossing
    }
}

fn is_boxed(piece: &EdgePiece, point: At) -> bool {
    let within = |a: f64, b: f64, value: f64| a.min(b) <= value && value <= a.max(b);
    within(piece.a.0.x, piece.b.0.x, point.0.x) && within(piece.a.0.y, piece.b.0.y, point.0.y)
}

fn lies_on(piece: &EdgePiece, point: At) -> bool {
    is_boxed(piece, point) && At::side(piece.a, piece.b, point) == LineSide::On
}

/// Returns the rounded crossing point of two pieces, inside the boxes of both.
fn crossing(s: &EdgePiece, t: &EdgePiece) -> At {
    // Computed relative to the centre of the boxes' intersection, so that little precision is lost.
    let shared = |pick: fn(&At) -> f64| {
        let low = f64::max(pick(&s.a).min(pick(&s.b)), pick(&t.a).min(pick(&t.b)));
        let high = f64::min(pick(&s.a).max(pick(&s.b)), pick(&t.a).max(pick(&t.b)));
        (low, high, low / 2.0 + high / 2.0)
    };
    let ((west, east, x), (south, north, y)) = (shared(|at| at.0.x), shared(|at| at.0.y));
    let middle = Coord { x, y };
    let [a, b, c, d] = [s.a, s.b, t.a, t.b].map(|at| at.0 - middle);
    let (u, v) = (b - a, d - c);
    let across = u.x * v.y - u.y * v.x;
    let part = ((c.x - a.x) * v.y - (c.y - a.y) * v.x) / across;
    let (px, py) = (x + (a.x + part * u.x), y + (a.y + part * u.y));
    let within = |value: f64, low: f64, high: f64| if value.is_finite() { value.clamp(low, high) } else { low };
    normal(Coord { x: within(px, west, east), y: within(py, south, north) })
}

/// The known points in a grid, to replace a rounded point by one nearby.
struct SnappedPoints {
    step: f64,
    points: FxHashMap<(i64, i64), Vec<At>>,
}

impl SnappedPoints {
    fn of(pieces: &GeometryPieces) -> SnappedPoints {
        let ends = || pieces.all.iter().flat_map(|piece| [piece.a, piece.b]);
        let largest = ends().map(|at| at.0.x.abs().max(at.0.y.abs())).fold(0.0, f64::max);
        let mut known = SnappedPoints { step: largest * NEAR, points: FxHashMap::default() };
        for at in ends().chain(pieces.points.iter().map(|(at, _)| *at)) {
            budget::checkpoint();
            let place = known.place(at);
            let here = known.points.entry(place).or_default();
            if !here.contains(&at) {
                here.push(at);
            }
        }
        known
    }

    fn place(&self, at: At) -> (i64, i64) {
        ((at.0.x / self.step).floor() as i64, (at.0.y / self.step).floor() as i64)
    }

    /// Returns the nearest known point within one grid step; otherwise adds and returns `at`. Returns `None` if the
    /// grid step is zero or not finite.
    fn near(&mut self, at: At) -> Option<At> {
        if self.step <= 0.0 || !self.step.is_finite() {
            return None;
        }
        let (x, y) = self.place(at);
        let around = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (x.saturating_add(dx), y.saturating_add(dy))));
        let candidates = around.filter_map(|place| self.points.get(&place)).flatten();
        let far = |known: &At| (known.0.x - at.0.x).abs().max((known.0.y - at.0.y).abs());
        let found =
            candidates.filter(|known| far(known) <= self.step).min_by(|a, b| far(a).total_cmp(&far(b))).copied();
        if found.is_none() {
            self.points.entry((x, y)).or_default().push(at);
        }
        Some(found.unwrap_or(at))
    }
}
