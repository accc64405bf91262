//! Estimates the cost of geometric operations before they start, because their library cannot be interrupted. The cost
//! for two geometries grows with the number of pairs of edges that may meet, in the worst case with the product of
//! their sizes.

use geo::{BoundingRect, Coord, CoordsIter, Geometry, LinesIter};
use rstar::primitives::Rectangle;
use rstar::{AABB, RTree};

use terrapin_budget as budget;

/// Maximum number of pairs of edges that may meet. The library takes some seconds for them.
const MOST: usize = 2_000_000;
/// Maximum ratio of a geometry's extent to its buffer distance. The library calculates on a grid of about 2^30 steps.
/// If the distance is only a few of these steps, it may not terminate. For the whole Earth, the limit is less than half
/// a metre.
const FINEST: f64 = 1e8;
/// Bytes that the library allocates for an edge, and for a pair that meets.
const EDGE_BYTES: u64 = 256;
const PAIR_BYTES: u64 = 128;
/// Steps charged to the query's budget for an edge and for a pair.
const STEPS: usize = 32;

type Edge = Rectangle<[f64; 2]>;

/// Checks whether an operation on two geometries is cheap enough, and charges its memory.
pub(super) fn of_two(a: &Geometry, b: &Geometry) -> Option<()> {
    // Most geometries are points and boxes, which need no estimate.
    if a.coords_count().saturating_mul(b.coords_count()) <= MOST / 1000
        && a.coords_count() + b.coords_count() <= MOST / 1000
    {
        return Some(());
    }
    let mut edges = edges(a, 0.0);
    edges.extend(self::edges(b, 0.0));
    of_edges(edges)
}

/// Checks whether an operation on the parts of one geometry is cheap enough.
pub(super) fn of_one(g: &Geometry) -> Option<()> {
    if g.coords_count() <= MOST / 1000 { Some(()) } else { of_edges(edges(g, 0.0)) }
}

/// Checks whether a buffer by `distance`, in the geometry's own units, is cheap enough.
pub(super) fn of_buffer(g: &Geometry, distance: f64) -> Option<()> {
    let extent = g.bounding_rect().map_or(0.0, |rect| rect.width().max(rect.height()));
    if distance != 0.0 && extent > FINEST * distance.abs() {
        return None;
    }
    // The buffer has some tens of points around each corner.
    budget::charge(32 * EDGE_BYTES * g.coords_count() as u64);
    of_edges(edges(g, distance.max(0.0)))
}

/// Returns the boxes of a geometry's edges and points, enlarged by `by` on each side.
fn edges(g: &Geometry, by: f64) -> Vec<Edge> {
    let mut edges = Vec::with_capacity(g.coords_count());
    gather(g, &mut |a, b| {
        let low = [a.x.min(b.x) - by, a.y.min(b.y) - by];
        let high = [a.x.max(b.x) + by, a.y.max(b.y) + by];
        edges.push(Rectangle::from_corners(low, high));
    });
    edges
}

/// Calls `each` with the ends of every edge. Points are passed as edges with equal ends.
fn gather(g: &Geometry, each: &mut dyn FnMut(Coord, Coord)) {
    match g {
        Geometry::Point(point) => each(point.0, point.0),
        Geometry::MultiPoint(points) => points.iter().for_each(|point| each(point.0, point.0)),
        Geometry::Line(line) => each(line.start, line.end),
        Geometry::LineString(line) => line.lines().for_each(|line| each(line.start, line.end)),
        Geometry::MultiLineString(lines) => lines.lines_iter().for_each(|line| each(line.start, line.end)),
        Geometry::Polygon(polygon) => polygon.lines_iter().for_each(|line| each(line.start, line.end)),
        Geometry::MultiPolygon(polygons) => polygons.lines_iter().for_each(|line| each(line.start, line.end)),
        Geometry::Rect(rect) => each(rect.min(), rect.max()),
        Geometry::Triangle(triangle) => triangle.lines_iter().for_each(|line| each(line.start, line.end)),
        Geometry::GeometryCollection(parts) => parts.iter().for_each(|part| gather(part, each)),
    }
}

/// Counts the pairs of boxes that intersect, and charges for them. Returns `None` if there are too many.
fn of_edges(edges: Vec<Edge>) -> Option<()> {
    budget::charge(EDGE_BYTES * edges.len() as u64);
    budget::checkpoints(STEPS * edges.len());
    let tree = RTree::bulk_load(edges);
    let mut pairs = 0;
    for edge in &tree {
        let within = AABB::from_corners(edge.lower(), edge.upper());
        let met = tree.locate_in_envelope_intersecting(within).take(MOST - pairs).count();
        budget::checkpoints(STEPS * met);
        pairs += met;
        if pairs >= MOST {
            return None;
        }
    }
    budget::charge(PAIR_BYTES * pairs as u64);
    Some(())
}

/// Checks whether an operation on geometries with `edges` edges, of which `pairs` pairs may meet, is cheap enough.
/// Charges its memory.
pub(crate) fn of_pairs(edges: usize, pairs: usize) -> Option<()> {
    budget::checkpoints(STEPS * edges);
    budget::charge(EDGE_BYTES * edges as u64 + PAIR_BYTES * pairs.min(MOST) as u64);
    (pairs < MOST).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use geo::{LineString, MultiPoint, Point};

    /// Returns a zigzag line, running up and down or from side to side.
    fn comb(teeth: usize, upright: bool) -> Geometry {
        let place = |n: usize| {
            let (x, y) = (n as f64, if n.is_multiple_of(2) { 0.0 } else { teeth as f64 });
            if upright { (x, y) } else { (y, x) }
        };
        LineString::from((0..teeth).map(place).collect::<Vec<_>>()).into()
    }

    #[test]
    fn combs_across_each_other_are_refused() {
        assert_eq!(of_two(&comb(100, true), &comb(100, false)), Some(()));
        assert_eq!(of_two(&comb(10_000, true), &comb(10_000, false)), None);
        // Long lines that run parallel are accepted.
        let far: Vec<(f64, f64)> = (0..50_000).map(|n| (f64::from(n), 0.0)).collect();
        let line = Geometry::from(LineString::from(far));
        assert_eq!(of_two(&line, &line), Some(()));
    }

    #[test]
    fn narrow_buffers_of_long_lines_are_refused() {
        let line = |to: f64| Geometry::from(LineString::from(vec![(0.0, 0.0), (to, 1.0)]));
        assert_eq!(of_buffer(&line(4e7), 1.0), Some(()));
        assert_eq!(of_buffer(&line(2e8), 1.0), None);
        assert_eq!(of_buffer(&line(2e8), -1.0), None);
    }

    #[test]
    fn wide_buffers_of_many_points_are_refused() {
        let points: Vec<Point> = (0..20_000).map(|n| Point::new(f64::from(n % 200), f64::from(n / 200))).collect();
        let points = Geometry::from(MultiPoint(points));
        assert_eq!(of_buffer(&points, 0.5), Some(()));
        assert_eq!(of_buffer(&points, 50.0), None);
    }
}
