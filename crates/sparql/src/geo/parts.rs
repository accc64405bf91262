//! Set operations on geometries of any kinds: each is taken apart into points, lines and areas, the library's operations
//! on polygons do the areas and the clipping of lines, and what is left is put together again.

use geo::line_intersection::{LineIntersection, line_intersection};
use geo::{
    BooleanOps, Coord, Geometry, GeometryCollection, Intersects, Line, LineString, LinesIter, MapCoords,
    MultiLineString, MultiPoint, MultiPolygon, Point, unary_union,
};
use terrapin_budget as budget;

/// The pieces of a geometry by their dimensions.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    points: Vec<Point>,
    lines: Vec<LineString>,
    areas: MultiPolygon,
}

impl Parts {
    /// The pieces of `geometry`. Polygons that overlap within one geometry are united.
    pub fn of(geometry: &Geometry) -> Parts {
        let mut parts = Parts { points: Vec::new(), lines: Vec::new(), areas: MultiPolygon(Vec::new()) };
        parts.take(geometry);
        parts
    }

    fn take(&mut self, geometry: &Geometry) {
        match geometry {
            Geometry::Point(p) => self.points.push(*p),
            Geometry::MultiPoint(g) => self.points.extend(&g.0),
            Geometry::Line(line) => self.lines.push(LineString::from(*line)),
            Geometry::LineString(g) => self.lines.push(g.clone()),
            Geometry::MultiLineString(g) => self.lines.extend(g.0.iter().cloned()),
            Geometry::Polygon(g) => self.areas = self.areas.union(g),
            Geometry::MultiPolygon(g) => self.areas = self.areas.union(g),
            Geometry::Rect(g) => self.areas = self.areas.union(&g.to_polygon()),
            Geometry::Triangle(g) => self.areas = self.areas.union(&g.to_polygon()),
            Geometry::GeometryCollection(g) => g.iter().for_each(|g| self.take(g)),
        }
    }

    /// What is in both.
    pub fn intersection(&self, other: &Parts) -> Geometry {
        let mut lines = clip(&other.areas, &self.lines, false);
        lines.extend(clip(&self.areas, &other.lines, false));
        let mut points: Vec<Point> = self.points.iter().copied().filter(|p| other.covers(p)).collect();
        points.extend(other.points.iter().filter(|p| self.covers(p)));
        for a in self.segments() {
            for b in other.segments() {
                match line_intersection(a, b) {
                    Some(LineIntersection::SinglePoint { intersection, .. }) => points.push(intersection.into()),
                    Some(LineIntersection::Collinear { intersection }) => lines.push(intersection.into()),
                    None => {}
                }
            }
        }
        Parts { points, lines, areas: self.areas.intersection(&other.areas) }.into_geometry()
    }

    /// What is in this one and not in the other.
    pub fn difference(&self, other: &Parts) -> Geometry {
        self.minus(other).into_geometry()
    }

    /// What is in either.
    pub fn union(&self, other: &Parts) -> Geometry {
        self.plus(other).into_geometry()
    }

    /// What is in one of them only.
    pub fn sym_difference(&self, other: &Parts) -> Geometry {
        self.minus(other).plus(&other.minus(self)).into_geometry()
    }

    /// What is in any of many geometries.
    pub fn union_of(geometries: &[Geometry]) -> Geometry {
        let (mut points, mut lines, mut polygons) = (Vec::new(), Vec::new(), Vec::new());
        for geometry in geometries {
            let parts = Parts::of(geometry);
            points.extend(parts.points);
            polygons.extend(parts.areas);
            // Each line without what it has in common with those before it.
            budget::checkpoints(parts.lines.len() * lines.len());
            lines.extend(without_shared(&parts.lines, &lines));
        }
        let areas = unary_union(&polygons);
        let lines = clip(&areas, &lines, true);
        Parts { points, lines, areas }.into_geometry()
    }

    fn minus(&self, other: &Parts) -> Parts {
        let outside = clip(&other.areas, &self.lines, true);
        Parts {
            points: self.points.iter().copied().filter(|p| !other.covers(p)).collect(),
            lines: without_shared(&outside, &other.lines),
            areas: self.areas.difference(&other.areas),
        }
    }

    fn plus(&self, other: &Parts) -> Parts {
        let areas = self.areas.union(&other.areas);
        let mut lines = self.lines.clone();
        lines.extend(without_shared(&other.lines, &self.lines));
        let lines = clip(&areas, &lines, true);
        let all = Parts { points: Vec::new(), lines, areas };
        let points = self.points.iter().chain(&other.points).copied().filter(|p| !all.covers(p)).collect();
        Parts { points, ..all }
    }

    fn segments(&self) -> impl Iterator<Item = Line> {
        self.lines.iter().flat_map(LineString::lines)
    }

    fn covers(&self, point: &Point) -> bool {
        self.areas.intersects(point) || self.lines.iter().any(|l| l.intersects(point)) || self.points.contains(point)
    }

    /// The simplest geometry of these pieces, each of them once, in order of their coordinates.
    fn into_geometry(self) -> Geometry {
        // The library works on a grid of its own; what comes back is put on one of 1e-9, where most input lies.
        self.collected().map_coords(|c| Coord { x: rounded(c.x), y: rounded(c.y) })
    }

    fn collected(mut self) -> Geometry {
        let order = |a: &Coord, b: &Coord| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y));
        self.points.sort_by(|a, b| order(&a.0, &b.0));
        self.points.dedup();
        let (lines, areas) = (std::mem::take(&mut self.lines), self.areas.clone());
        let rest = Parts { points: Vec::new(), lines, areas };
        self.points.retain(|p| !rest.covers(p));
        let mut kinds = Vec::new();
        kinds.extend(one_or_many(self.points, Geometry::from, |p| MultiPoint(p).into()));
        kinds.extend(one_or_many(rest.lines, Geometry::from, |l| MultiLineString(l).into()));
        kinds.extend(one_or_many(rest.areas.0, Geometry::from, |a| MultiPolygon(a).into()));
        match kinds.len() {
            1 => kinds.remove(0),
            _ => Geometry::GeometryCollection(GeometryCollection(kinds)),
        }
    }
}

/// To 1e-9, where a number has that many places.
fn rounded(x: f64) -> f64 {
    if x.abs() < 1e6 { (x * 1e9).round() / 1e9 } else { x }
}

fn one_or_many<T>(mut all: Vec<T>, one: fn(T) -> Geometry, many: fn(Vec<T>) -> Geometry) -> Option<Geometry> {
    match all.len() {
        0 => None,
        1 => all.pop().map(one),
        _ => Some(many(all)),
    }
}

/// The lines inside the areas, or outside of them.
fn clip(areas: &MultiPolygon, lines: &[LineString], outside: bool) -> Vec<LineString> {
    if lines.is_empty() || areas.0.is_empty() {
        return if outside { lines.to_vec() } else { Vec::new() };
    }
    areas.clip(&MultiLineString(lines.to_vec()), outside).0
}

/// The lines without the stretches that run along one of the others.
fn without_shared(lines: &[LineString], others: &[LineString]) -> Vec<LineString> {
    let others: Vec<Line> = others.iter().flat_map(LinesIter::lines_iter).collect();
    let mut left = Vec::new();
    for line in lines {
        let mut current: Vec<Coord> = Vec::new();
        for segment in line.lines() {
            let mut stretches: Vec<(f64, f64)> = others.iter().filter_map(|&o| shared(segment, o)).collect();
            stretches.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut from = 0.0;
            for (start, end) in stretches.into_iter().chain([(1.0, 1.0)]) {
                if start > from {
                    let (a, b) = (at(segment, from), at(segment, start));
                    if current.last() != Some(&a) {
                        finish(&mut left, &mut current);
                        current.push(a);
                    }
                    current.push(b);
                }
                from = from.max(end);
            }
        }
        finish(&mut left, &mut current);
    }
    left
}

fn finish(lines: &mut Vec<LineString>, current: &mut Vec<Coord>) {
    if current.len() > 1 {
        lines.push(LineString(std::mem::take(current)));
    }
    current.clear();
}

/// The part of `segment` that runs along `other`, as fractions of its length.
fn shared(segment: Line, other: Line) -> Option<(f64, f64)> {
    let Some(LineIntersection::Collinear { intersection }) = line_intersection(segment, other) else { return None };
    let fraction = |c: Coord| {
        let (dx, dy) = (segment.dx(), segment.dy());
        if dx.abs() > dy.abs() { (c.x - segment.start.x) / dx } else { (c.y - segment.start.y) / dy }
    };
    let (a, b) = (fraction(intersection.start), fraction(intersection.end));
    (a != b && a.is_finite() && b.is_finite()).then(|| (a.min(b), a.max(b)))
}

fn at(segment: Line, fraction: f64) -> Coord {
    match fraction {
        f if f <= 0.0 => segment.start,
        f if f >= 1.0 => segment.end,
        f => Coord { x: segment.start.x + f * segment.dx(), y: segment.start.y + f * segment.dy() },
    }
}

#[cfg(test)]
mod tests {
    use wkt::{ToWkt, TryFromWkt};

    use super::*;

    fn made(operation: fn(&Parts, &Parts) -> Geometry, a: &str, b: &str) -> String {
        let parts = |text| Parts::of(&Geometry::try_from_wkt_str(text).unwrap());
        operation(&parts(a), &parts(b)).wkt_string()
    }

    #[test]
    fn kinds_meet() {
        let square = "POLYGON((0 0,4 0,4 4,0 4,0 0))";
        assert_eq!(made(Parts::intersection, "LINESTRING(-1 1,5 1)", square), "LINESTRING(0 1,4 1)");
        assert_eq!(made(Parts::difference, "LINESTRING(-1 1,5 1)", square), "MULTILINESTRING((-1 1,0 1),(4 1,5 1))");
        assert_eq!(made(Parts::intersection, "MULTIPOINT((1 1),(9 9))", square), "POINT(1 1)");
        assert_eq!(made(Parts::intersection, "LINESTRING(0 0,2 2)", "LINESTRING(0 2,2 0)"), "POINT(1 1)");
        assert_eq!(made(Parts::intersection, "LINESTRING(0 0,2 0)", "LINESTRING(1 0,3 0)"), "LINESTRING(1 0,2 0)");
        assert_eq!(
            made(Parts::difference, "LINESTRING(0 0,2 0,2 2)", "LINESTRING(1 0,2 0)"),
            "MULTILINESTRING((0 0,1 0),(2 0,2 2))"
        );
        assert_eq!(made(Parts::union, "POINT(1 1)", square), made(Parts::union, square, square));
        assert_eq!(
            made(Parts::union, "POINT(1 1)", "LINESTRING(0 0,2 0)"),
            "GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,2 0))"
        );
        assert_eq!(made(Parts::intersection, "POINT(9 9)", square), "GEOMETRYCOLLECTION EMPTY");
    }

    #[test]
    fn areas_meet() {
        let (a, b) = ("POLYGON((0 0,2 0,2 1,0 1,0 0))", "POLYGON((1 0,3 0,3 1,1 1,1 0))");
        let area = |g: &str| {
            use geo::Area;
            Geometry::<f64>::try_from_wkt_str(g).unwrap().unsigned_area()
        };
        assert_eq!(area(&made(Parts::intersection, a, b)), 1.0);
        assert_eq!(area(&made(Parts::union, a, b)), 3.0);
        assert_eq!(area(&made(Parts::difference, a, b)), 1.0);
        assert_eq!(area(&made(Parts::sym_difference, a, b)), 2.0);
    }
}
