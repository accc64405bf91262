//! Set operations and relations of geometries of any kinds, derived from their arrangement.

use std::str::FromStr;

use geo::algorithm::relate::IntersectionMatrix;
use geo::{
    Geometry, GeometryCollection, LineString, MultiLineString, MultiPoint, MultiPolygon, Point, Polygon, Relate,
};
use terrapin_budget as budget;

use super::arrangement::{Arrangement, At, Both, Edge, TopologicalLocation};

/// A set operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OverlayOperation {
    Difference,
    Intersection,
    SymDifference,
    Union,
}

impl OverlayOperation {
    /// Returns whether the result contains a position, given whether the first and the second geometry contain it.
    fn has(self, [a, b]: Both<bool>) -> bool {
        match self {
            OverlayOperation::Difference => a && !b,
            OverlayOperation::Intersection => a && b,
            OverlayOperation::SymDifference => a != b,
            OverlayOperation::Union => a || b,
        }
    }

    /// Returns the simplest geometry of the result: its areas, and the lines and points outside them. Returns `None` if
    /// edges still cross because of rounding.
    pub(super) fn of(self, a: &Geometry, b: &Geometry) -> Option<Geometry> {
        let arrangement = Arrangement::of(a, b)?;
        let areas = arrangement.areas(|covered| self.has(covered))?;
        let is_in =
            |location: Both<TopologicalLocation>| self.has(location.map(|at| at != TopologicalLocation::Exterior));
        let mut is_drawn = vec![false; arrangement.points.len()];
        let mut lines = Vec::new();
        for edge in &arrangement.edges {
            budget::checkpoint();
            let is_covered = self.has(edge.west) || self.has(edge.east);
            let is_line = !is_covered && is_in(edge.location());
            if is_line {
                lines.push(*edge);
            }
            if is_covered || is_line {
                edge.ends.iter().for_each(|end| is_drawn[*end as usize] = true);
            }
        }
        let points = arrangement
            .points
            .iter()
            .zip(&is_drawn)
            .filter(|(vertex, is_drawn)| !**is_drawn && !self.has(vertex.covered) && is_in(vertex.location));
        let points = points.map(|(vertex, _)| Point(vertex.at.0)).collect();
        let at = |end: u32| arrangement.points[end as usize].at.0;
        let lines = joined(&lines).into_iter().map(|line| line.into_iter().map(at).collect()).collect();
        Some(collected(points, lines, areas.into_iter().map(polygon).collect()))
    }
}

/// Returns the union of geometries; `None` if edges still cross because of rounding.
pub(super) fn union_of(geometries: Vec<Geometry>) -> Option<Geometry> {
    let collection = |parts| Geometry::GeometryCollection(GeometryCollection(parts));
    OverlayOperation::Union.of(&collection(geometries), &collection(Vec::new()))
}

/// Returns the intersection matrix of two geometries.
pub(super) fn relation(a: &Geometry, b: &Geometry) -> IntersectionMatrix {
    // The library is correct for areas and points.
    let is_plain = |g: &Geometry| {
        matches!(g, Geometry::Point(_) | Geometry::MultiPoint(_) | Geometry::Polygon(_) | Geometry::MultiPolygon(_))
    };
    if is_plain(a) && is_plain(b) {
        return a.relate(b);
    }
    matrix(a, b).unwrap_or_else(|| a.relate(b))
}

fn matrix(a: &Geometry, b: &Geometry) -> Option<IntersectionMatrix> {
    let arrangement = Arrangement::of(a, b)?;
    let mut dimensions = [['F'; 3]; 3];
    dimensions[2][2] = '2';
    let mut note = |[a, b]: Both<TopologicalLocation>, dimension: char| {
        let row = |location: TopologicalLocation| match location {
            TopologicalLocation::Interior => 0,
            TopologicalLocation::Boundary => 1,
            TopologicalLocation::Exterior => 2,
        };
        let known = &mut dimensions[row(a)][row(b)];
        if *known == 'F' || *known < dimension {
            *known = dimension;
        }
    };
    let face =
        |is_covered: bool| if is_covered { TopologicalLocation::Interior } else { TopologicalLocation::Exterior };
    for edge in &arrangement.edges {
        budget::checkpoint();
        note(edge.west.map(face), '2');
        note(edge.east.map(face), '2');
        note(edge.location(), '1');
    }
    arrangement.points.iter().for_each(|vertex| note(vertex.location, '0'));
    IntersectionMatrix::from_str(&dimensions.iter().flatten().collect::<String>()).ok()
}

/// Joins edges to lines at points where exactly two of them meet. Each line has the direction of its first edge.
fn joined(edges: &[Edge]) -> Vec<Vec<u32>> {
    let mut ends: Vec<(u32, u32)> = Vec::with_capacity(2 * edges.len());
    for (at, edge) in edges.iter().enumerate() {
        ends.extend([(edge.ends[0], at as u32), (edge.ends[1], at as u32)]);
    }
    ends.sort_unstable();
    let here = |point: u32| {
        let from = ends.partition_point(|(other, _)| *other < point);
        let to = from + ends[from..].partition_point(|(other, _)| *other == point);
        &ends[from..to]
    };
    let mut used = vec![false; edges.len()];
    let mut lines = Vec::new();
    // First, lines from their ends and branching points. The remaining edges form rings.
    for is_ring in [false, true] {
        for &(point, first) in &ends {
            if used[first as usize] || (!is_ring && here(point).len() == 2) {
                continue;
            }
            let mut line = vec![point];
            let (mut at, mut edge) = (point, first);
            loop {
                budget::checkpoint();
                used[edge as usize] = true;
                let [a, b] = edges[edge as usize].ends;
                at = if a == at { b } else { a };
                line.push(at);
                let next = here(at);
                match next.iter().find(|(_, next)| !used[*next as usize]) {
                    Some((_, next_edge)) if next.len() == 2 => edge = *next_edge,
                    _ => break,
                }
            }
            let is_forward = edges[first as usize].ends[0] == point;
            if is_forward == edges[first as usize].is_backward {
                line.reverse();
            }
            lines.push(line);
        }
    }
    lines
}

fn polygon(rings: Vec<Vec<At>>) -> Polygon {
    let mut rings = rings.into_iter().map(|ring| LineString(ring.into_iter().map(|at| at.0).collect()));
    let outer = rings.next().unwrap_or_else(|| LineString(Vec::new()));
    Polygon::new(outer, rings.collect())
}

fn collected(points: Vec<Point>, lines: Vec<LineString>, areas: Vec<Polygon>) -> Geometry {
    let mut kinds = Vec::new();
    kinds.extend(one_or_many(points, Geometry::from, |points| MultiPoint(points).into()));
    kinds.extend(one_or_many(lines, Geometry::from, |lines| MultiLineString(lines).into()));
    kinds.extend(one_or_many(areas, Geometry::from, |areas| MultiPolygon(areas).into()));
    match kinds.len() {
        1 => kinds.remove(0),
        _ => Geometry::GeometryCollection(GeometryCollection(kinds)),
    }
}

fn one_or_many<T>(mut all: Vec<T>, one: fn(T) -> Geometry, many: fn(Vec<T>) -> Geometry) -> Option<Geometry> {
    match all.len() {
        0 => None,
        1 => all.pop().map(one),
        _ => Some(many(all)),
    }
}

#[cfg(test)]
mod tests {
    use wkt::{ToWkt, TryFromWkt};

    use super::*;

    fn geometry(text: &str) -> Geometry {
        Geometry::try_from_wkt_str(text).unwrap()
    }

    fn made(operation: OverlayOperation, a: &str, b: &str) -> String {
        operation.of(&geometry(a), &geometry(b)).unwrap().wkt_string()
    }

    const SQUARE: &str = "POLYGON((0 0,4 0,4 4,0 4,0 0))";

    #[test]
    fn kinds_meet() {
        use OverlayOperation::{Difference, Intersection, Union};
        assert_eq!(made(Intersection, "LINESTRING(-1 1,5 1)", SQUARE), "LINESTRING(0 1,4 1)");
        assert_eq!(made(Difference, "LINESTRING(5 1,-1 1)", SQUARE), "MULTILINESTRING((0 1,-1 1),(5 1,4 1))");
        assert_eq!(made(Intersection, "MULTIPOINT((1 1),(9 9))", SQUARE), "POINT(1 1)");
        assert_eq!(made(Intersection, "LINESTRING(0 0,2 2)", "LINESTRING(0 2,2 0)"), "POINT(1 1)");
        assert_eq!(made(Intersection, "LINESTRING(0 0,2 0)", "LINESTRING(1 0,3 0)"), "LINESTRING(1 0,2 0)");
        assert_eq!(
            made(Difference, "LINESTRING(0 0,2 0,2 2)", "LINESTRING(1 0,2 0)"),
            "MULTILINESTRING((0 0,1 0),(2 0,2 2))"
        );
        assert_eq!(made(Union, "POINT(1 1)", SQUARE), made(Union, SQUARE, SQUARE));
        assert_eq!(
            made(Union, "POINT(1 1)", "LINESTRING(0 0,2 0)"),
            "GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,2 0))"
        );
        assert_eq!(made(Intersection, "POINT(9 9)", SQUARE), "GEOMETRYCOLLECTION EMPTY");
    }

    /// OGC 06-103r4, 6.1.2.4: the common point set, of any dimension. JTS's TestOverlayAA has the same results.
    #[test]
    fn areas_that_touch_have_lines_and_points_in_common() {
        let (left, right) = ("POLYGON((0 0,1 0,1 1,0 1,0 0))", "POLYGON((1 0,2 0,2 1,1 1,1 0))");
        assert_eq!(made(OverlayOperation::Intersection, left, right), "LINESTRING(1 0,1 1)");
        assert_eq!(made(OverlayOperation::Intersection, left, "POLYGON((1 1,2 1,2 2,1 2,1 1))"), "POINT(1 1)");
        // A corner on a side; then an area, a line and a point in one result.
        assert_eq!(made(OverlayOperation::Intersection, left, "POLYGON((1 0.5,2 0,2 1,1 0.5))"), "POINT(1 0.5)");
        let stairs = "POLYGON((4 0,6 0,6 6,2 6,2 5,4 4,4 3,3 3,3 2,4 2,4 0))";
        let square = "POLYGON((0 0,4 0,4 4,3.5 4,2 5,1 4,0 4,0 0))";
        assert_eq!(
            made(OverlayOperation::Intersection, square, stairs),
            "GEOMETRYCOLLECTION(POINT(2 5),MULTILINESTRING((4 0,4 2),(4 3,4 4)),POLYGON((3 2,4 2,4 3,3 3,3 2)))"
        );
        let all = "MULTIPOLYGON(((0 0,1 0,1 1,0 1,0 0)),((5 0,6 0,6 1,5 1,5 0)))";
        assert_eq!(made(OverlayOperation::Intersection, all, right), "LINESTRING(1 0,1 1)");
    }

    #[test]
    fn areas_meet() {
        use geo::Area;
        let (a, b) = ("POLYGON((0 0,2 0,2 1,0 1,0 0))", "POLYGON((1 0,3 0,3 1,1 1,1 0))");
        let area = |operation: OverlayOperation| operation.of(&geometry(a), &geometry(b)).unwrap().unsigned_area();
        assert_eq!(area(OverlayOperation::Intersection), 1.0);
        assert_eq!(area(OverlayOperation::Union), 3.0);
        assert_eq!(area(OverlayOperation::Difference), 1.0);
        assert_eq!(area(OverlayOperation::SymDifference), 2.0);
    }

    /// From JTS: TestRelateLL 21, validate/TestRelatePL 1.6 and misc/TestRelateGC.
    #[test]
    fn lines_that_cross_themselves_and_collections_lie_as_in_jts() {
        let relate = |a: &str, b: &str| relation(&geometry(a), &geometry(b));
        let crossed = "LINESTRING(1 0,0 2,0 0,2 2)";
        assert!(relate(crossed, "LINESTRING(0 0,2 2)").is_contains());
        assert!(relate("LINESTRING(0 0,2 2)", crossed).is_within());
        assert!(relate("LINESTRING(110 200,110 200)", "POINT(110 200)").is_equal_topo());
        let collection =
            format!("GEOMETRYCOLLECTION({SQUARE},LINESTRING(1 1,3 3),POINT(2 2),POLYGON((4 0,8 0,8 4,4 4,4 0)))");
        let whole = "POLYGON((0 0,8 0,8 4,0 4,0 0))";
        assert!(relate(&collection, whole).is_equal_topo(), "{:?}", relate(&collection, whole));
        assert!(relate(&collection, "LINESTRING(4 1,4 3)").is_contains());
        assert!(relate("GEOMETRYCOLLECTION EMPTY", SQUARE).is_disjoint());
    }

    #[test]
    fn many_are_united() {
        let all = |texts: &[&str]| union_of(texts.iter().map(|text| geometry(text)).collect()).unwrap().wkt_string();
        assert_eq!(all(&["LINESTRING(0 0,2 0)", "LINESTRING(1 0,3 0)"]), "LINESTRING(0 0,1 0,2 0,3 0)");
        assert_eq!(all(&[SQUARE, SQUARE, "POINT(1 1)"]), "POLYGON((0 0,4 0,4 4,0 4,0 0))");
        // Three polygons around a hole.
        let united = all(&[
            "POLYGON((0 0,3 0,3 1,0 1,0 0))",
            "POLYGON((0 0,1 0,1 3,0 3,0 0))",
            "POLYGON((2 0,3 0,3 3,0 3,0 2,2 2,2 0))",
        ]);
        assert!(united.starts_with("POLYGON((") && united.contains("),("), "{united}");
    }
}
